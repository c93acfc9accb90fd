//! WorkloadPriorityClass: a priority for queueing and preemption that is independent of the priority of pods.

use crate::wire::kind;

kind! {
    /// The class has no `spec`: its value stands at the top of the object.
    WorkloadPriorityClass("workloadpriorityclasses", ClusterResourceScope) {
        value: i32,
        description: String,
    }
}
