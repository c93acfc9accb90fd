//! What the reference's test client makes of a status that is applied: fields that the new status leaves out stay, lists with keys are merged.

use kueue_api::Condition;
use kueue_api::v1beta2::{
    Admission, AdmissionCheckState, PodSetAssignment, PodSetRequest, WorkloadStatus,
};

pub(crate) fn merged(old: WorkloadStatus, new: WorkloadStatus) -> WorkloadStatus {
    WorkloadStatus {
        conditions: by_key(old.conditions, new.conditions, |one: &Condition| {
            one.type_.clone()
        }),
        admission: match (old.admission, new.admission) {
            (Some(old), Some(new)) => Some(admission(old, new)),
            (old, new) => new.or(old),
        },
        admission_checks: by_key(
            old.admission_checks,
            new.admission_checks,
            |one: &AdmissionCheckState| one.name.clone(),
        ),
        resource_requests: by_key(
            old.resource_requests,
            new.resource_requests,
            |one: &PodSetRequest| one.name.clone(),
        ),
        requeue_state: new.requeue_state.or(old.requeue_state),
        reclaimable_pods: kept(old.reclaimable_pods, new.reclaimable_pods),
        accumulated_past_execution_time_seconds: new
            .accumulated_past_execution_time_seconds
            .or(old.accumulated_past_execution_time_seconds),
        scheduling_stats: new.scheduling_stats.or(old.scheduling_stats),
        nominated_cluster_names: kept(old.nominated_cluster_names, new.nominated_cluster_names),
        cluster_name: new.cluster_name.or(old.cluster_name),
        unhealthy_nodes: kept(old.unhealthy_nodes, new.unhealthy_nodes),
        preemption_gates: kept(old.preemption_gates, new.preemption_gates),
    }
}

fn admission(old: Admission, new: Admission) -> Admission {
    Admission {
        cluster_queue: new.cluster_queue,
        pod_set_assignments: by_key(
            old.pod_set_assignments,
            new.pod_set_assignments,
            |one: &PodSetAssignment| one.name.clone(),
        ),
    }
}

fn kept<T>(old: Vec<T>, new: Vec<T>) -> Vec<T> {
    if new.is_empty() { old } else { new }
}

/// The new entries in place of the old ones of the same key, the others after them.
fn by_key<T>(old: Vec<T>, new: Vec<T>, key: impl Fn(&T) -> String) -> Vec<T> {
    let replaced = |one: &T| new.iter().any(|other| key(other) == key(one));
    let rest: Vec<T> = old.into_iter().filter(|one| !replaced(one)).collect();
    let mut all = new;
    all.extend(rest);
    all
}
