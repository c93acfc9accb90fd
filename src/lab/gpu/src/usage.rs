//! How busy each device is, from what its holders do. A device has no counters of its own: its utilisation is the share of one
//! core that the container's processes used (of the CPU limit, when that is less than a core), or what the training reports.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::inventory::{Device, Inventory, physical, replica};
use crate::model::Model;

/// A report that is older says nothing about now.
const FRESH: Duration = Duration::from_secs(15);
/// Degrees without work, and what full load adds.
const DEGREES: (f64, f64) = (34.0, 40.0);

/// Where a figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Nobody holds the device.
    Idle,
    /// CPU time of the container.
    Measured,
    /// The training's own report.
    Reported,
    /// An annotation of a simulated pod.
    Declared,
    /// A simulated pod that declares nothing.
    Assumed,
}

impl Source {
    /// As a label's value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Measured => "measured",
            Self::Reported => "reported",
            Self::Declared => "declared",
            Self::Assumed => "assumed",
        }
    }
}

/// What one container does with its devices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// 0 to 1.
    pub busy: f64,
    pub memory_mib: u64,
    pub source: Source,
}

/// CPU time that a container had used at some moment of a monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuSample {
    pub at: Duration,
    pub used: Duration,
    /// In cores.
    pub limit: Option<f64>,
}

/// A process that holds devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub pid: u32,
    pub name: String,
    pub memory_mib: u64,
}

/// A container as Kubernetes names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Owner {
    pub namespace: String,
    pub pod: String,
    pub container: String,
}

/// A container that holds devices.
#[derive(Debug, Clone, PartialEq)]
pub struct Holder {
    /// Absent while the kubelet does not say whose devices they are.
    pub owner: Option<Owner>,
    pub ids: Vec<String>,
    pub work: Work,
    pub processes: Vec<Process>,
}

/// One device as `nvidia-smi` and the exporter show it; the daemon writes it for containers as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    pub node: String,
    pub index: u32,
    pub uuid: String,
    pub model: String,
    pub healthy: bool,
    pub memory_total_mib: u64,
    pub memory_used_mib: u64,
    /// Percent.
    pub utilisation: u8,
    pub watts: f64,
    pub watts_limit: u16,
    pub degrees: u8,
    pub clock_mhz: u16,
    pub source: Source,
    /// Containers that share the device, with the number of their replica where it is time-sliced.
    pub owners: Vec<(Owner, Option<String>)>,
    pub processes: Vec<Process>,
}

/// What a training may write into its report.
#[derive(Debug, Deserialize)]
struct Report {
    /// Percent.
    utilisation: f64,
    memory_mib: Option<u64>,
}

/// The share of its cores that a container used between two samples, 0 to 1. None when no time passed.
#[must_use]
pub fn busy(before: CpuSample, after: CpuSample) -> Option<f64> {
    let passed = after.at.checked_sub(before.at)?.as_secs_f64();
    if passed <= 0.0 {
        return None;
    }
    // A sum over processes falls when one of them ends: that is no work, not negative work.
    let used = after.used.saturating_sub(before.used).as_secs_f64();
    let cores = after.limit.map_or(1.0, |limit| limit.min(1.0)).max(0.01);
    Some((used / passed / cores).clamp(0.0, 1.0))
}

/// What a report says, unless it is too old or not a report. `memory_mib` is what was measured.
#[must_use]
pub fn reported(text: &str, age: Duration, memory_mib: u64) -> Option<Work> {
    if age > FRESH {
        return None;
    }
    let report: Report = serde_json::from_str(text).ok()?;
    report.utilisation.is_finite().then(|| Work {
        busy: (report.utilisation / 100.0).clamp(0.0, 1.0),
        memory_mib: report.memory_mib.unwrap_or(memory_mib),
        source: Source::Reported,
    })
}

/// Every device of the node with what its holders do.
#[must_use]
pub fn readings(inventory: &Inventory, holders: &[Holder]) -> Vec<Reading> {
    let one = |device: &Device| reading(inventory, device, holders);
    inventory.devices.iter().map(one).collect()
}

fn reading(inventory: &Inventory, device: &Device, holders: &[Holder]) -> Reading {
    let model = inventory.model;
    let mine = |holder: &&Holder| holder.ids.iter().any(|id| physical(id) == device.uuid);
    let holders: Vec<&Holder> = holders.iter().filter(mine).collect();
    let busy: f64 = holders.iter().map(|holder| holder.work.busy).sum();
    let busy = if device.healthy { busy.min(1.0) } else { 0.0 };
    let memory: u64 = holders.iter().map(|holder| holder.work.memory_mib).sum();
    let source = holders.iter().map(|holder| holder.work.source).max();
    let mut owners: Vec<_> = holders
        .iter()
        .flat_map(|holder| owners(holder, &device.uuid))
        .collect();
    owners.sort();
    Reading {
        node: inventory.node.clone(),
        index: device.index,
        uuid: device.uuid.clone(),
        model: model.product.to_owned(),
        healthy: device.healthy,
        memory_total_mib: model.memory_mib.into(),
        memory_used_mib: memory.min(model.memory_mib.into()),
        utilisation: whole(busy * 100.0),
        watts: (watts(model, busy) * 10.0).round() / 10.0,
        watts_limit: model.watts.1,
        degrees: whole(DEGREES.1.mul_add(busy, DEGREES.0)),
        clock_mhz: if busy > 0.01 {
            model.clock.1
        } else {
            model.clock.0
        },
        source: source.unwrap_or(Source::Idle),
        owners,
        processes: holders.iter().flat_map(|h| h.processes.clone()).collect(),
    }
}

fn owners<'a>(
    holder: &'a Holder,
    uuid: &'a str,
) -> impl Iterator<Item = (Owner, Option<String>)> + 'a {
    let ids = holder.ids.iter().filter(move |id| physical(id) == uuid);
    ids.filter_map(|id| Some((holder.owner.clone()?, replica(id).map(str::to_owned))))
}

fn watts(model: &Model, busy: f64) -> f64 {
    let (idle, limit) = (f64::from(model.watts.0), f64::from(model.watts.1));
    // Training loads stay a little under the limit of the card.
    (0.92 * (limit - idle)).mul_add(busy, idle)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to what fits"
)]
fn whole(value: f64) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests;
