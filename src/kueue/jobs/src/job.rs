//! What every job kind must be able to say and do. The required part is what admission needs; the rest are
//! capabilities with a default for kinds that do not have them.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kueue_api::features::Features;
use kueue_api::field::FieldError;
use kueue_api::names::{annotations, labels};
use kueue_api::v1beta2::{PodSet, ReclaimablePod};
use serde_json::Value;

use crate::error::{InjectError, JobError};
use crate::kind::JobKind;
use crate::pod_set_info::PodSetInfo;

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish {
    pub success: bool,
    pub message: String,
}

/// Name of an object that describes the pods of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeRef {
    /// None for one of all namespaces.
    pub namespace: Option<String>,
    pub name: String,
}

/// One write on the way of a job to being stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A merge patch of the object.
    Object(Value),
    /// A merge patch of its status.
    Status(Value),
}

/// An object of some job kind.
pub trait GenericJob: Debug + Send + Sync {
    /// Its kind.
    fn kind(&self) -> &'static JobKind;
    fn meta(&self) -> &ObjectMeta;
    fn meta_mut(&mut self) -> &mut ObjectMeta;
    /// Whether it is entirely stopped; one that is being stopped is not.
    fn is_suspended(&self) -> bool;
    /// Asks its controller not to run it.
    fn suspend(&mut self);
    /// What it wants to run, as it stands in the object.
    fn pod_sets(&self) -> Result<Vec<PodSet>, JobError>;
    /// Lets it run with what the admission says.
    fn run_with(&mut self, infos: &[PodSetInfo]) -> Result<(), StartError>;
    /// The next write that stops it and brings its templates back to `infos`; none when it is stopped. Without `infos` the templates stay as
    /// they are. The API server may refuse to let templates change as long as there are pods of this run.
    fn stop_step(&self, infos: Option<&[PodSetInfo]>) -> Option<Change>;
    /// How it ended, once it did.
    fn finished(&self) -> Option<Finish>;
    /// Whether it still has running pods.
    fn is_active(&self) -> bool;
    /// Whether all of its pods are ready or done.
    fn pods_ready(&self) -> bool;
    /// For a kind that looks at an older state of its own object.
    fn as_any(&self) -> &dyn Any;
    /// The whole object.
    fn to_value(&self) -> Result<Value, JobError>;

    /// The same job with another state of its object.
    fn again(&self, value: Value) -> Result<Box<dyn GenericJob>, JobError> {
        (self.kind().read)(value)
    }

    /// Where to find what describes its pods, for a kind whose objects do not do that themselves.
    fn runtime_ref(&self) -> Option<RuntimeRef> {
        None
    }

    /// Hands it over.
    fn set_runtime(&mut self, _runtime: Arc<Value>) {}

    /// Whether it has yet to be handed over.
    fn lacks_runtime(&self) -> bool {
        false
    }

    /// Pods whose quota it no longer needs.
    fn reclaimable_pods(&self) -> Option<Vec<ReclaimablePod>> {
        None
    }

    /// Name of the pod priority class that the kind itself declares, besides those of its templates.
    fn priority_class(&self) -> Option<&str> {
        None
    }

    /// Who runs it, if that is said.
    fn managed_by(&self) -> Option<&str> {
        None
    }

    /// Says who runs it.
    fn set_managed_by(&mut self, _controller: &str) {}

    /// What tells the slices of a job that grows apart: its generation, unless the kind has something better.
    fn slice_mark(&self) -> String {
        self.meta().generation.unwrap_or_default().to_string()
    }

    /// Defaults of its kind alone.
    fn default_own(&mut self, _features: &Features) {}

    /// Whether it runs in something that is there without it and has quota of its own.
    fn runs_elsewhere(&self) -> bool {
        false
    }

    /// Whether it asks to hold no quota for now; none for a kind that never asks.
    fn on_hold(&self) -> Option<bool> {
        None
    }

    /// Whether something of it still has to run while it is being deleted.
    fn clears_away(&self) -> bool {
        false
    }

    /// What is wrong with it beyond the checks common to all kinds.
    fn problems(&self, _features: &Features) -> Vec<FieldError> {
        Vec::new()
    }

    /// What is wrong with the change from `old`, an object of the same kind, to this one, beyond the checks common to all kinds.
    fn change_problems(&self, _old: &dyn GenericJob) -> Vec<FieldError> {
        Vec::new()
    }
}

/// Why a job could not be let run.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Inject(#[from] InjectError),
    #[error(transparent)]
    Job(#[from] JobError),
}

impl dyn GenericJob + '_ {
    #[must_use]
    pub fn name(&self) -> &str {
        self.meta().name.as_deref().unwrap_or_default()
    }

    #[must_use]
    pub fn namespace(&self) -> &str {
        self.meta().namespace.as_deref().unwrap_or_default()
    }

    #[must_use]
    pub fn uid(&self) -> &str {
        self.meta().uid.as_deref().unwrap_or_default()
    }

    /// Whether it asks to hold no quota for now.
    #[must_use]
    pub fn is_on_hold(&self) -> bool {
        self.on_hold() == Some(true)
    }

    /// A label's value, if it is set to something.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        self.meta()
            .labels
            .as_ref()?
            .get(key)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Name of the LocalQueue it wants to go through.
    #[must_use]
    pub fn queue_name(&self) -> Option<&str> {
        self.label(labels::QUEUE_NAME)
    }

    /// Name of its WorkloadPriorityClass.
    #[must_use]
    pub fn workload_priority_class(&self) -> Option<&str> {
        self.label(labels::PRIORITY_CLASS)
    }

    /// Name of a Workload that somebody else made for it; `annotated` is the gate `WorkloadIdentifierAnnotations`, under which an
    /// annotation counts before the label.
    #[must_use]
    pub fn prebuilt_workload(&self, annotated: bool) -> Option<&str> {
        let noted = self.annotation(annotations::PREBUILT_WORKLOAD_NAME);
        noted
            .filter(|_| annotated)
            .or_else(|| self.label(labels::PREBUILT_WORKLOAD_NAME))
    }

    /// An annotation's value, if it is set to something.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        let notes = self.meta().annotations.as_ref()?;
        notes
            .get(key)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Seconds it may run at most, if the label is there and usable.
    #[must_use]
    pub fn max_execution_seconds(&self) -> Option<i32> {
        self.label(labels::MAX_EXEC_TIME_SECONDS)?
            .parse()
            .ok()
            .filter(|seconds| *seconds > 0)
    }

    /// The reference its Workload carries.
    #[must_use]
    pub fn owner_reference(&self) -> OwnerReference {
        let kind = self.kind();
        OwnerReference {
            api_version: kind.api_version(),
            kind: kind.kind.to_owned(),
            name: self.name().to_owned(),
            uid: self.uid().to_owned(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }

    /// The controller that owns it.
    #[must_use]
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.meta()
            .owner_references
            .as_ref()?
            .iter()
            .find(|owner| owner.controller == Some(true))
    }
}
