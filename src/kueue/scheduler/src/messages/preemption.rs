//! What people read about workloads that leave for others (kueue-reference.md, sections 4.8 and 4.18).

use crate::objects::Workload;
use crate::plan::{Admission, Eviction, Preemption};
use crate::preemption::PreemptionReason;
use crate::report::Recomputation;

/// In the place of what nobody knows.
const UNKNOWN: &str = "UNKNOWN";

/// The reason of the condition `Preempted`.
#[must_use]
pub fn preemption_reason(reason: PreemptionReason) -> &'static str {
    match reason {
        PreemptionReason::InClusterQueue => "InClusterQueue",
        PreemptionReason::InCohortReclamation => "InCohortReclamation",
        PreemptionReason::InCohortFairSharing => "InCohortFairSharing",
        PreemptionReason::InCohortReclaimWhileBorrowing => "InCohortReclaimWhileBorrowing",
    }
}

/// What came of a look for other targets, as the metrics call it.
#[must_use]
pub fn recomputation(result: Recomputation) -> &'static str {
    match result {
        Recomputation::NewTargets => "new_targets",
        Recomputation::DeferredFit => "deferred_fit",
        Recomputation::Skipped => "skipped",
    }
}

fn for_people(reason: PreemptionReason) -> &'static str {
    match reason {
        PreemptionReason::InClusterQueue => "prioritization in the ClusterQueue",
        PreemptionReason::InCohortReclamation => "reclamation within the cohort",
        PreemptionReason::InCohortFairSharing => "Fair Sharing within the cohort",
        PreemptionReason::InCohortReclaimWhileBorrowing => {
            "reclamation within the cohort while borrowing"
        }
    }
}

/// The message of a workload that is preempted.
#[must_use]
pub fn preempted(
    preemptor: &Workload,
    reason: Option<PreemptionReason>,
    preemptor_path: &str,
    target_path: &str,
) -> String {
    format!(
        "Preempted to accommodate a workload (UID: {}, JobUID: {}) due to {}; preemptor path: {}; preemptee path: {}",
        known(&preemptor.uid),
        known(preemptor.job_uid.as_deref().unwrap_or_default()),
        reason.map_or(UNKNOWN, for_people),
        known(preemptor_path),
        known(target_path),
    )
}

/// The note of the event about a workload that is preempted.
#[must_use]
pub fn preempted_event(preemption: &Preemption) -> String {
    format!(
        "{}; {}",
        self::preemption(preemption),
        priorities(preemption)
    )
}

/// The message of a preemption that was planned.
#[must_use]
pub fn preemption(preemption: &Preemption) -> String {
    preempted(
        &preemption.preemptor,
        Some(preemption.reason),
        &preemption.preemptor_path,
        &preemption.target_path,
    )
}

/// The note of the event about a workload that preempts.
#[must_use]
pub fn preemptor_event(preemption: &Preemption) -> String {
    let target = &preemption.target;
    format!(
        "Preempted workload {} (UID: {}) in ClusterQueue {}; {}",
        target.workload.key,
        target.workload.uid,
        target.cluster_queue,
        priorities(preemption)
    )
}

fn priorities(preemption: &Preemption) -> String {
    let priority = |workload: &Workload| {
        let (effective, boost) = (workload.priority, workload.boost);
        let base = effective - i64::from(boost);
        format!("{effective} (base: {base}, boost: {boost})")
    };
    format!(
        "preemptor effective priority: {}; preemptee effective priority: {}",
        priority(&preemption.preemptor),
        priority(&preemption.target.workload)
    )
}

/// The reason of the condition `Evicted`, and its message.
#[must_use]
pub fn evicted(eviction: &Eviction) -> (&'static str, String) {
    match eviction {
        Eviction::Migration { by, .. } => (
            "FlavorMigration",
            format!(
                "Evicted to accommodate a workload (UID: {}) due to migration to more favorable resource flavor",
                by.uid
            ),
        ),
        Eviction::NodeFailures { nodes, .. } => (
            "NodeFailures",
            format!(
                "Workload was evicted as there was no replacement for unhealthy node(s): {}",
                nodes.join(",")
            ),
        ),
    }
}

/// What is written about a slice whose place another one took.
#[must_use]
pub fn replaced(by: &Admission) -> String {
    format!(
        "Replaced to accommodate a workload (UID: {}, JobUID: {}) due to workload slice aggregation",
        by.uid,
        by.job_uid.as_deref().unwrap_or_default()
    )
}

fn known(text: &str) -> &str {
    if text.is_empty() { UNKNOWN } else { text }
}
