//! The table of the job kinds that are built in. A new kind is one folder and one line here.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde_json::Value;

use crate::app_wrapper::APP_WRAPPER;
use crate::batch_job::BatchJob;
use crate::error::JobError;
use crate::job::GenericJob;
use crate::job_set::JOB_SET;
use crate::ray::{RAY_CLUSTER, RAY_JOB, RAY_SERVICE};
use crate::replicated::{JAX_JOB, MPI_JOB, PADDLE_JOB, PYTORCH_JOB, TF_JOB, XGBOOST_JOB};
use crate::spark_application::SPARK_APPLICATION;
use crate::train_job::TRAIN_JOB;

/// One integration: how its objects are called, and how one is read.
#[derive(Debug)]
pub struct JobKind {
    /// Name in the configuration's `integrations.frameworks`.
    pub framework: &'static str,
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    /// Whether its jobs can run with a Workload that somebody else made.
    pub adopts: bool,
    /// Whether pods may come and go while its jobs run, each change as a Workload of its own.
    pub elastic: bool,
    /// Whether its objects are checked although they do not go through a queue.
    pub checked_unmanaged: bool,
    /// The controller that runs its jobs unless they name another; empty if they cannot name any.
    pub native_controller: &'static str,
    /// Reads an object.
    pub read: fn(Value) -> Result<Box<dyn GenericJob>, JobError>,
}

/// `group/version`, or the version alone for the core group.
pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

impl JobKind {
    /// `group/version`, or the version alone for the core group.
    #[must_use]
    pub fn api_version(&self) -> String {
        api_version(self.group, self.version)
    }

    /// Group, version and kind as the reference writes them in its texts.
    #[must_use]
    pub fn gvk(&self) -> String {
        format!("{}, Kind={}", self.api_version(), self.kind)
    }

    /// Whether every API server has the kind; others come with a `CustomResourceDefinition`, maybe later.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        !self.group.contains('.')
    }

    /// Whether an owner reference points at an object of this kind, in whatever version.
    #[must_use]
    pub fn owns(&self, owner: &OwnerReference) -> bool {
        let group = owner
            .api_version
            .rsplit_once('/')
            .map_or("", |(group, _)| group);
        owner.kind == self.kind && group == self.group
    }
}

/// Every kind that is built in, in the order of the reference's table.
pub const KINDS: &[&JobKind] = &[
    &BATCH_JOB,
    &JOB_SET,
    &PYTORCH_JOB,
    &TF_JOB,
    &XGBOOST_JOB,
    &PADDLE_JOB,
    &JAX_JOB,
    &MPI_JOB,
    &RAY_JOB,
    &RAY_CLUSTER,
    &RAY_SERVICE,
    &APP_WRAPPER,
    &TRAIN_JOB,
    &SPARK_APPLICATION,
];

/// `batch/v1` Job.
pub const BATCH_JOB: JobKind = JobKind {
    framework: "batch/job",
    group: "batch",
    version: "v1",
    kind: "Job",
    plural: "jobs",
    adopts: true,
    elastic: true,
    checked_unmanaged: true,
    native_controller: "kubernetes.io/job-controller",
    read: BatchJob::read,
};

/// The kind that an owner reference points at, if it is one of ours.
#[must_use]
pub fn of_owner(owner: &OwnerReference) -> Option<&'static JobKind> {
    KINDS.iter().copied().find(|kind| kind.owns(owner))
}

/// The kind of a framework's name in the configuration.
#[must_use]
pub fn of_framework(name: &str) -> Option<&'static JobKind> {
    KINDS.iter().copied().find(|kind| kind.framework == name)
}
