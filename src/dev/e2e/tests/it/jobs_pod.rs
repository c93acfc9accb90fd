//! Plain pods and groups of pods on a real cluster: gated until there is room, let run together, replaced when one fails, sent away when too many.

use std::path::Path;

use testkit::{Platform, Programs};

use crate::{
    commands::{apply, create, delete, ok},
    machine,
    patience::until,
};

const ENVIRONMENT: &str = "pods";
const NAMESPACE: &str = "equipe-vision";

#[tokio::test(flavor = "multi_thread")]
async fn jobs_pod_singles_and_groups() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let _place = machine::place().await;
    let platform = Platform::new(&programs);
    create(&platform, ENVIRONMENT).await;
    let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../manifests/kueue");
    let install = [
        "install",
        "kueue",
        "-n",
        "kueue-system",
        "--create-namespace",
        "--wait",
        "--timeout",
        "3m",
        "--set",
        CONFIGURATION,
    ];
    ok(platform.helm(ENVIRONMENT, install).arg(chart)).await;
    apply(&platform, ENVIRONMENT, QUEUES).await;

    a_single_pod_waits_runs_and_ends(&platform).await;
    a_group_starts_together(&platform).await;
    a_pod_too_many_goes(&platform).await;
    a_failed_pod_is_replaced(&platform).await;

    delete(&platform, ENVIRONMENT).await;
}

/// It waits while another one has all there is, and its Workload ends as it does.
async fn a_single_pod_waits_runs_and_ends(platform: &Platform) {
    apply(platform, ENVIRONMENT, &single("first", "5")).await;
    phase(platform, "first", "Running").await;
    apply(platform, ENVIRONMENT, &single("second", "1")).await;
    let gate = field(platform, "second", "{.spec.schedulingGates[0].name}").await;
    assert_eq!(gate, "kueue.x-k8s.io/admission");
    phase(platform, "first", "Succeeded").await;
    phase(platform, "second", "Succeeded").await;
    let selector = field(platform, "second", "{.spec.nodeSelector}").await;
    assert!(
        selector.contains("cassiopee.example/materiel"),
        "{selector}"
    );
    for pod in ["first", "second"] {
        let path = "{.metadata.finalizers}";
        until("a pod that ended is let go", async || {
            field(platform, pod, path).await.is_empty()
        })
        .await;
    }
}

async fn a_group_starts_together(platform: &Platform) {
    apply(platform, ENVIRONMENT, &member("a", "600")).await;
    until("the group is told that pods are missing", async || {
        let events = [
            "get",
            "events",
            "-n",
            NAMESPACE,
            "-o",
            "jsonpath={.items[*].reason}",
        ];
        kubectl(platform, &events)
            .await
            .contains("ErrWorkloadCompose")
    })
    .await;
    let none = [
        "get",
        "workload",
        "group",
        "-n",
        NAMESPACE,
        "--ignore-not-found",
    ];
    assert_eq!(kubectl(platform, &none).await, "");
    apply(platform, ENVIRONMENT, &member("b", "3")).await;
    phase(platform, "a", "Running").await;
    let owners = "{.metadata.ownerReferences[*].name}";
    assert_eq!(workload(platform, owners).await, "a b");
}

async fn a_pod_too_many_goes(platform: &Platform) {
    apply(platform, ENVIRONMENT, &member("c", "600")).await;
    let gone = ["get", "pod", "c", "-n", NAMESPACE, "--ignore-not-found"];
    until("the pod that was too many is gone", async || {
        kubectl(platform, &gone).await.is_empty()
    })
    .await;
}

/// `b` ends by itself; what happens to `a` is told by hand, as a node would.
async fn a_failed_pod_is_replaced(platform: &Platform) {
    phase(platform, "b", "Succeeded").await;
    kubectl(
        platform,
        &["delete", "pod", "a", "-n", NAMESPACE, "--wait=false"],
    )
    .await;
    let waits = "{.status.conditions[?(@.type==\"WaitingForReplacementPods\")].status}";
    until("the group waits for a replacement", async || {
        workload(platform, waits).await == "True"
    })
    .await;
    apply(platform, ENVIRONMENT, &member("d", "2")).await;
    until("the group has finished", async || {
        let path = "{.status.conditions[?(@.type==\"Finished\")].message}";
        workload(platform, path).await == "Pods succeeded: 2/2."
    })
    .await;
    until("the pod that was replaced is gone", async || {
        let gone = ["get", "pod", "a", "-n", NAMESPACE, "--ignore-not-found"];
        kubectl(platform, &gone).await.is_empty()
    })
    .await;
}

async fn phase(platform: &Platform, pod: &str, wanted: &str) {
    until(&format!("{pod} is {wanted}"), async || {
        field(platform, pod, "{.status.phase}").await == wanted
    })
    .await;
}

async fn field(platform: &Platform, pod: &str, path: &str) -> String {
    let path = format!("jsonpath={path}");
    kubectl(platform, &["get", "pod", pod, "-n", NAMESPACE, "-o", &path]).await
}

async fn workload(platform: &Platform, path: &str) -> String {
    let path = format!("jsonpath={path}");
    kubectl(
        platform,
        &["get", "workload", "group", "-n", NAMESPACE, "-o", &path],
    )
    .await
}

async fn kubectl(platform: &Platform, arguments: &[&str]) -> String {
    ok(platform.kubectl(ENVIRONMENT, arguments)).await
}

fn single(name: &str, seconds: &str) -> String {
    POD.replace("NAME", name)
        .replace("CPU", "2")
        .replace("SECONDS", seconds)
        .replace("GROUP", "")
        .replace("TOTAL", "")
}

fn member(name: &str, seconds: &str) -> String {
    POD.replace("NAME", name)
        .replace("CPU", "1")
        .replace("SECONDS", seconds)
        .replace("GROUP", ", kueue.x-k8s.io/pod-group-name: group")
        .replace("TOTAL", "kueue.x-k8s.io/pod-group-total-count: \"2\"")
}

const CONFIGURATION: &str =
    "managerConfig.controllerManagerConfigYaml=apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations: {frameworks: [batch/job\\, pod]}
";

const QUEUES: &str = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: pods}
spec: {nodeLabels: {cassiopee.example/materiel: cpu}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: pods}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: pods, resources: [{name: cpu, nominalQuota: 2}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: pods, namespace: equipe-vision}
spec: {clusterQueue: pods}
";

const POD: &str = "
apiVersion: v1
kind: Pod
metadata:
  name: NAME
  namespace: equipe-vision
  labels: {kueue.x-k8s.io/queue-name: podsGROUP}
  annotations: {TOTAL}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers: [{name: c, image: i, command: [sleep, \"SECONDS\"], resources: {requests: {cpu: CPU}}}]
";
