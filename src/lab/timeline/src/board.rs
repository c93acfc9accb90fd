//! The present of a cluster as people want to see it: queues with what they hold and who waits why, GPU nodes with their devices.

mod nodes;
mod queues;
mod workloads;

use crate::timeline::Timeline;
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

/// The board of the latest entry.
pub fn board(timeline: &Timeline) -> Board {
    let workloads = workloads::workloads(timeline);
    Board {
        queues: queues::queues(timeline, &workloads),
        nodes: nodes::nodes(timeline),
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
