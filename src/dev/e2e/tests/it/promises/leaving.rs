//! Taking the controller away leaves what runs, and what it was told: Jobs go on, queues and Workloads stay, and it can be installed again.

use super::ground::{Ground, SYSTEM};
use crate::commands::{chart, ok};

pub(super) async fn hold(ground: Ground) {
    ground.queue(1).await;
    ground.job("runs", 1, 600).await;
    ground.wait("job/runs", "jsonpath={.status.ready}=1").await;
    let before = everything(&ground).await;
    let uninstall = ["uninstall", "kueue", "-n", SYSTEM, "--wait"];
    ok(ground.cluster.0.helm(super::ENVIRONMENT, uninstall)).await;
    assert_eq!(everything(&ground).await, before);
    let runs = ground
        .get("job/runs", "{.spec.suspend} {.status.active}")
        .await;
    assert_eq!(runs, "false 1", "the Job runs on");

    let strict = [
        "apply",
        "--server-side",
        "--force-conflicts",
        "--dry-run=server",
        "--validate=strict",
        "-f",
    ];
    let manifest = chart().join("kueue.yaml");
    ok(ground.cluster.kubectl(&strict).arg(manifest)).await;
}

/// The names of all queues and Workloads, with whether these are admitted.
async fn everything(ground: &Ground) -> String {
    let path = "jsonpath={range .items[*]}{.metadata.name} {.status.conditions[?(@.type==\"Admitted\")].status}{\"\\n\"}{end}";
    let kinds = "clusterqueues,localqueues,cohorts,workloads";
    ground.kubectl(&["get", kinds, "-A", "-o", path]).await
}
