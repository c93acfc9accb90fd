//! What breaks on a real cluster while trainings run on it: a device, and a whole node.

use exec::Cmd;
use serde_json::Value;

use super::{Cluster, fingerprint, numbers};
use crate::commands::ok;
use crate::patience::until;

const SLOW: &str = "--pas 60 --tous-les 5 --journal 1 --attente-donnees 0.5";

/// A broken device is no longer offered, and whoever works on it goes on; repaired, it is there again.
pub(super) async fn a_device_breaks_under_a_running_pod(cluster: &Cluster) {
    let endless = "--pas 100000 --attente-donnees 0.5";
    cluster.train("fragile", "cours", endless).await;
    let state =
        "get pods -n equipe-vision -l job-name=fragile -o jsonpath={.items[*].status.phase}";
    until("it runs", async || cluster.ask(state).await == "Running").await;
    let node = cluster
        .kubectl(
            "get pods -n equipe-vision -l job-name=fragile -o jsonpath={.items[0].spec.nodeName}",
        )
        .await;
    let offered = format!("get node {node} -o jsonpath={{.status.allocatable.nvidia\\.com/gpu}}");
    assert_eq!(cluster.kubectl(&offered).await, "2");
    break_first_device(cluster, &node, true).await;
    until("one device is offered", async || {
        cluster.ask(&offered).await == "1"
    })
    .await;
    let pod = "get pods -n equipe-vision -l job-name=fragile -o jsonpath={.items[0].metadata.name}";
    let pod = cluster.kubectl(pod).await;
    let health = format!("exec -n equipe-vision {pod} -- nvidia-smi");
    let seen = cluster.kubectl(&health).await;
    assert!(seen.contains("A100"), "{seen}");
    assert_eq!(cluster.ask(state).await, "Running");
    break_first_device(cluster, &node, false).await;
    until("both are offered", async || {
        cluster.ask(&offered).await == "2"
    })
    .await;
    cluster
        .kubectl("delete job -n equipe-vision fragile --wait")
        .await;
}

/// The pod ends with its node, and its Job's next one goes on from the checkpoint, on GPUs that are there again.
pub(super) async fn a_training_outlives_its_node(cluster: &Cluster) {
    let arguments = format!("{SLOW} --points /points/panne");
    cluster.train("panne", "cours", &arguments).await;
    until("it has written a checkpoint", async || {
        cluster.log("panne").await.contains("pas=10")
    })
    .await;
    let node = cluster
        .kubectl(
            "get pods -n equipe-vision -l job-name=panne -o jsonpath={.items[0].spec.nodeName}",
        )
        .await;
    let provider = format!("get node {node} -o jsonpath={{.spec.providerID}}");
    let provider = cluster.kubectl(&provider).await;
    let container = provider.rsplit('/').next().unwrap_or_default().to_owned();
    ok(Cmd::new("docker").args(["kill", &container])).await;
    let succeeded = "get job panne -n equipe-vision -o jsonpath={.status.succeeded}";
    until("the training ends well", async || {
        cluster.ask(succeeded).await == "1"
    })
    .await;
    // Of the pod that died with its node, nothing may be left to read.
    let last = "get pods -n equipe-vision -l job-name=panne --field-selector=status.phase=Succeeded -o name";
    let last = cluster.kubectl(last).await;
    let log = cluster
        .kubectl(&format!("logs -n equipe-vision {}", last.trim()))
        .await;
    assert!(
        numbers(&log, "reprend au pas ")
            .iter()
            .any(|step| *step >= 5),
        "it started over:\n{log}"
    );
    assert!(fingerprint(&log).is_some(), "no result:\n{log}");
}

async fn break_first_device(cluster: &Cluster, node: &str, broken: bool) {
    let config = "get configmap atelier-gpu -n atelier-gpu -o jsonpath={.data.config\\.json}";
    let config = cluster.kubectl(config).await;
    let mut config: Value = serde_json::from_str(&config).expect("it is JSON");
    config["nodes"][node]["unhealthy"] = if broken { vec![0] } else { Vec::new() }.into();
    let patch = serde_json::json!({"data": {"config.json": config.to_string()}}).to_string();
    let args = [
        "patch",
        "configmap",
        "atelier-gpu",
        "-n",
        "atelier-gpu",
        "--type=merge",
        "-p",
        &patch,
    ];
    ok(cluster.0.kubectl(super::ENVIRONMENT, args)).await;
}
