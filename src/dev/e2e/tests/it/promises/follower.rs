//! Two replicas: the leader is killed, and the other one, which has been following all the time, goes on. A killed leader gives nothing back,
//! so this is the takeover of a lease that ran out.

use exec::process::{Signal, signal_process};

use super::ground::{Ground, MANAGER, SYSTEM};
use crate::commands::ok;
use crate::host::{managers_in, pod_of};
use crate::patience::until;

const LEASE: &str = "lease/c1f6bfd2.kueue.x-k8s.io";

pub(super) async fn hold(ground: Ground) {
    ground.queue(3).await;
    ground.job("before", 1, 600).await;
    ground
        .wait("job/before", "jsonpath={.status.ready}=1")
        .await;
    scale(&ground, "2").await;
    let leader = leader(&ground).await;
    let platform = &ground.cluster.0;
    let pids = managers_in(platform, super::ENVIRONMENT);
    assert_eq!(pids.len(), 2, "both run");
    let of_leader = |pid: &u32| pod_of(*pid).is_some_and(|pod| leader.starts_with(&pod));
    let pid = pids
        .into_iter()
        .find(of_leader)
        .expect("the leader runs here");

    signal_process(pid, Signal::KILL);
    until("the other one leads", async || {
        let now = self::leader(&ground).await;
        now != leader && !now.is_empty()
    })
    .await;
    until("a Job can be submitted", async || {
        let apply = ground.applying(&super::ground::job("after", 1, 600));
        apply
            .output()
            .await
            .is_ok_and(|output| output.code == Some(0))
    })
    .await;
    ground.wait("job/after", "jsonpath={.status.ready}=1").await;
    ground
        .field("clusterqueue/NS", "{.status.reservingWorkloads}", "2")
        .await;
    scale(&ground, "1").await;
}

async fn scale(ground: &Ground, replicas: &str) {
    let replicas = format!("--replicas={replicas}");
    ok(ground
        .cluster
        .kubectl(&["scale", "-n", SYSTEM, MANAGER, &replicas]))
    .await;
    ground.cluster.manager_is_ready().await;
}

/// Who holds the lease.
async fn leader(ground: &Ground) -> String {
    let path = "jsonpath={.spec.holderIdentity}";
    ok(ground
        .cluster
        .kubectl(&["get", "-n", SYSTEM, LEASE, "-o", path]))
    .await
}
