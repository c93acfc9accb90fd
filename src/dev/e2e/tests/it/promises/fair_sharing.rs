//! Fair sharing: two queues that own nothing share what their cohort has. Who came first takes everything; the other gets its half by
//! preemption, and no more than that.

use super::ground::Ground;
use crate::patience::until;

pub(super) async fn hold(ground: Ground) {
    ground.apply(COHORT).await;
    for name in ["first", "second"] {
        ground.apply(&CLUSTER_QUEUE.replace("NAME", name)).await;
        ground.local_queue(&format!("NS-{name}")).await;
    }
    ground.apply(&jobs("first")).await;
    until("the first takes everything", async || {
        reserving(&ground, "first").await == "4"
    })
    .await;
    let share = ground.get("clusterqueue/NS-first", SHARE).await;
    assert_eq!(share, "1000", "all that can be lent in the cohort");

    ground.apply(&jobs("second")).await;
    until("each has its half", async || {
        reserving(&ground, "first").await == "2" && reserving(&ground, "second").await == "2"
    })
    .await;
    for queue in ["clusterqueue/NS-first", "clusterqueue/NS-second"] {
        ground.field(queue, SHARE, "500").await;
    }
    let reasons = "jsonpath={.items[*].status.conditions[?(@.type==\"Preempted\")].reason}";
    let reasons = ground.kubectl(&["get", "workloads", "-o", reasons]).await;
    assert_eq!(reasons, "InCohortFairSharing InCohortFairSharing");
}

const SHARE: &str = "{.status.fairSharing.weightedShare}";

/// How many Workloads of a queue hold quota, once all others have left and are waiting again.
async fn reserving(ground: &Ground, queue: &str) -> String {
    let queue = format!("localqueue/{queue}");
    ground.get(&queue, "{.status.reservingWorkloads}").await
}

fn jobs(queue: &str) -> String {
    let one = |at: u32| {
        JOB.replace("NAME", &format!("{queue}-{at}"))
            .replace("QUEUE", queue)
    };
    (1..=4).map(one).collect()
}

const COHORT: &str = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: NS}
spec: {nodeLabels: {cassiopee.example/materiel: cpu}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: NS}
spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: NS, resources: [{name: cpu, nominalQuota: 4}]}]}]}
";

const CLUSTER_QUEUE: &str = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: NS-NAME}
spec:
  cohortName: NS
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
  preemption: {reclaimWithinCohort: Any}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: NS, resources: [{name: cpu, nominalQuota: 0}]}]}]
";

const JOB: &str = "
---
apiVersion: batch/v1
kind: Job
metadata: {name: NAME, labels: {kueue.x-k8s.io/queue-name: QUEUE}}
spec:
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: i, command: [sleep, \"600\"], resources: {requests: {cpu: 1}}}]
";
