//! What this process knows of the cluster: the stores and the cache, fed by the watches and by the answers to its own
//! writes, and the queues of what has to be looked at again. Nothing here talks to the API server.

mod feed;
mod queues;

#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use cache::{Affected, Cache};
use jiff::Timestamp;
use jobs::JobKind;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::DynamicObject;
use kueue_api::v1beta2::Workload;
use kueue_api::workload::slices;
use parking_lot::Mutex;
use scheduler::CohortName;
use tokio::sync::{Notify, watch};

use crate::context::regarding;
use crate::events::{Happening, Kind, Sink};
use crate::key::Key;
use crate::locks::Locks;
use crate::metrics::{Around, Metrics};
use crate::multikueue::Handed;
use crate::nodes;
use crate::store::Put;
use crate::stores::{Job, Stores, job_owner};

pub use queues::Queues;

/// Kinds that are watched besides those of jobs.
pub const WATCHES: usize = 16;

/// How groups of pods are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PodGroups {
    /// By an annotation, too (gate `WorkloadIdentifierAnnotations`).
    pub annotated: bool,
    /// Whether Workloads of other makers stand in a group's way (gate `PodIntegrationValidateGroupOwner`).
    pub checks_owner: bool,
}

/// See the module.
#[derive(Debug)]
pub struct World {
    pub stores: Stores,
    pub cache: Mutex<Cache>,
    pub queues: Queues,
    /// Rights to write Workloads.
    pub locks: Locks,
    /// Notified when a scheduling cycle may have something to do.
    pub wake: Notify,
    /// Watches that have not yet told everything there is.
    pub unseen: watch::Sender<usize>,
    /// Pods are looked after, and whether annotations may name their groups; none if they are not.
    pods: Option<PodGroups>,
    is_elastic: bool,
    /// Pods that cannot end are ended.
    recovers: bool,
    /// Workloads that other clusters run.
    pub handed: Handed,
    /// Counts what happens, where somebody wants to know.
    pub metrics: OnceLock<Metrics>,
    /// Where a person is told what cannot be read.
    pub events: OnceLock<Sink>,
    clock: fn() -> Timestamp,
}

impl World {
    /// An empty world.
    #[must_use]
    pub fn new(
        options: cache::Options,
        kinds: &[&'static JobKind],
        clock: fn() -> Timestamp,
    ) -> Self {
        Self {
            stores: Stores::new(kinds),
            cache: Mutex::new(Cache::new(options)),
            queues: Queues::new(kinds),
            locks: Locks::default(),
            wake: Notify::new(),
            unseen: watch::Sender::new(WATCHES + kinds.len()),
            pods: None,
            is_elastic: false,
            recovers: false,
            handed: Handed::default(),
            metrics: OnceLock::new(),
            events: OnceLock::new(),
            clock,
        }
    }

    /// The same world, with pods that are looked after.
    #[must_use]
    pub fn with_pods(self, pods: Option<PodGroups>) -> Self {
        Self { pods, ..self }
    }

    /// The same world, in which jobs may grow and shrink.
    #[must_use]
    pub fn with_slices(self, on: bool) -> Self {
        Self {
            is_elastic: on,
            ..self
        }
    }

    /// The same world, in which pods that cannot end are ended.
    #[must_use]
    pub fn recovering(self, on: bool) -> Self {
        Self {
            recovers: on,
            ..self
        }
    }

    /// The same world, in which Workloads may be handed over to other clusters.
    #[must_use]
    pub fn handing_over(self, on: bool) -> Self {
        Self {
            handed: Handed::new(on),
            ..self
        }
    }

    /// With so many more watches to wait for.
    #[must_use]
    pub fn and_watches(self, more: usize) -> Self {
        self.unseen.send_modify(|unseen| *unseen += more);
        self
    }

    /// Whether every watch has told what there was at the start.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        *self.unseen.borrow() == 0
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Changes the cache and queues what that affects.
    pub fn change(&self, change: impl FnOnce(&mut Cache, Timestamp) -> Affected) {
        let affected = change(&mut self.cache.lock(), (self.clock)());
        self.spread(affected);
    }

    /// Queues what a change of the cache affects.
    pub fn spread(&self, affected: Affected) {
        let Affected {
            cluster_queues,
            local_queues,
            workloads,
            stale,
            wake,
        } = affected;
        for cohort in self.cache.lock().sharing_cohorts(&cluster_queues) {
            self.queues.cohorts.add(Key::cluster(cohort.as_str()));
        }
        for name in cluster_queues {
            self.queues.cluster_queues.add(Key::cluster(name.as_str()));
        }
        for key in local_queues {
            self.queues
                .local_queues
                .add(Key::new(key.namespace.as_str(), &key.name));
        }
        for key in workloads {
            self.queues
                .workloads
                .add(Key::new(key.namespace.as_str(), &key.name));
        }
        if wake {
            self.wake.notify_one();
        }
        for key in stale {
            let key = Key::new(key.namespace.as_str(), &key.name);
            if let Some(workload) = self.stores.workloads.get(&key) {
                self.change(|cache, now| cache.apply_workload(&workload, now));
                self.queues.workloads.add(key);
            }
        }
    }

    /// Takes in a Workload as it is now.
    pub fn saw_workload(&self, mut workload: Workload) {
        workload.metadata.managed_fields = None;
        let workload = Arc::new(workload);
        if let Put::Taken(before) = self.stores.put_workload(&workload) {
            if let (Some(metrics), Some(before)) = (self.metrics.get(), &before) {
                metrics.changed(before, &workload, &self.around(&workload), self.now());
            }
            self.change(|cache, now| cache.apply_workload(&workload, now));
            self.queues.workloads.add(Key::of(&workload.metadata));
            if workload.is_admitted() && nodes::is_placed(&workload) {
                self.queues.places.add(Key::of(&workload.metadata));
            }
            if self.is_elastic && slices::is_marked(&workload.metadata) {
                let chain = Key::new(workload.namespace(), slices::chain_of(&workload));
                self.queues.slices.add(chain);
            }
            self.ask_provisioned(&workload);
            if self.handed.concerns(&workload) {
                self.queues.handed.add(Key::of(&workload.metadata));
            }
            if self.handed.is_on() {
                self.ask_siblings(&workload, before.as_deref());
            }
            self.ask_owner(&workload);
            self.ask_pods(&workload, false);
            if let Some(before) = before.filter(|w| job_owner(w) != job_owner(&workload)) {
                self.ask_owner(&before);
            }
        }
    }

    /// An object cannot be read: it stays as it was last understood, and all others go on.
    pub(crate) fn unreadable(
        &self,
        api_version: String,
        kind: &str,
        meta: &ObjectMeta,
        error: &str,
    ) {
        tracing::warn!(kind, object = %Key::of(meta), "left out, cannot be read: {error}");
        if let Some(metrics) = self.metrics.get() {
            metrics.unreadable(kind);
        }
        if let Some(events) = self.events.get() {
            events.send(Happening {
                regarding: regarding(api_version, kind, meta),
                kind: Kind::Warning,
                reason: "Unreadable".to_owned(),
                action: "Watch",
                note: format!("Left out, because it cannot be read: {error}"),
                reporter: "kueue",
            });
        }
    }

    /// The objects around a Workload, for the labels of metrics.
    #[must_use]
    pub fn around(&self, workload: &Workload) -> Around {
        let local = Key::new(workload.namespace(), workload.spec.queue_name());
        let local_queue = self.stores.local_queues.get(&local);
        let admission = workload.status.as_ref().and_then(|s| s.admission.as_ref());
        let name = match (admission, &local_queue) {
            (Some(admission), _) => admission.cluster_queue.as_str(),
            (None, Some(queue)) => queue.spec.cluster_queue(),
            (None, None) => return Around::default(),
        };
        Around {
            local_queue: local_queue.clone(),
            ..self.around_queue(name)
        }
    }

    /// The objects around a ClusterQueue.
    #[must_use]
    pub fn around_queue(&self, name: &str) -> Around {
        let above = self
            .cache
            .lock()
            .cohorts_above(&cache::ClusterQueueName::new(name));
        let cohort = |name: &CohortName| {
            let object = self.stores.cohorts.get(&Key::cluster(name.as_str()));
            (
                name.to_string(),
                object.map(|cohort| cohort.metadata.clone()),
            )
        };
        Around {
            cluster_queue: self.stores.cluster_queues.get(&Key::cluster(name)),
            local_queue: None,
            cohorts: above.iter().map(cohort).collect(),
        }
    }

    /// Takes in that a Workload is gone.
    pub fn lost_workload(&self, key: &Key, uid: Option<&str>) {
        if let Some(workload) = self.stores.remove_workload(key, uid) {
            let name = cache::WorkloadKey::new(key.namespace.as_str(), key.name.as_str());
            self.change(|cache, _| cache.delete_workload(&name));
            if self.handed.concerns(&workload) {
                self.handed.lost(key, workload.clone());
                self.queues.handed.add(key.clone());
            }
            self.ask_owner(&workload);
            self.ask_pods(&workload, true);
        }
    }

    /// Asks for the pods of a Workload to be looked at.
    fn ask_pods(&self, workload: &Workload, gone: bool) {
        if let Some(groups) = self.pods {
            for key in crate::pods::key::of_workload(workload, gone, groups.checks_owner) {
                self.queues.pods.add(key);
            }
        }
    }

    fn ask_owner(&self, workload: &Workload) {
        self.ask_set(&workload.metadata);
        if let Some((kind, owner)) =
            job_owner(workload).and_then(|owner| Some((self.stores.jobs_of(owner)?.0, owner)))
        {
            self.queues
                .ask_job(kind, Key::new(workload.namespace(), &owner.name));
        }
    }

    /// Takes in a job as it is now; none if it does not have the shape of its kind.
    pub fn saw_job(&self, kind: usize, mut object: DynamicObject) -> Option<Arc<Job>> {
        object.metadata.managed_fields = None;
        let jobs = self.stores.jobs.get(kind)?;
        let meta = object.metadata.clone();
        let read = serde_json::to_value(object)
            .map_err(|e| e.to_string())
            .and_then(|value| (jobs.kind.read)(value).map_err(|e| e.to_string()));
        match read {
            Ok(job) => {
                let job = Arc::new(Job(job));
                if matches!(jobs.objects.put(job.clone()), Put::Taken(_)) {
                    self.queues.ask_job(kind, Key::of(&meta));
                    self.ask_copy(jobs.kind, &meta);
                }
                Some(job)
            }
            Err(error) => {
                self.unreadable(jobs.kind.api_version(), jobs.kind.kind, &meta, &error);
                None
            }
        }
    }

    /// Takes in that a job is gone; its Workloads are to be let go.
    pub fn lost_job(&self, kind: usize, key: &Key, uid: Option<&str>) {
        let Some(jobs) = self.stores.jobs.get(kind) else {
            return;
        };
        jobs.objects.remove(key, uid);
        for workload in self.stores.workloads_of(jobs.kind, key) {
            self.queues.workloads.add(Key::of(&workload.metadata));
        }
    }
}
