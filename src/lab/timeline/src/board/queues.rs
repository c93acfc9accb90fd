//! ClusterQueues with what they hold and lend.

use super::{BoardQueue, BoardWorkload, FlavorUse, WorkloadState, number, owned};
use crate::{json, quantity::quantity, timeline::Timeline};
use serde_json::Value;

pub(super) fn queues(timeline: &Timeline, workloads: &[BoardWorkload]) -> Vec<BoardQueue> {
    timeline
        .all("ClusterQueue")
        .map(|(_, name, version)| {
            let object = version.object.as_ref();
            let active = json::is_true(object, "Active");
            let condition = json::condition(object, "Active").filter(|_| !active);
            let local_queues: Vec<String> = timeline
                .all("LocalQueue")
                .filter(|(_, _, version)| {
                    json::text(&version.object, "spec.clusterQueue") == Some(name)
                })
                .map(|(namespace, local, _)| format!("{}/{local}", namespace.unwrap_or_default()))
                .collect();
            let leads_here = |workload: &&BoardWorkload| {
                local_queues.contains(&format!("{}/{}", workload.namespace, workload.local_queue))
            };
            let waiting = |workload: &&BoardWorkload| {
                matches!(
                    workload.state,
                    WorkloadState::Queued | WorkloadState::Evicted
                ) && leads_here(workload)
            };
            let holding = |workload: &&BoardWorkload| {
                workload.cluster_queue.as_deref() == Some(name)
                    && workload.state != WorkloadState::Finished
            };
            BoardQueue {
                name: name.to_owned(),
                cohort: owned(json::text(object, "spec.cohortName")),
                active,
                reason: condition.and_then(|condition| owned(json::text(condition, "reason"))),
                message: condition.and_then(|condition| owned(json::text(condition, "message"))),
                pending: workloads.iter().filter(waiting).count(),
                admitted: workloads.iter().filter(holding).count(),
                flavors: flavors(object),
                local_queues,
            }
        })
        .collect()
}

fn flavors(queue: &Value) -> Vec<FlavorUse> {
    let mut uses = Vec::new();
    for group in json::items(queue, "spec.resourceGroups") {
        for flavor in json::items(group, "flavors") {
            let name = json::text(flavor, "name").unwrap_or_default();
            for resource in json::items(flavor, "resources") {
                let resource_name = json::text(resource, "name").unwrap_or_default();
                let used = usage(queue, name, resource_name);
                let nominal = resource
                    .get("nominalQuota")
                    .and_then(quantity)
                    .unwrap_or(0.0);
                let used_amount = used
                    .and_then(|used| used.get("total"))
                    .and_then(quantity)
                    .unwrap_or(0.0);
                uses.push(FlavorUse {
                    flavor: name.to_owned(),
                    resource: resource_name.to_owned(),
                    nominal: number(resource.get("nominalQuota")),
                    borrowing_limit: resource
                        .get("borrowingLimit")
                        .map(|limit| number(Some(limit))),
                    lending_limit: resource
                        .get("lendingLimit")
                        .map(|limit| number(Some(limit))),
                    used: number(used.and_then(|used| used.get("total"))),
                    borrowed: number(used.and_then(|used| used.get("borrowed"))),
                    share: if nominal > 0.0 {
                        used_amount / nominal
                    } else {
                        0.0
                    },
                });
            }
        }
    }
    uses
}

/// What is reserved of a flavor and resource, as the controller wrote it.
fn usage<'a>(queue: &'a Value, flavor: &str, resource: &str) -> Option<&'a Value> {
    let by_name = |items: &'a [Value], name: &str| {
        items
            .iter()
            .find(|item| json::text(item, "name") == Some(name))
    };
    let flavors = json::items(queue, "status.flavorsReservation");
    let flavor = by_name(flavors, flavor)?;
    by_name(json::items(flavor, "resources"), resource)
}
