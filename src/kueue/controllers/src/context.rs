//! What every reconciler is given.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jobs::GenericJob;
use jobs::ancestors::{self, Known};
use k8s_openapi::api::core::v1::{ObjectReference, Pod};
use kube::core::{Selector, SelectorExt};
use kueue_api::ObjectMeta;
use kueue_api::names::{API_VERSION, labels};
use kueue_api::v1beta2::Workload;
use tokio_util::sync::CancellationToken;

use crate::error::ReconcileError;
use crate::events::{Happening, Kind, Sink};
use crate::job::decide::Rules;
use crate::key::Key;
use crate::metrics::Metrics;
use crate::multikueue::links::Links;
use crate::role::CurrentRole;
use crate::workload;
use crate::world::World;
use crate::write::{WriteError, Writer};

/// Choices of the operator, as far as reconcilers depend on them.
#[derive(Clone, Debug)]
pub struct Settings {
    pub manage_jobs_without_queue_name: bool,
    /// Namespaces whose jobs are managed.
    pub managed_namespaces: Selector,
    /// What the reconciler of jobs goes by.
    pub jobs: Rules,
    /// Which owners of objects are known.
    pub integrations: jobs::integrations::Integrations,
    /// What the reconciler of Workloads goes by.
    pub workload_rules: workload::decide::Rules,
    /// How pods and groups of pods are looked after; none if they are not.
    pub pods: Option<crate::pods::decide::Rules>,
    /// `ProvisioningRequest`s go with an eviction (gate `CleanupProvisioningRequestsOnEviction`).
    pub provisioning_cleans_up: bool,
    /// Pods that cannot end are ended (gate `FailureRecoveryPolicy`).
    pub recovers: bool,
    /// How Workloads are handed over to other clusters; none if they are not.
    pub multikueue: Option<crate::multikueue::Settings>,
    /// Reconcilers at work at once, by `Kind.group`.
    pub concurrency: BTreeMap<String, u32>,
}

impl Settings {
    /// Reconcilers at work at once for a kind.
    #[must_use]
    pub fn tasks(&self, kind: &str, default: usize) -> usize {
        self.concurrency
            .get(kind)
            .and_then(|n| usize::try_from(*n).ok())
            .filter(|n| *n > 0)
            .unwrap_or(default)
    }
}

impl Settings {
    /// Whether groups of pods may be named by annotations.
    #[must_use]
    pub fn annotated_groups(&self) -> bool {
        self.pods
            .as_ref()
            .is_some_and(|rules| rules.switches.annotated)
    }
}

/// See the module.
#[derive(Debug)]
pub struct Context {
    pub client: ClientHandle,
    pub writer: Writer,
    pub world: World,
    pub events: Sink,
    pub metrics: Metrics,
    pub settings: Settings,
    /// Connections to worker clusters.
    pub links: Links,
    /// Cancelled when the controllers stop.
    pub stop: CancellationToken,
    pub role: CurrentRole,
    pub clock: fn() -> Timestamp,
}

/// A client, which has no debug form of its own.
#[derive(Clone)]
pub struct ClientHandle(pub kube::Client);

impl std::fmt::Debug for ClientHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

const JOB_REPORTER: &str = "kueue-job-controller";

impl Context {
    /// Whether jobs of a namespace are managed; a namespace that is not known yet is not.
    #[must_use]
    pub fn is_managed_namespace(&self, name: &str) -> bool {
        self.namespace_standing(name) == Some(true)
    }

    /// Whether jobs of a namespace are managed; none if the namespace is not known.
    #[must_use]
    pub fn namespace_standing(&self, name: &str) -> Option<bool> {
        let labels = self.world.stores.namespace_labels(name)?;
        Some(self.settings.managed_namespaces.matches(&labels))
    }

    /// Whether a set of pods with this metadata is ours to lead: its namespace is managed, nobody above it is, and it names a queue or need not.
    #[must_use]
    pub(crate) fn leads(&self, meta: &ObjectMeta) -> bool {
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        let labels = meta.labels.as_ref();
        let queue = labels.and_then(|labels| labels.get(labels::QUEUE_NAME));
        let named = queue.is_some_and(|name| !name.is_empty());
        let known = |owner| self.settings.integrations.known(owner);
        let child = ancestors::controller(meta).is_some_and(|owner| known(owner) == Known::Managed);
        (named || self.settings.manage_jobs_without_queue_name)
            && !child
            && self.is_managed_namespace(namespace)
    }

    /// Takes note of what became of a write to a pod. That it is gone meanwhile is no error.
    pub(crate) fn wrote_pod(&self, written: Result<Pod, WriteError>) -> Result<(), WriteError> {
        match written {
            Ok(pod) => self.world.saw_pod(pod),
            Err(WriteError::Gone { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Deletes a Workload, and lets it go at once.
    pub(crate) async fn delete_workload(&self, workload: &Workload) -> Result<(), ReconcileError> {
        self.writer.delete(workload).await?;
        // The deletion changed the version; the finalizer goes with whatever version is there now.
        let unpinned = Workload {
            metadata: ObjectMeta {
                resource_version: None,
                ..workload.metadata.clone()
            },
            ..workload.clone()
        };
        self.writer.release(&unpinned).await?;
        let uid = workload.metadata.uid.as_deref();
        self.world.lost_workload(&Key::of(&workload.metadata), uid);
        Ok(())
    }

    /// Sends an event about a job.
    pub fn job_event(&self, job: &dyn GenericJob, kind: Kind, reason: &str, note: String) {
        let kind_of_job = job.kind();
        let regarding = regarding(kind_of_job.api_version(), kind_of_job.kind, job.meta());
        self.send(regarding, JOB_REPORTER, kind, reason, note);
    }

    /// Sends an event about one of our own objects.
    pub fn event<K>(
        &self,
        object: &K,
        reporter: &'static str,
        kind: Kind,
        reason: &str,
        note: String,
    ) where
        K: k8s_openapi::Resource + k8s_openapi::Metadata<Ty = ObjectMeta>,
    {
        let regarding = regarding(API_VERSION.to_owned(), K::KIND, object.metadata());
        self.send(regarding, reporter, kind, reason, note);
    }

    /// Sends an event.
    pub(crate) fn send(
        &self,
        regarding: ObjectReference,
        reporter: &'static str,
        kind: Kind,
        reason: &str,
        note: String,
    ) {
        self.events.send(Happening {
            regarding,
            kind,
            reason: reason.to_owned(),
            action: "Reconcile",
            note,
            reporter,
        });
    }
}

/// What an event is about.
pub(crate) fn regarding(api_version: String, kind: &str, meta: &ObjectMeta) -> ObjectReference {
    ObjectReference {
        api_version: Some(api_version),
        kind: Some(kind.to_owned()),
        name: meta.name.clone(),
        namespace: meta.namespace.clone(),
        uid: meta.uid.clone(),
        resource_version: meta.resource_version.clone(),
        ..ObjectReference::default()
    }
}
