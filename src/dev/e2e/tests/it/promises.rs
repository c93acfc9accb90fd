//! What the controller promises, on one real cluster: an environment, the chart, and a file for each promise below. Those that leave the
//! controller alone are kept side by side, each in a namespace of its own; those that stop, kill or starve it follow one by one.

mod bad_objects;
mod bridge;
mod certificates;
mod fair_sharing;
mod follower;
mod ground;
mod jobs_deployment;
mod jobs_pod;
mod jobs_stateful_set;
mod leaving;
mod metrics;
mod pods_ready;
mod preemption;
mod restart;
mod topology;
mod visibility;
mod webhook;

use std::pin::Pin;
use std::sync::Arc;

use testkit::{Platform, Programs};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::{commands::ok, machine};
use ground::{Cluster, ENVIRONMENT, Ground};

/// Room for all that run side by side, on two nodes that Jobs can be sent to.
const PROFILE: &str = "
name: promesses
title: {fr: Deux grands nœuds, en: Two large nodes}
pools:
  - name: cpu
    count: 2
    capacity: {cpu: 100, memory: 400Gi, ephemeral-storage: 200Gi}
    labels: {cassiopee.example/materiel: cpu}
    zone: salle-a
    racks: [baie-1, baie-2]
";

/// What every promise but those about other settings is kept under.
const SETTINGS: &str = "
fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}
integrations: {frameworks: [batch/job, pod, deployment, statefulset]}
";

type Kept = Pin<Box<dyn Future<Output = ()>>>;
/// A promise: its name, which is its namespace's too, and what holds it.
type Promise = (&'static str, fn(Ground) -> Kept);

macro_rules! promises {
    ($($module:ident),*) => { &[$((stringify!($module), |ground| Box::pin($module::hold(ground)))),*] };
}

const SIDE_BY_SIDE: &[Promise] = promises![
    fair_sharing,
    jobs_deployment,
    jobs_pod,
    jobs_stateful_set,
    metrics,
    preemption,
    topology,
    visibility,
    webhook
];
const ONE_BY_ONE: &[Promise] = promises![
    restart,
    certificates,
    follower,
    pods_ready,
    bad_objects,
    leaving
];

#[tokio::test(flavor = "multi_thread")]
async fn the_controller_keeps_its_promises() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let _machine = machine::places(machine::ALL).await;
    let course = tempfile::tempdir().expect("a temporary folder");
    let profiles = course.path().join("profiles");
    std::fs::create_dir(&profiles).expect("a folder");
    std::fs::write(profiles.join("promesses.yaml"), PROFILE).expect("a file");
    let platform = Arc::new(Platform::with_labs(&programs, course.path()));
    let create = ["env", "create", ENVIRONMENT, "--profile", "promesses"];
    ok(platform.atelier(create)).await;
    let cluster = Cluster(platform.clone());
    cluster.helm("install", SETTINGS, &[]).await;
    let mut broken = keep(&cluster, SIDE_BY_SIDE).await;
    for promise in ONE_BY_ONE {
        broken.extend(keep(&cluster, std::slice::from_ref(promise)).await);
    }
    assert_eq!(broken, Vec::<&str>::new(), "promises broken; see above");
}

/// Keeps some promises side by side, and gives the names of those that were broken. What was seen is in the output of the test.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test has no main: PROMISES=restart,webhook keeps only these, and what was kept is told as it happens"
)]
async fn keep(cluster: &Cluster, promises: &[Promise]) -> Vec<&'static str> {
    let only = std::env::var("PROMISES").unwrap_or_default();
    let mut kept = JoinSet::new();
    for &(name, hold) in promises {
        if !only.is_empty() && !only.split(',').any(|wanted| wanted == name) {
            continue;
        }
        let (ground, machine) = (Ground::new(cluster.clone(), name), Handle::current());
        kept.spawn(async move {
            // A thread of its own, because what waits for conditions by closures cannot be moved between threads.
            let held = tokio::task::spawn_blocking(move || {
                machine.block_on(async {
                    ground.open().await;
                    hold(ground).await;
                });
            });
            (name, held.await.is_err())
        });
    }
    let mut broken = Vec::new();
    while let Some(Ok((name, failed))) = kept.join_next().await {
        eprintln!("{name}: {}", if failed { "BROKEN" } else { "kept" });
        broken.extend(failed.then_some(name));
    }
    broken
}
