//! Condition types and reasons as they are written into statuses, and the few pure helpers that read and set conditions.
//! Messages are rendered by whoever decides them, not here.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

use crate::{Condition, Time};

/// Condition types of a Workload.
pub mod workload {
    pub const QUOTA_RESERVED: &str = "QuotaReserved";
    pub const ADMITTED: &str = "Admitted";
    pub const EVICTED: &str = "Evicted";
    pub const PREEMPTED: &str = "Preempted";
    pub const REQUEUED: &str = "Requeued";
    pub const PODS_READY: &str = "PodsReady";
    pub const FINISHED: &str = "Finished";
    pub const DEACTIVATION_TARGET: &str = "DeactivationTarget";
    pub const WAITING_FOR_REPLACEMENT_PODS: &str = "WaitingForReplacementPods";
    pub const BLOCKED_ON_PREEMPTION_GATES: &str = "BlockedOnPreemptionGates";
}

/// Condition types of ClusterQueues, LocalQueues, admission checks and `MultiKueue` clusters.
pub mod queue {
    pub const ACTIVE: &str = "Active";
    pub const MULTIKUEUE_MANAGER_QUOTA_AUTOMATION: &str = "MultiKueueManagerQuotaAutomation";
}

/// Reasons of Workload conditions, grouped by the condition they belong to.
pub mod reasons {
    // QuotaReserved
    pub const QUOTA_RESERVED: &str = "QuotaReserved";
    pub const NO_MATCHING_FLAVOR: &str = "NoMatchingFlavor";
    pub const WAITING_FOR_QUOTA: &str = "WaitingForQuota";
    pub const EXCEEDS_MAX_QUOTA: &str = "ExceedsMaxQuota";
    pub const TOPOLOGY_PLACEMENT_FAILED: &str = "TopologyPlacementFailed";
    pub const WAITING_FOR_PREEMPTED_WORKLOADS: &str = "WaitingForPreemptedWorkloads";
    pub const MISCONFIGURED: &str = "Misconfigured";
    pub const SUSPENDED: &str = "Suspended";
    pub const PENDING_EVALUATION: &str = "PendingEvaluation";
    pub const WAITING_FOR_PODS_READY: &str = "WaitingForPodsReady";
    pub const ADMISSION_GATED: &str = "AdmissionGated";
    pub const ON_HOLD: &str = "OnHold";
    pub const DEACTIVATED: &str = "Deactivated";
    // QuotaReserved while the gate UnadmittedWorkloadsObservability is off
    pub const PENDING: &str = "Pending";
    pub const INADMISSIBLE: &str = "Inadmissible";
    pub const WAITING: &str = "Waiting";
    // Admitted
    pub const ADMITTED: &str = "Admitted";
    pub const NO_RESERVATION: &str = "NoReservation";
    pub const UNSATISFIED_ADMISSION_CHECKS: &str = "UnsatisfiedAdmissionChecks";
    pub const UNSATISFIED_CHECKS: &str = "UnsatisfiedChecks";
    pub const NO_RESERVATION_UNSATISFIED_CHECKS: &str = "NoReservationUnsatisfiedChecks";
    pub const PENDING_DELAYED_TOPOLOGY_REQUESTS: &str = "PendingDelayedTopologyRequests";
    // Evicted
    pub const PREEMPTED: &str = "Preempted";
    pub const PODS_READY_TIMEOUT: &str = "PodsReadyTimeout";
    pub const ADMISSION_CHECK: &str = "AdmissionCheck";
    pub const CLUSTER_QUEUE_STOPPED: &str = "ClusterQueueStopped";
    pub const LOCAL_QUEUE_STOPPED: &str = "LocalQueueStopped";
    pub const NODE_FAILURES: &str = "NodeFailures";
    pub const FLAVOR_MIGRATION: &str = "FlavorMigration";
    pub const EVICTED_ON_MANAGER_CLUSTER: &str = "EvictedOnManagerCluster";
    /// Prefix of the reason of an eviction that Kueue itself caused by deactivation.
    pub const DEACTIVATED_DUE_TO: &str = "DeactivatedDueTo";
    pub const REQUEUING_LIMIT_EXCEEDED: &str = "RequeuingLimitExceeded";
    pub const MAXIMUM_EXECUTION_TIME_EXCEEDED: &str = "MaximumExecutionTimeExceeded";
    // Preempted
    pub const IN_CLUSTER_QUEUE: &str = "InClusterQueue";
    pub const IN_COHORT_RECLAMATION: &str = "InCohortReclamation";
    pub const IN_COHORT_FAIR_SHARING: &str = "InCohortFairSharing";
    pub const IN_COHORT_RECLAIM_WHILE_BORROWING: &str = "InCohortReclaimWhileBorrowing";
    // Requeued
    pub const BACKOFF_FINISHED: &str = "BackoffFinished";
    pub const REACTIVATED: &str = "Reactivated";
    pub const CLUSTER_QUEUE_RESTARTED: &str = "ClusterQueueRestarted";
    pub const LOCAL_QUEUE_RESTARTED: &str = "LocalQueueRestarted";
    // PodsReady
    pub const STARTED: &str = "Started";
    pub const RECOVERED: &str = "Recovered";
    pub const WAIT_FOR_START: &str = "WaitForStart";
    pub const WAIT_FOR_RECOVERY: &str = "WaitForRecovery";
    // Finished
    pub const SUCCEEDED: &str = "Succeeded";
    pub const FAILED: &str = "Failed";
    pub const OUT_OF_SYNC: &str = "OutOfSync";
    pub const OWNER_NOT_FOUND: &str = "OwnerNotFound";
    pub const FAILED_TO_START: &str = "FailedToStart";
    pub const WORKLOAD_SLICE_REPLACED: &str = "WorkloadSliceReplaced";
    // BlockedOnPreemptionGates
    pub const PREEMPTION_GATED: &str = "PreemptionGated";
}

/// Reasons of the `Active` condition of ClusterQueues and LocalQueues.
pub mod active_reasons {
    pub const READY: &str = "Ready";
    pub const TERMINATING: &str = "Terminating";
    pub const STOPPED: &str = "Stopped";
    pub const FLAVOR_NOT_FOUND: &str = "FlavorNotFound";
    pub const ADMISSION_CHECK_NOT_FOUND: &str = "AdmissionCheckNotFound";
    pub const ADMISSION_CHECK_INACTIVE: &str = "AdmissionCheckInactive";
    pub const MULTIPLE_MULTIKUEUE_ADMISSION_CHECKS: &str = "MultipleMultiKueueAdmissionChecks";
    pub const MULTIKUEUE_ADMISSION_CHECK_APPLIED_PER_FLAVOR: &str =
        "MultiKueueAdmissionCheckAppliedPerFlavor";
    pub const MULTIKUEUE_WITH_PROVISIONING_REQUEST: &str = "MultiKueueWithProvisioningRequest";
    pub const TOPOLOGY_NOT_FOUND: &str = "TopologyNotFound";
    pub const UNKNOWN: &str = "Unknown";
    pub const CLUSTER_QUEUE_DOES_NOT_EXIST: &str = "ClusterQueueDoesNotExist";
    pub const CLUSTER_QUEUE_IS_INACTIVE: &str = "ClusterQueueIsInactive";
}

/// Longest condition message, in bytes.
pub const MAX_CONDITION_MESSAGE: usize = 32_768;
/// Longest event note, in bytes.
pub const MAX_EVENT_NOTE: usize = 1024;

/// Cuts a text to a number of bytes, marking the cut with ` ...`.
#[must_use]
pub fn truncate(text: &str, limit: usize) -> String {
    const SUFFIX: &str = " ...";
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit.saturating_sub(SUFFIX.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{SUFFIX}", &text[..end])
}

/// The condition of a type.
#[must_use]
pub fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|c| c.type_ == type_)
}

/// Whether the condition of a type is True.
#[must_use]
pub fn is_true(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|c| c.status == "True")
}

/// Whether the condition of a type is False (absent is not False).
#[must_use]
pub fn is_false(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|c| c.status == "False")
}

/// A condition as it should be; `set` decides what becomes of its transition time.
#[must_use]
pub fn condition(
    type_: &str,
    status: bool,
    reason: &str,
    message: &str,
    generation: Option<i64>,
    now: Timestamp,
) -> Condition {
    Condition {
        type_: type_.to_owned(),
        status: if status { "True" } else { "False" }.to_owned(),
        reason: reason.to_owned(),
        message: truncate(message, MAX_CONDITION_MESSAGE),
        observed_generation: generation,
        last_transition_time: Time(now),
    }
}

/// Puts a condition into a list, keeping the old transition time while the status stays the same. Returns whether anything changed.
pub fn set(conditions: &mut Vec<Condition>, new: Condition) -> bool {
    let Some(old) = conditions.iter_mut().find(|c| c.type_ == new.type_) else {
        conditions.push(new);
        return true;
    };
    let last_transition_time = if old.status == new.status {
        old.last_transition_time.clone()
    } else {
        new.last_transition_time.clone()
    };
    let new = Condition {
        last_transition_time,
        ..new
    };
    let changed = *old != new;
    *old = new;
    changed
}

/// Removes the condition of a type. Returns whether there was one.
pub fn remove(conditions: &mut Vec<Condition>, type_: &str) -> bool {
    let before = conditions.len();
    conditions.retain(|c| c.type_ != type_);
    conditions.len() != before
}

/// Reads conditions, taking an absent transition time as the start of the epoch: clients that leave it out are valid on the wire of the reference.
pub fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Condition>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wire {
        #[serde(rename = "type", default)]
        type_: String,
        #[serde(default)]
        status: String,
        #[serde(default)]
        reason: String,
        #[serde(default)]
        message: String,
        observed_generation: Option<i64>,
        last_transition_time: Option<Time>,
    }
    let read = Option::<Vec<Wire>>::deserialize(deserializer)?.unwrap_or_default();
    let known = |w: Wire| Condition {
        type_: w.type_,
        status: w.status,
        reason: w.reason,
        message: w.message,
        observed_generation: w.observed_generation,
        last_transition_time: w
            .last_transition_time
            .unwrap_or(Time(Timestamp::UNIX_EPOCH)),
    };
    Ok(read.into_iter().map(known).collect())
}
