//! What a cycle did with every head and why, as values. `messages.rs` turns them into text.

use std::collections::BTreeMap;

use quantity::Requests;

use crate::assign::{Assignment, LastAssignment, NoFitReason};
use crate::cycle::Head;
use crate::names::{ClusterQueueName, PodSetName, WorkloadKey};
use crate::objects::{Defect, OutOfBounds};
use crate::policy::Policy;

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
    /// It is not what the `LimitRanges` of its namespace let it be.
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
    /// It would have to evict others, and may not yet.
    PreemptionGated,
    /// It fits once those have left whom others preempt.
    FitsAfterOthers,
    /// Those it would preempt leave for somebody else.
    TargetsTaken,
    /// Another workload of the same cycle took what it needed.
    NoLongerFits,
    /// Others are told to leave for it.
    Preempting {
        /// What it will take.
        assignment: Assignment,
        /// How many are told.
        issued: usize,
        /// How many could not be told. Whoever carries the plan out says so.
        failed: usize,
    },
    /// The pods of those who were admitted before are not ready.
    WaitsForPods,
    /// A variant of the same workload runs with a better flavor.
    BetterVariantRuns,
    /// A variant that runs would have to move to a flavor that is too far down.
    BelowLastAcceptable,
    /// A variant with a worse flavor is told to leave.
    Migrating(Assignment),
    /// It is told to leave itself: nodes that it uses failed, and there are no others.
    NodesFailed(Assignment),
}

impl Defect {
    /// Why a workload with this defect is not tried; failed checks are told before everything else.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::FailedChecks => None,
            Self::RequestsAboveLimits(found) => Some(Refusal::RequestsAboveLimits(found.clone())),
            Self::OutsideLimitRange(found) => Some(Refusal::OutsideLimitRange(found.clone())),
            Self::Malformed(what) => Some(Refusal::Malformed(what.clone())),
        }
    }
}

impl Outcome {
    /// Whether it would have been admitted, had others not been faster.
    pub(crate) fn lost_to_others(&self) -> bool {
        matches!(self, Self::TargetsTaken | Self::NoLongerFits)
    }

    /// Whether the search through the flavors goes on next time where it stopped: not where others are about to leave, and where somebody
    /// else was only faster only by choice.
    #[must_use]
    pub fn keeps_progress(&self, policy: &Policy) -> bool {
        match self {
            Self::PreemptionGated
            | Self::FitsAfterOthers
            | Self::Preempting { .. }
            | Self::Migrating(_)
            | Self::NodesFailed(_) => false,
            Self::TargetsTaken | Self::NoLongerFits | Self::BetterVariantRuns => {
                policy.preserve_scan_progress
            }
            _ => true,
        }
    }
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
    /// It may not preempt yet.
    AdmissionGated,
    /// Others leave for it.
    WaitingForPreemptedWorkloads,
    /// The pods of others are not ready.
    WaitingForPodsReady,
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
    /// What became of this head.
    #[must_use]
    pub fn of(head: &Head, outcome: Outcome, last: Option<LastAssignment>) -> Self {
        let pod_sets = head.workload.pod_sets.iter();
        let requests =
            pod_sets.map(|pod_set| (pod_set.name.clone(), pod_set.per_pod.times(pod_set.count)));
        Self {
            workload: head.workload.key.clone(),
            cluster_queue: head.cluster_queue.clone(),
            outcome,
            last,
            requests: requests.collect(),
        }
    }

    /// How it goes back into the queue; `None` if it was admitted.
    #[must_use]
    pub fn requeue_reason(&self) -> Option<RequeueReason> {
        let reason = match &self.outcome {
            Outcome::Admitted(_) | Outcome::NodesFailed(_) => return None,
            Outcome::Refused(Refusal::NamespaceMismatch) => RequeueReason::NamespaceMismatch,
            Outcome::Refused(_) | Outcome::BelowLastAcceptable => RequeueReason::Generic,
            Outcome::NoFit(_) => RequeueReason::NoFit,
            Outcome::NoCandidates(_) => RequeueReason::PreemptionNoCandidates,
            Outcome::PreemptionGated => RequeueReason::PreemptionGated,
            Outcome::FitsAfterOthers => RequeueReason::PendingPreemption,
            Outcome::Preempting { issued, failed, .. } if issued > failed => {
                RequeueReason::PendingPreemption
            }
            Outcome::Preempting { .. } => RequeueReason::PreemptionFailed,
            Outcome::Migrating(_) => RequeueReason::PendingMigration,
            Outcome::TargetsTaken
            | Outcome::NoLongerFits
            | Outcome::WaitsForPods
            | Outcome::BetterVariantRuns => RequeueReason::FailedAfterNomination,
        };
        Some(reason)
    }

    /// The reason of its condition; `None` if nothing is to be said.
    #[must_use]
    pub fn pending_reason(&self) -> Option<PendingReason> {
        let reason = match &self.outcome {
            Outcome::Admitted(_)
            | Outcome::NodesFailed(_)
            | Outcome::Refused(Refusal::NamespaceUnknown) => return None,
            Outcome::Refused(Refusal::FailedChecks)
            | Outcome::BetterVariantRuns
            | Outcome::BelowLastAcceptable => PendingReason::PendingEvaluation,
            Outcome::Refused(Refusal::ClusterQueueInactive) => PendingReason::Suspended,
            Outcome::Refused(
                Refusal::ClusterQueueNotFound
                | Refusal::NamespaceMismatch
                | Refusal::RequestsAboveLimits(_)
                | Refusal::OutsideLimitRange(_)
                | Refusal::Malformed(_),
            ) => PendingReason::Misconfigured,
            Outcome::NoFit(assignment) => PendingReason::NoFit(assignment.no_fit_reason()?),
            Outcome::NoCandidates(_) | Outcome::TargetsTaken | Outcome::NoLongerFits => {
                PendingReason::NoFit(NoFitReason::WaitingForQuota)
            }
            Outcome::PreemptionGated => PendingReason::AdmissionGated,
            Outcome::FitsAfterOthers | Outcome::Preempting { .. } | Outcome::Migrating(_) => {
                PendingReason::WaitingForPreemptedWorkloads
            }
            Outcome::WaitsForPods => PendingReason::WaitingForPodsReady,
        };
        Some(reason)
    }
}

/// What came of looking for other targets than those that an earlier workload of the cycle took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recomputation {
    /// It preempts others.
    NewTargets,
    /// It needs nobody to leave but those who leave anyway.
    DeferredFit,
    /// There are none.
    Skipped,
}

/// What became of all heads, in the order in which they were decided.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Report {
    /// One entry a head.
    pub entries: Vec<Entry>,
    /// How many preemptions each ClusterQueue had to leave out, because another workload was faster.
    pub skipped_preemptions: BTreeMap<ClusterQueueName, usize>,
    /// Every look for other targets.
    pub recomputations: Vec<(ClusterQueueName, Recomputation)>,
    /// Those who had hope until somebody was given room for the length of the cycle only: what they were told says nothing about the next one.
    pub outpaced: Vec<(ClusterQueueName, WorkloadKey)>,
}

impl Report {
    /// Notes that a workload could not be told to leave the nodes that failed: it keeps waiting for others.
    pub fn eviction_failed(&mut self, workload: &WorkloadKey) {
        let own = |entry: &&mut Entry| entry.workload == *workload;
        if let Some(entry) = self.entries.iter_mut().find(own)
            && let Outcome::NodesFailed(assignment) = &entry.outcome
        {
            entry.outcome = Outcome::NoFit(assignment.clone());
        }
    }

    /// Notes that a workload told to leave could not be told.
    pub fn preemption_failed(&mut self, preemptor: &WorkloadKey) {
        let own = |entry: &&mut Entry| entry.workload == *preemptor;
        if let Some(Outcome::Preempting { failed, .. }) = self
            .entries
            .iter_mut()
            .find(own)
            .map(|entry| &mut entry.outcome)
        {
            *failed += 1;
        }
    }
}
