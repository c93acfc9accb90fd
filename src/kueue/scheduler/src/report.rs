//! What a cycle did with every head and why, as values. `messages.rs` turns them into text.

use quantity::Requests;

use crate::assign::{Assignment, LastAssignment, NoFitReason};
use crate::names::{ClusterQueueName, PodSetName, WorkloadKey};
use crate::objects::OutOfBounds;

/// Why a workload was not even tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Some admission check said Retry or Rejected.
    FailedChecks,
    /// Its ClusterQueue admits nothing at present.
    ClusterQueueInactive,
    /// Its ClusterQueue does not exist.
    ClusterQueueNotFound,
    /// Nobody knows its namespace; nothing is said about it.
    NamespaceUnknown,
    /// Its namespace may not use the ClusterQueue.
    NamespaceMismatch,
    /// Its containers ask for more than their limits.
    RequestsAboveLimits(Vec<OutOfBounds>),
    /// It is not what the LimitRanges of its namespace let it be.
    OutsideLimitRange(Vec<OutOfBounds>),
    /// Something in it cannot be read.
    Malformed(String),
}

/// What became of a head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in the plan.
    Admitted(Assignment),
    /// It was not tried.
    Refused(Refusal),
    /// It does not fit.
    NoFit(Assignment),
    /// It would fit after evicting others, and nobody can be evicted.
    NoCandidates(Assignment),
    /// Another workload of the same cycle took what it needed.
    NoLongerFits(Assignment),
}

/// How a workload goes back into the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequeueReason {
    /// Nothing special.
    Generic,
    /// The namespace does not match.
    NamespaceMismatch,
    /// It does not fit.
    NoFit,
    /// Nobody can be evicted.
    PreemptionNoCandidates,
    /// It fitted, and then something went wrong.
    FailedAfterNomination,
    /// Those that make room for it are leaving.
    PendingPreemption,
    /// Evicting them failed.
    PreemptionFailed,
    /// A sibling that makes room for it is leaving.
    PendingMigration,
    /// It may not evict yet.
    PreemptionGated,
}

/// The reason of the condition QuotaReserved=False.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PendingReason {
    /// See [`NoFitReason`].
    NoFit(NoFitReason),
    /// Something is wrong with the workload or its queue.
    Misconfigured,
    /// The queue is stopped.
    Suspended,
    /// It has to be looked at again.
    PendingEvaluation,
}

/// What became of one head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Which workload.
    pub workload: WorkloadKey,
    /// The ClusterQueue it was tried in.
    pub cluster_queue: ClusterQueueName,
    /// What happened.
    pub outcome: Outcome,
    /// Where the next search begins.
    pub last: Option<LastAssignment>,
    /// What it asked for, by pod set.
    pub requests: Vec<(PodSetName, Requests)>,
}

impl Entry {
    /// How it goes back into the queue; `None` if it was admitted.
    #[must_use]
    pub fn requeue_reason(&self) -> Option<RequeueReason> {
        match &self.outcome {
            Outcome::Admitted(_) => None,
            Outcome::Refused(Refusal::NamespaceMismatch) => Some(RequeueReason::NamespaceMismatch),
            Outcome::Refused(_) => Some(RequeueReason::Generic),
            Outcome::NoFit(_) => Some(RequeueReason::NoFit),
            Outcome::NoCandidates(_) => Some(RequeueReason::PreemptionNoCandidates),
            Outcome::NoLongerFits(_) => Some(RequeueReason::FailedAfterNomination),
        }
    }

    /// The reason of its condition; `None` if nothing is to be said.
    #[must_use]
    pub fn pending_reason(&self) -> Option<PendingReason> {
        match &self.outcome {
            Outcome::Admitted(_) | Outcome::Refused(Refusal::NamespaceUnknown) => None,
            Outcome::Refused(Refusal::FailedChecks) => Some(PendingReason::PendingEvaluation),
            Outcome::Refused(Refusal::ClusterQueueInactive) => Some(PendingReason::Suspended),
            Outcome::Refused(
                Refusal::ClusterQueueNotFound
                | Refusal::NamespaceMismatch
                | Refusal::RequestsAboveLimits(_)
                | Refusal::OutsideLimitRange(_)
                | Refusal::Malformed(_),
            ) => Some(PendingReason::Misconfigured),
            Outcome::NoFit(assignment) => assignment.no_fit_reason().map(PendingReason::NoFit),
            Outcome::NoCandidates(_) | Outcome::NoLongerFits(_) => {
                Some(PendingReason::NoFit(NoFitReason::WaitingForQuota))
            }
        }
    }
}

/// What became of all heads, in the order in which they were decided.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Report {
    /// One entry a head.
    pub entries: Vec<Entry>,
}
