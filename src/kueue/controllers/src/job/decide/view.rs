//! What a decision about a job is made from: the job as it is, the Workloads that are or may be its own, and what the
//! operator chose. Values only, taken before and the same throughout one decision.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jobs::{GenericJob, Marks, construct};
use kueue_api::v1beta2::{ResourceFlavorSpec, Workload};

/// Choices of the operator that this decision depends on.
#[derive(Clone, Debug)]
pub struct Rules {
    /// How Workloads are made.
    pub workloads: construct::Options,
    /// By what pods can be recognised.
    pub marks: Marks,
    /// Keep the condition `PodsReady` (`waitForPodsReady`).
    pub track_pods_ready: bool,
    /// Give back what pods that are done held (gate `ReclaimablePods`).
    pub reclaim: bool,
    /// Finish Workloads whose job left them behind (gate `FinishOrphanedWorkloads`).
    pub finish_orphans: bool,
    /// A job may name a Workload that somebody else made in an annotation, too (gate `WorkloadIdentifierAnnotations`).
    pub annotated_names: bool,
    /// How long jobs are kept whose Workloads Kueue deactivated; none is for ever.
    pub keep_deactivated: Option<Duration>,
}

/// Whether a job is ours, and by which right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not ours.
    Foreign,
    /// It has a Workload of its own.
    Top,
    /// It belongs to another job of ours, whose Workload is this.
    Child(Parent),
    /// It has more ancestors than anybody wants to count.
    TooDeep,
}

/// The newest Workload of the parent that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    Missing,
    Waiting,
    /// It was told to leave.
    Leaving,
    Admitted,
}

impl Parent {
    /// A child of a job that grows runs on while the next slice waits; only an eviction ends that.
    #[must_use]
    pub fn seen_by_child(self, elastic: bool) -> Self {
        if elastic && self == Self::Waiting {
            Self::Admitted
        } else {
            self
        }
    }
}

/// Everything the decision rests on.
#[derive(Debug)]
pub struct View<'a> {
    pub job: &'a dyn GenericJob,
    pub standing: Standing,
    /// The Workloads whose controller bears the job's kind and name, or the one that the job names.
    pub workloads: &'a [Arc<Workload>],
    /// Flavors by name.
    pub flavors: &'a BTreeMap<String, ResourceFlavorSpec>,
    /// Priority the job asks for; none while its class does not exist.
    pub priority: Option<&'a jobs::Priority>,
    pub rules: &'a Rules,
    pub now: Timestamp,
}

impl View<'_> {
    /// Whether each size of the job has a Workload of its own.
    #[must_use]
    pub fn is_elastic(&self) -> bool {
        construct::is_elastic(self.job, &self.rules.workloads)
    }
}
