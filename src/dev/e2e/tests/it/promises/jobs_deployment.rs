//! A Deployment whose pods are admitted one by one: as many run as there is room for, the others wait and follow.

use super::ground::Ground;
use crate::patience::until;

pub(super) async fn hold(ground: Ground) {
    ground.queue(2).await;
    ground.apply(DEPLOYMENT).await;
    ground.field("deployment/web", READY, "2").await;
    until("the third pod waits at its gate", async || {
        gated(&ground).await == 1
    })
    .await;

    // Fewer: the one that waited, or one that ran, goes; nobody is left at a gate.
    ground
        .kubectl(&["scale", "deployment/web", "--replicas=2"])
        .await;
    until("nobody waits", async || gated(&ground).await == 0).await;
    ground.field("deployment/web", READY, "2").await;

    // A new template: old pods make room for new ones within the same quota.
    ground
        .kubectl(&["set", "env", "deployment/web", "A=b"])
        .await;
    ground
        .kubectl(&["rollout", "status", "deployment/web", "--timeout=120s"])
        .await;

    ground.kubectl(&["delete", "deployment", "web"]).await;
    until("no Workload is left", async || {
        ground
            .kubectl(&["get", "workloads", "-o", "name"])
            .await
            .is_empty()
    })
    .await;
    ground
        .field("clusterqueue/NS", "{.status.reservingWorkloads}", "0")
        .await;
}

const READY: &str = "{.status.readyReplicas}";

/// How many pods are held back. The gate of topology is on them too.
async fn gated(ground: &Ground) -> usize {
    let gates = "jsonpath={.items[*].spec.schedulingGates[*].name}";
    let gates = ground.kubectl(&["get", "pods", "-o", gates]).await;
    let gates = gates.split_whitespace();
    gates
        .filter(|gate| *gate == "kueue.x-k8s.io/admission")
        .count()
}

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {kueue.x-k8s.io/queue-name: NS}}
spec:
  replicas: 3
  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: i, command: [sleep, \"600\"], resources: {requests: {cpu: 1}}}]
";
