//! waitForPodsReady: a Job whose pods never become ready leaves, comes back after its pause, leaves again and is deactivated; one whose
//! pods are ready stays. Its settings are the controller's, so the chart is upgraded: Jobs that ran go on.

use super::ground::{Ground, job};

/// Long enough for simulated pods on a busy machine.
const SETTINGS: &str = "
waitForPodsReady:
  timeout: 8s
  recoveryTimeout: 8s
  requeuingStrategy: {timestamp: Eviction, backoffLimitCount: 1, backoffBaseSeconds: 1}
integrations: {frameworks: [batch/job]}
";

pub(super) async fn hold(ground: Ground) {
    ground.queue(3).await;
    ground.job("runs", 1, 600).await;
    ground.wait("job/runs", "jsonpath={.status.ready}=1").await;
    let started = ground.get("job/runs", "{.status.startTime}").await;
    ground.cluster.helm("upgrade", SETTINGS, &[]).await;

    let never = job("never", 1, 600).replace(
        "  template:\n",
        "  template:\n    metadata: {annotations: {atelier.kueue/never-ready: \"true\"}}\n",
    );
    ground.apply(&never).await;
    ground.job("ready", 1, 600).await;
    let never = ground.workload_of("never").await;
    ground.wait(&never, "condition=Evicted").await;
    ground
        .field(&never, "{.status.requeueState.count}", "1")
        .await;
    ground.wait(&never, "jsonpath={.spec.active}=false").await;
    let reason = "{.status.conditions[?(@.type==\"Evicted\")].reason}";
    ground
        .field(&never, reason, "DeactivatedDueToRequeuingLimitExceeded")
        .await;

    let ready = ground.workload_of("ready").await;
    ground.wait(&ready, "condition=PodsReady").await;
    let evictions = "{.status.conditions[?(@.type==\"Evicted\")].status}";
    assert_eq!(ground.get(&ready, evictions).await, "");
    let still = ground.get("job/runs", "{.status.startTime}").await;
    assert_eq!(still, started, "an upgrade stops nobody");
}
