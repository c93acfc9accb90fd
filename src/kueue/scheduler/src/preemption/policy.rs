//! Who may be evicted by whom as far as priority and age go: the policies of a ClusterQueue applied to two workloads (reference section 4.5).

use crate::objects::{PreemptionPolicy, Workload};

/// Whether a policy lets `preemptor` evict `candidate`. Age is the place in the queue, not that of admission.
#[must_use]
pub fn satisfies(policy: PreemptionPolicy, preemptor: &Workload, candidate: &Workload) -> bool {
    let lower = candidate.priority < preemptor.priority;
    let newer_equal =
        candidate.priority == preemptor.priority && preemptor.queued < candidate.queued;
    match policy {
        PreemptionPolicy::Never | PreemptionPolicy::Unsaid => false,
        PreemptionPolicy::LowerPriority => lower,
        PreemptionPolicy::LowerOrNewerEqualPriority => lower || newer_equal,
        PreemptionPolicy::Any => true,
    }
}
