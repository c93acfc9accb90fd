//! The present of a cluster as people want to see it: queues with what they hold and who waits why, GPU nodes with their devices.

use crate::{
    json,
    quantity::{parse, quantity},
    timeline::Timeline,
};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Board {
    pub queues: Vec<BoardQueue>,
    /// Workloads that are not finished, and those that are, the latest first; never those that are gone.
    pub workloads: Vec<BoardWorkload>,
    pub nodes: Vec<BoardNode>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardQueue {
    pub name: String,
    pub cohort: Option<String>,
    pub active: bool,
    /// Why it is not active.
    pub reason: Option<String>,
    pub message: Option<String>,
    pub pending: usize,
    pub admitted: usize,
    pub flavors: Vec<FlavorUse>,
    /// `namespace/name` of the LocalQueues that lead to it.
    pub local_queues: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlavorUse {
    pub flavor: String,
    pub resource: String,
    pub nominal: String,
    pub borrowing_limit: Option<String>,
    pub lending_limit: Option<String>,
    pub used: String,
    pub borrowed: String,
    /// Used over nominal, 0 to 1 and above 1 when borrowing; 0 without a quota.
    pub share: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadState {
    Queued,
    Reserved,
    Admitted,
    Running,
    Evicted,
    Finished,
}

impl WorkloadState {
    pub fn key(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Reserved => "reserved",
            Self::Admitted => "admitted",
            Self::Running => "running",
            Self::Evicted => "evicted",
            Self::Finished => "finished",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardWorkload {
    pub namespace: String,
    pub name: String,
    /// The job it was made for.
    pub job: Option<String>,
    pub local_queue: String,
    pub cluster_queue: Option<String>,
    pub state: WorkloadState,
    /// Kueue's reason and message, for what waits or was evicted.
    pub reason: Option<String>,
    pub message: Option<String>,
    pub priority: i64,
    /// `resource` → amount over all pods.
    pub requests: BTreeMap<String, String>,
    pub flavors: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardNode {
    pub name: String,
    pub ready: bool,
    pub schedulable: bool,
    pub gpus: u32,
    /// `nvidia.com/gpu.product`.
    pub product: Option<String>,
    /// `topology.kubernetes.io/rack` or the like.
    pub rack: Option<String>,
    /// Pods that hold devices here; the rest are free.
    pub pods: Vec<BoardPod>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardPod {
    pub namespace: String,
    pub name: String,
    pub job: Option<String>,
    pub gpus: u32,
}

const GPU: &str = "nvidia.com/gpu";
/// Finished workloads that are still shown.
const FINISHED_SHOWN: usize = 20;

/// The board of the latest entry.
pub fn board(timeline: &Timeline) -> Board {
    let workloads = workloads(timeline);
    Board {
        queues: queues(timeline, &workloads),
        nodes: nodes(timeline),
        workloads,
    }
}

fn owned(value: Option<&str>) -> Option<String> {
    value.map(str::to_owned)
}

fn number(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => "0".to_owned(),
    }
}

fn queues(timeline: &Timeline, workloads: &[BoardWorkload]) -> Vec<BoardQueue> {
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

fn workloads(timeline: &Timeline) -> Vec<BoardWorkload> {
    let mut found: Vec<(u64, BoardWorkload)> = timeline
        .all("Workload")
        .map(|(namespace, name, version)| {
            (
                version.place.seq,
                workload(timeline, namespace, name, &version.object),
            )
        })
        .collect();
    found.sort_by_key(|(seq, workload)| {
        (
            workload.state == WorkloadState::Finished,
            std::cmp::Reverse(*seq),
        )
    });
    let mut finished = 0;
    found.retain(|(_, workload)| {
        finished += usize::from(workload.state == WorkloadState::Finished);
        workload.state != WorkloadState::Finished || finished <= FINISHED_SHOWN
    });
    found.into_iter().map(|(_, workload)| workload).collect()
}

fn workload(
    timeline: &Timeline,
    namespace: Option<&str>,
    name: &str,
    object: &Value,
) -> BoardWorkload {
    let state = state(timeline, object);
    let told = match state {
        WorkloadState::Queued => json::condition(object, "QuotaReserved"),
        WorkloadState::Evicted => json::condition(object, "Evicted"),
        WorkloadState::Finished => json::condition(object, "Finished"),
        WorkloadState::Reserved => json::condition(object, "Admitted"),
        WorkloadState::Admitted | WorkloadState::Running => None,
    };
    let mut flavors: Vec<String> = json::items(object, "status.admission.podSetAssignments")
        .iter()
        .filter_map(|set| set.get("flavors").and_then(Value::as_object))
        .flat_map(|flavors| {
            flavors
                .values()
                .filter_map(Value::as_str)
                .map(str::to_owned)
        })
        .collect();
    flavors.sort();
    flavors.dedup();
    let owner = json::items(object, "metadata.ownerReferences").first();
    BoardWorkload {
        namespace: namespace.unwrap_or_default().to_owned(),
        name: name.to_owned(),
        job: owner.and_then(|owner| owned(json::text(owner, "name"))),
        local_queue: json::text(object, "spec.queueName")
            .unwrap_or_default()
            .to_owned(),
        cluster_queue: owned(json::text(object, "status.admission.clusterQueue")),
        state,
        reason: told.and_then(|condition| owned(json::text(condition, "reason"))),
        message: told.and_then(|condition| owned(json::text(condition, "message"))),
        priority: json::at(object, "spec.priority")
            .and_then(Value::as_i64)
            .unwrap_or(0),
        requests: requests(object),
        flavors,
    }
}

fn state(timeline: &Timeline, object: &Value) -> WorkloadState {
    let is = |kind: &str| json::is_true(object, kind);
    if is("Finished") {
        return WorkloadState::Finished;
    }
    if is("Evicted") {
        return WorkloadState::Evicted;
    }
    if is("Admitted") {
        let job = json::controller(object).and_then(|(_, uid)| timeline.attempt(uid));
        let runs = job.is_some_and(|attempt| {
            let latest = attempt.facts.iter().rev().find(|fact| {
                matches!(
                    fact.name,
                    course::FactName::Running | course::FactName::Admitted
                )
            });
            latest.is_some_and(|fact| fact.name == course::FactName::Running)
        });
        return if runs {
            WorkloadState::Running
        } else {
            WorkloadState::Admitted
        };
    }
    if is("QuotaReserved") {
        WorkloadState::Reserved
    } else {
        WorkloadState::Queued
    }
}

/// What the pod sets ask for together. Amounts in the unit of the first request of that resource are not needed: plain numbers.
fn requests(workload: &Value) -> BTreeMap<String, String> {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    let mut only: BTreeMap<String, (String, u32)> = BTreeMap::new();
    for set in json::items(workload, "spec.podSets") {
        let count = set.get("count").and_then(Value::as_f64).unwrap_or(1.0);
        for container in json::items(set, "template.spec.containers") {
            let Some(wanted) = json::at(container, "resources.requests").and_then(Value::as_object)
            else {
                continue;
            };
            for (resource, value) in wanted {
                *sums.entry(resource.clone()).or_default() +=
                    count * quantity(value).unwrap_or(0.0);
                let entry = only
                    .entry(resource.clone())
                    .or_insert_with(|| (number(Some(value)), 0));
                entry.1 += if count > 1.0 { 2 } else { 1 };
            }
        }
    }
    sums.into_iter()
        .map(|(resource, sum)| {
            let written = only
                .get(&resource)
                .filter(|(text, times)| *times == 1 && parse(text).is_some());
            let text = written.map_or_else(|| plain(sum), |(text, _)| text.clone());
            (resource, text)
        })
        .collect()
}

/// A sum in the shortest unit that is exact enough to read.
fn plain(sum: f64) -> String {
    for (unit, size) in [("Gi", 1_073_741_824.0), ("Mi", 1_048_576.0)] {
        if sum >= size && (sum / size).fract() == 0.0 {
            return format!("{}{unit}", sum / size);
        }
    }
    if sum.fract() == 0.0 {
        format!("{sum}")
    } else {
        format!("{}m", (sum * 1000.0).round())
    }
}

fn nodes(timeline: &Timeline) -> Vec<BoardNode> {
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
                    .or_else(|| label("cassiopee.example/rack")),
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
