//! The steps that a decision about a job can end with, one at a time. What each writes is said in
//! [`crate::job::effects`]; here is only what it is about, and whether another one may follow.

use std::sync::Arc;
use std::time::Duration;

use jobs::PodSetInfo;
use jobs::slices::Over;
use kueue_api::v1beta2::{ReclaimablePod, Workload};

use super::Readiness;

/// The next step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing until something changes.
    Rest,
    /// Nothing until something changes, or this much later.
    Wait(Duration),
    /// The job's priority class does not exist.
    ClassMissing,
    /// The search for its parents was given up.
    TooDeep,
    /// The Workload that the job names is not there, or not for it.
    NotPrebuilt,
    /// Suspend it: its parent has not been admitted.
    Suspend,
    Create,
    /// The Workload that the job names becomes its own.
    Adopt {
        workload: Arc<Workload>,
    },
    /// The Workload still waits and the job was edited: write its podsets anew.
    Update {
        workload: Arc<Workload>,
    },
    /// The job grew while it waits, or shrank: its slice gets its size.
    Resize {
        workload: Arc<Workload>,
    },
    /// Slices that no longer count.
    FinishSlices {
        over: Vec<Over>,
    },
    /// These Workloads do not describe the job (any more); the job is stopped first if that says so.
    Delete {
        stop: Option<(&'static str, Option<Vec<PodSetInfo>>)>,
        workloads: Vec<Arc<Workload>>,
    },
    /// The job asks for other admission gates.
    SetGates {
        workload: Arc<Workload>,
    },
    SetPriority {
        workload: Arc<Workload>,
    },
    /// The Workload is over; it may go when its job goes.
    Settle {
        workload: Arc<Workload>,
    },
    /// The job is gone; its Workload may go too.
    LetGo {
        workload: Arc<Workload>,
    },
    Finish {
        workload: Arc<Workload>,
        reason: &'static str,
        message: String,
    },
    /// The job wants to hold no quota for now.
    Hold {
        workload: Arc<Workload>,
    },
    /// It does again.
    Unhold {
        workload: Arc<Workload>,
    },
    Reclaim {
        workload: Arc<Workload>,
        pods: Vec<ReclaimablePod>,
    },
    PodsReady {
        workload: Arc<Workload>,
        readiness: Readiness,
    },
    Start {
        workload: Arc<Workload>,
        infos: Vec<PodSetInfo>,
    },
    /// Stop the job, and give its templates back what these say.
    Stop {
        message: String,
        infos: Option<Vec<PodSetInfo>>,
    },
    /// The job has stopped after an eviction: give the quota back.
    Release {
        workload: Arc<Workload>,
    },
    /// Kueue deactivated its Workload, and it has been kept long enough.
    DeleteJob,
    /// Say what the admission checks are waiting for.
    TellChecks {
        message: String,
    },
    /// The job was sent to another queue while it waits.
    Move {
        workload: Arc<Workload>,
        queue: String,
    },
}

impl Step {
    /// Its name in the log.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::Wait(_) => "wait",
            Self::ClassMissing => "class-missing",
            Self::TooDeep => "too-deep",
            Self::NotPrebuilt => "not-prebuilt",
            Self::Suspend => "suspend",
            Self::Create => "create",
            Self::Adopt { .. } => "adopt",
            Self::Update { .. } => "update",
            Self::Resize { .. } => "resize",
            Self::FinishSlices { .. } => "finish-slices",
            Self::Delete { .. } => "delete",
            Self::SetGates { .. } => "set-gates",
            Self::SetPriority { .. } => "set-priority",
            Self::Settle { .. } => "settle",
            Self::LetGo { .. } => "let-go",
            Self::Finish { .. } => "finish",
            Self::Hold { .. } => "hold",
            Self::Unhold { .. } => "unhold",
            Self::Reclaim { .. } => "reclaim",
            Self::PodsReady { .. } => "pods-ready",
            Self::Start { .. } => "start",
            Self::Stop { .. } => "stop",
            Self::Release { .. } => "release",
            Self::DeleteJob => "delete-job",
            Self::TellChecks { .. } => "tell-checks",
            Self::Move { .. } => "move",
        }
    }

    /// Whether there is nothing more to do after it until something changes.
    #[must_use]
    pub fn is_last(&self) -> bool {
        matches!(
            self,
            Self::Rest
                | Self::Wait(_)
                | Self::ClassMissing
                | Self::TooDeep
                | Self::NotPrebuilt
                | Self::DeleteJob
                | Self::TellChecks { .. }
        )
    }
}
