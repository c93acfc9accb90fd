//! What can be wrong with a job's object.

/// A job cannot be read, or a Workload cannot be made from it.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The object does not have the shape of its kind.
    #[error("object is not a valid {kind}: {source}")]
    Read {
        kind: &'static str,
        source: serde_json::Error,
    },
    /// The object could not be written as JSON.
    #[error("{kind} cannot be written as JSON: {source}")]
    Write {
        kind: &'static str,
        source: serde_json::Error,
    },
    /// A label or annotation has a value that cannot be used.
    #[error("{place}: {value:?} {wanted}")]
    Value {
        place: String,
        value: String,
        wanted: &'static str,
    },
    /// The Workload's podsets do not match those of the job.
    #[error("invalid podset infos: expecting {want} got {got}")]
    Infos { want: usize, got: usize },
    /// The Workload has no podset for a role of the job's pods.
    #[error("invalid podset infos: podSetInfo with the name '{0}' is not found")]
    NoInfo(String),
    /// What describes the pods of a job is not there.
    #[error("runtime {0:?} not found")]
    NoRuntime(String),
    /// The patch of a runtime that our webhook writes is gone.
    #[error("spec.runtimePatches has no entry of kueue.x-k8s.io/manager: create the job again")]
    NoRuntimePatch,
    /// A cluster of Ray has no container for its head.
    #[error("the head group has no container")]
    NoHead,
    /// The object is of a kind that is never a job as a whole.
    #[error("its pods are jobs, not the object itself")]
    NotAJob,
    /// The pods of a group do not make a job.
    #[error(transparent)]
    Group(#[from] crate::pods::GroupError),
}

/// An assignment names a flavor that is not there.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("resourceflavors.kueue.x-k8s.io {0:?} not found")]
pub struct UnknownFlavor(pub String);

/// A template cannot take what an admission wants to put into it. Trying again cannot help.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "invalid admission check PodSetUpdate: conflict for {place}: conflict for key={key}, value1={old}, value2={new}"
)]
pub struct InjectError {
    /// The map in which the conflict is.
    pub place: &'static str,
    /// The key with two values.
    pub key: String,
    /// What the template says.
    pub old: String,
    /// What the admission says.
    pub new: String,
}

/// What an admission adds to a podset cannot be said.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InfoError {
    #[error(transparent)]
    Flavor(#[from] UnknownFlavor),
    /// What one check wants contradicts what is wanted already.
    #[error("in admission check {check:?}: {conflict}")]
    Conflict {
        check: String,
        conflict: InjectError,
    },
}
