//! Plain pods and groups of pods: gated until there is room, let run together, replaced when one fails, sent away when too many.

use super::ground::Ground;
use crate::patience::until;

pub(super) async fn hold(ground: Ground) {
    ground.queue(2).await;
    a_single_pod_waits_runs_and_ends(&ground).await;
    a_group_starts_together(&ground).await;
    a_pod_too_many_goes(&ground).await;
    a_failed_pod_is_replaced(&ground).await;
}

/// It waits while another one has all there is, and its Workload ends as it does.
async fn a_single_pod_waits_runs_and_ends(ground: &Ground) {
    ground.apply(&single("first", "2")).await;
    ground.apply(&single("second", "1")).await;
    let gate = ground
        .get("pod/second", "{.spec.schedulingGates[0].name}")
        .await;
    assert_eq!(gate, "kueue.x-k8s.io/admission");
    for pod in ["pod/first", "pod/second"] {
        ground.wait(pod, "jsonpath={.status.phase}=Succeeded").await;
    }
    let selector = ground.get("pod/second", "{.spec.nodeSelector}").await;
    assert!(
        selector.contains("cassiopee.example/materiel"),
        "{selector}"
    );
    for pod in ["pod/first", "pod/second"] {
        // A pod that ended is let go.
        ground.field(pod, "{.metadata.finalizers}", "").await;
    }
}

async fn a_group_starts_together(ground: &Ground) {
    ground.apply(&member("a", "600")).await;
    // It is told that pods are missing.
    ground.event("a", "ErrWorkloadCompose").await;
    assert_eq!(ground.get("workload/group", "{.metadata.name}").await, "");
    ground.apply(&member("b", "1")).await;
    ground
        .wait("pod/a", "jsonpath={.status.phase}=Running")
        .await;
    let owners = "{.metadata.ownerReferences[*].name}";
    assert_eq!(ground.get("workload/group", owners).await, "a b");
}

async fn a_pod_too_many_goes(ground: &Ground) {
    ground.apply(&member("c", "600")).await;
    ground.gone("pod/c").await;
}

/// `b` ends by itself, `a` is deleted.
async fn a_failed_pod_is_replaced(ground: &Ground) {
    ground
        .wait("pod/b", "jsonpath={.status.phase}=Succeeded")
        .await;
    ground
        .kubectl(&["delete", "pod", "a", "--wait=false"])
        .await;
    ground
        .wait("workload/group", "condition=WaitingForReplacementPods")
        .await;
    ground.apply(&member("d", "1")).await;
    ground.wait("workload/group", "condition=Finished").await;
    let message = "{.status.conditions[?(@.type==\"Finished\")].message}";
    let message = ground.get("workload/group", message).await;
    assert_eq!(message, "Pods succeeded: 2/2.");
    until("the pod that was replaced is gone", async || {
        ground.get("pod/a", "{.metadata.name}").await.is_empty()
    })
    .await;
}

fn single(name: &str, seconds: &str) -> String {
    pod(name, seconds, "2", "", "")
}

fn member(name: &str, seconds: &str) -> String {
    let group = ", kueue.x-k8s.io/pod-group-name: group";
    let total = "kueue.x-k8s.io/pod-group-total-count: \"2\"";
    pod(name, seconds, "1", group, total)
}

fn pod(name: &str, seconds: &str, cpu: &str, labels: &str, annotations: &str) -> String {
    POD.replace("NAME", name)
        .replace("CPU", cpu)
        .replace("SECONDS", seconds)
        .replace("GROUP", labels)
        .replace("TOTAL", annotations)
}

const POD: &str = "
apiVersion: v1
kind: Pod
metadata:
  name: NAME
  labels: {kueue.x-k8s.io/queue-name: NSGROUP}
  annotations: {TOTAL}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers: [{name: c, image: i, command: [sleep, \"SECONDS\"], resources: {requests: {cpu: CPU}}}]
";
