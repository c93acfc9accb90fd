//! What a cycle decided, one line a workload in the log: enough to answer "why does it wait?" without looking at the cluster.

use cache::{Plan, Report};
use scheduler::messages;

/// Writes the lines, at the level of details.
pub(super) fn decisions(plan: &Plan, report: &Report) {
    for admission in &plan.admissions {
        let given = admission.usage.iter();
        let given = given.map(|(of, amount)| {
            format!(
                "{}/{}={}",
                of.flavor,
                of.resource,
                amount.to_quantity(&of.resource)
            )
        });
        tracing::debug!(
            workload = %admission.workload,
            cluster_queue = %admission.cluster_queue,
            decision = "admit",
            given = given.collect::<Vec<_>>().join(","),
            waiting_since = %admission.waiting_since,
            "decided"
        );
    }
    for preemption in &plan.preemptions {
        tracing::debug!(
            workload = %preemption.target.workload.key,
            decision = "preempt",
            reason = messages::preemption_reason(preemption.reason),
            preemptor = %preemption.preemptor.key,
            cluster_queue = %preemption.cluster_queue,
            "decided"
        );
    }
    for entry in &report.entries {
        let (Some(reason), Some(message)) = (entry.pending_reason(), messages::pending(entry))
        else {
            continue;
        };
        tracing::debug!(
            workload = %entry.workload,
            cluster_queue = %entry.cluster_queue,
            decision = "wait",
            reason = messages::pending_reason(reason),
            back = entry.requeue_reason().map(|back| format!("{back:?}")),
            message,
            "decided"
        );
    }
}
