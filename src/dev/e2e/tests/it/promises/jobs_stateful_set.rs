//! A `StatefulSet` is one group: it runs when there is room for all of its pods, gives its quota back at zero, and comes back.

use super::ground::Ground;
use crate::patience::until;

pub(super) async fn hold(ground: Ground) {
    ground.queue(2).await;
    ground.job("before", 1, 3).await;
    ground
        .wait("job/before", "jsonpath={.status.ready}=1")
        .await;
    ground.apply(SET).await;
    ground.wait("pod/db-0", "create").await;
    let gate = ground
        .get("pod/db-0", "{.spec.schedulingGates[0].name}")
        .await;
    assert_eq!(
        gate, "kueue.x-k8s.io/admission",
        "there is room for one only"
    );
    ground.field("statefulset/db", READY, "2").await;
    ground.wait("job/before", "condition=complete").await;

    ground
        .kubectl(&["scale", "statefulset/db", "--replicas=0"])
        .await;
    ground
        .field("clusterqueue/NS", "{.status.reservingWorkloads}", "0")
        .await;
    ground
        .kubectl(&["scale", "statefulset/db", "--replicas=1"])
        .await;
    ground.field("statefulset/db", READY, "1").await;

    ground.kubectl(&["delete", "statefulset", "db"]).await;
    until("only the Job's Workload is left", async || {
        let left = ground.kubectl(&["get", "workloads", "-o", "name"]).await;
        left.lines().all(|name| name.contains("job-before"))
    })
    .await;
}

const READY: &str = "{.status.readyReplicas}";

const SET: &str = "
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, labels: {kueue.x-k8s.io/queue-name: NS}}
spec:
  replicas: 2
  serviceName: db
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: i, command: [sleep, \"600\"], resources: {requests: {cpu: 1}}}]
";
