//! The controller is killed without warning while one Job runs, one waits and one has left; it knows everything again from the API alone.

use exec::process::{Signal, signal_process};

use super::ground::Ground;
use crate::host::manager_in;
use crate::patience::until;

pub(super) async fn hold(ground: Ground) {
    ground.queue(2).await;
    ground.job("runs", 2, 600).await;
    ground.wait("job/runs", "jsonpath={.status.ready}=1").await;
    ground.job("waits", 1, 600).await;
    let waits = ground.workload_of("waits").await;
    ground.wait(&waits, "condition=QuotaReserved=False").await;
    let before = conditions(&ground).await;

    let platform = &ground.cluster.0;
    let killed = manager_in(platform, super::ENVIRONMENT);
    signal_process(killed, Signal::KILL);
    // Somebody submits while nobody is there to see it: only Jobs that name no queue, and queues, could be made; so a queue is widened.
    until("another process is the manager", async || {
        crate::host::managers_in(platform, super::ENVIRONMENT)
            .iter()
            .any(|pid| *pid != killed)
    })
    .await;
    ground.cluster.manager_is_ready().await;
    assert_eq!(
        conditions(&ground).await,
        before,
        "nothing that was is told anew"
    );

    // What was known before counts: there is room for one more only once the queue is widened.
    let wider = r#"[{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota","value":"3"}]"#;
    let queue = format!("clusterqueue/{}", ground.name);
    until("the queue can be changed", async || {
        let patch = ground.command(&["patch", &queue, "--type=json", "-p", wider]);
        patch
            .output()
            .await
            .is_ok_and(|output| output.code == Some(0))
    })
    .await;
    ground.wait("job/waits", "jsonpath={.status.ready}=1").await;
    ground
        .field("clusterqueue/NS", "{.status.reservingWorkloads}", "2")
        .await;
}

/// Conditions of all Workloads, with their times.
async fn conditions(ground: &Ground) -> String {
    let path = "jsonpath={range .items[*]}{.metadata.name} {.status.conditions}{end}";
    ground.kubectl(&["get", "workloads", "-o", path]).await
}
