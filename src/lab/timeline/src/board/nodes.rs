//! Nodes and who holds their devices.

use super::{BoardNode, BoardPod, owned};
use crate::{json, quantity::quantity, timeline::Timeline};
use serde_json::Value;
use std::collections::BTreeMap;

const GPU: &str = "nvidia.com/gpu";

pub(super) fn nodes(timeline: &Timeline) -> Vec<BoardNode> {
    let mut pods: BTreeMap<String, Vec<BoardPod>> = BTreeMap::new();
    for (namespace, name, version) in timeline.all("Pod") {
        let pod = version.object.as_ref();
        let over = matches!(
            json::text(pod, "status.phase"),
            Some("Succeeded" | "Failed")
        );
        let (Some(node), false) = (json::text(pod, "spec.nodeName"), over) else {
            continue;
        };
        let gpus = devices(pod);
        if gpus == 0 {
            continue;
        }
        let job = json::controller(pod)
            .and_then(|(_, uid)| timeline.attempt(uid))
            .map(|attempt| attempt.job.name.clone());
        let namespace = namespace.unwrap_or_default().to_owned();
        pods.entry(node.to_owned()).or_default().push(BoardPod {
            namespace,
            name: name.to_owned(),
            job,
            gpus,
        });
    }
    timeline
        .all("Node")
        .map(|(_, name, version)| {
            let node = version.object.as_ref();
            let label = |key: &str| {
                let labels = json::at(node, "metadata.labels")?;
                owned(labels.get(key)?.as_str())
            };
            BoardNode {
                name: name.to_owned(),
                ready: json::is_true(node, "Ready"),
                schedulable: json::at(node, "spec.unschedulable").and_then(Value::as_bool)
                    != Some(true),
                gpus: whole(
                    json::at(node, "status.allocatable")
                        .and_then(|all| all.get(GPU))
                        .and_then(quantity),
                ),
                product: label("nvidia.com/gpu.product"),
                rack: label("topology.kubernetes.io/rack")
                    .or_else(|| label("topology.atelier.kueue/rack")),
                pods: pods.remove(name).unwrap_or_default(),
            }
        })
        .collect()
}

fn devices(pod: &Value) -> u32 {
    let containers = json::items(pod, "spec.containers").iter();
    let wanted = containers.filter_map(|container| {
        let resources = container.get("resources")?;
        let limit = json::at(resources, "limits").and_then(|all| all.get(GPU));
        limit
            .or_else(|| json::at(resources, "requests").and_then(|all| all.get(GPU)))
            .and_then(quantity)
    });
    whole(Some(wanted.sum()))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the range just before"
)]
fn whole(amount: Option<f64>) -> u32 {
    amount.unwrap_or(0.0).clamp(0.0, 10_000.0) as u32
}
