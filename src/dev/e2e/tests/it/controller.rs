//! The controller as the chart installs it: it admits, comes back after its pod was deleted, and is not put out by one bad object.

use std::path::Path;

use testkit::{Platform, Programs};

use crate::{
    commands::{apply, create, helm, ok},
    machine,
    patience::until,
};

const ENVIRONMENT: &str = "chart";

#[tokio::test(flavor = "multi_thread")]
async fn the_chart_installs_a_controller_that_keeps_going() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let _place = machine::place().await;
    let platform = Platform::new(&programs);
    create(&platform, ENVIRONMENT).await;
    let install = helm(&platform, ENVIRONMENT, "install");
    ok(install.args(["--timeout", "3m"])).await;
    apply(&platform, ENVIRONMENT, QUEUES).await;
    job_runs(&platform, "first").await;

    // The Deployment makes another pod, and its process finds everything in the cluster.
    let pod = pods(&platform).await;
    kubectl(
        &platform,
        &[
            "delete",
            "pod",
            "-n",
            "kueue-system",
            "--all",
            "--wait=true",
        ],
    )
    .await;
    kubectl(
        &platform,
        &[
            "rollout",
            "status",
            "-n",
            "kueue-system",
            "deployment/kueue-controller-manager",
            "--timeout=120s",
        ],
    )
    .await;
    assert_ne!(pods(&platform).await, pod, "the pod was not replaced");
    job_runs(&platform, "after-a-new-pod").await;

    let before = restarts(&platform).await;
    a_job_whose_start_is_refused_holds_nobody_up(&platform).await;
    a_removed_crd_holds_nobody_up(&platform).await;
    assert_eq!(
        restarts(&platform).await,
        before,
        "the controller ended and was started again"
    );
}

/// The API server refuses every start of this Job; the others run.
async fn a_job_whose_start_is_refused_holds_nobody_up(platform: &Platform) {
    apply(platform, ENVIRONMENT, REFUSAL).await;
    let start = [
        "patch",
        "job",
        "refused",
        "-n",
        "equipe-vision",
        "--dry-run=server",
        "--type=merge",
        "-p",
        "{\"spec\":{\"suspend\":false}}",
    ];
    let start = platform.kubectl(ENVIRONMENT, start);
    until("the policy is in force", async || {
        start
            .output()
            .await
            .is_ok_and(|output| output.code != Some(0))
    })
    .await;
    kubectl(
        platform,
        &[
            "label",
            "job",
            "refused",
            "-n",
            "equipe-vision",
            "kueue.x-k8s.io/queue-name=e2e",
        ],
    )
    .await;
    let admitted = platform.kubectl(ENVIRONMENT, ["get", "workloads", "-n", "equipe-vision"]);
    until("it is admitted", async || {
        admitted.run().await.is_ok_and(|table| {
            table
                .stdout
                .lines()
                .any(|line| line.contains("refused") && line.contains("True"))
        })
    })
    .await;
    job_runs(platform, "beside-a-refused-one").await;
    let suspended = kubectl(
        platform,
        &[
            "get",
            "job",
            "refused",
            "-n",
            "equipe-vision",
            "-o",
            "jsonpath={.spec.suspend}",
        ],
    )
    .await;
    assert_eq!(suspended, "true");
    kubectl(
        platform,
        &["delete", "job", "refused", "-n", "equipe-vision"],
    )
    .await;
}

/// A kind that is watched goes away, and comes back.
async fn a_removed_crd_holds_nobody_up(platform: &Platform) {
    kubectl(
        platform,
        &["delete", "crd", "workloadpriorityclasses.kueue.x-k8s.io"],
    )
    .await;
    job_runs(platform, "without-a-kind").await;
    let crd = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../manifests/kueue/crds/kueue.x-k8s.io_workloadpriorityclasses.yaml");
    ok(platform
        .kubectl(ENVIRONMENT, ["apply", "--server-side", "-f"])
        .arg(crd))
    .await;
    job_runs(platform, "with-the-kind-again").await;
}

/// Submits a Job to the queue and waits until it has run.
async fn job_runs(platform: &Platform, name: &str) {
    apply(platform, ENVIRONMENT, &JOB.replace("NAME", name)).await;
    let job = format!("job/{name}");
    kubectl(
        platform,
        &[
            "wait",
            "--for=condition=complete",
            &job,
            "-n",
            "equipe-vision",
            "--timeout=120s",
        ],
    )
    .await;
}

async fn pods(platform: &Platform) -> String {
    kubectl(
        platform,
        &["get", "pods", "-n", "kueue-system", "-o", "name"],
    )
    .await
}

async fn restarts(platform: &Platform) -> String {
    let path = "jsonpath={.items[*].status.containerStatuses[*].restartCount}";
    kubectl(platform, &["get", "pods", "-n", "kueue-system", "-o", path]).await
}

async fn kubectl(platform: &Platform, arguments: &[&str]) -> String {
    ok(platform.kubectl(ENVIRONMENT, arguments)).await
}

const QUEUES: &str = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: e2e}
spec: {nodeLabels: {cassiopee.example/materiel: cpu}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: e2e}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: e2e, resources: [{name: cpu, nominalQuota: 2}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: e2e, namespace: equipe-vision}
spec: {clusterQueue: e2e}
";

const JOB: &str = "
apiVersion: batch/v1
kind: Job
metadata: {name: NAME, namespace: equipe-vision, labels: {kueue.x-k8s.io/queue-name: e2e}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, command: [sleep, \"1\"], resources: {requests: {cpu: 1}}}]
";

const REFUSAL: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: e2e-refusal}
spec:
  failurePolicy: Fail
  matchConstraints: {resourceRules: [{apiGroups: [batch], apiVersions: [v1], operations: [UPDATE], resources: [jobs]}]}
  validations: [{expression: \"object.metadata.name != 'refused' || object.spec.suspend\", message: not this one}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: e2e-refusal}
spec: {policyName: e2e-refusal, validationActions: [Deny]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: refused, namespace: equipe-vision}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, command: [sleep, \"1\"], resources: {requests: {cpu: 1}}}]
";
