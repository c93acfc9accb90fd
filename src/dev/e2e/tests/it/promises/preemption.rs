//! Preemption within a queue: the more important Job takes the place of the other one, whose pods are gone first and which comes back later.

use super::ground::{Ground, job};

pub(super) async fn hold(ground: Ground) {
    ground.queue(1).await;
    ground.apply(CLASS).await;
    ground.job("low", 1, 600).await;
    ground.wait("job/low", "jsonpath={.status.ready}=1").await;
    let low = ground.workload_of("low").await;

    let urgent =
        job("urgent", 1, 2).replace("labels: {", "labels: {kueue.x-k8s.io/priority-class: NS, ");
    ground.apply(&urgent).await;
    ground.wait(&low, "condition=Preempted").await;
    let reason = "{.status.conditions[?(@.type==\"Preempted\")].reason}";
    assert_eq!(ground.get(&low, reason).await, "InClusterQueue");
    ground.event("low", "Stopped").await;
    ground.wait("job/urgent", "condition=complete").await;
    // Its turn again; upstream rewrites what was.
    ground.wait("job/low", "jsonpath={.status.ready}=1").await;
    let evicted = "{.status.conditions[?(@.type==\"Evicted\")].status}";
    ground.field(&low, evicted, "False").await;
}

const CLASS: &str = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: NS}
value: 1000
";
