//! The devices of one node and who may have which: what is advertised, which are preferred, what a container is given.
//! Everything follows from the node's name and its configuration, so that a restarted daemon speaks of the same devices.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::config::NodeGpus;
use crate::model::{self, Model};

/// Between the device and the number of its replica, as NVIDIA's plugin writes it.
const REPLICA: &str = "::";
/// Variables that a container finds.
pub const VISIBLE: &str = "NVIDIA_VISIBLE_DEVICES";
pub const ALLOCATION: &str = "ATELIER_GPU_ALLOCATION";
pub const REPORT: &str = "ATELIER_GPU_REPORT";
/// Where `nvidia-smi` looks inside a container, a folder a device.
pub const DEVICES_INSIDE: &str = "/run/nvidia/devices";
/// Where a training may report how busy it keeps its devices.
const REPORT_INSIDE: &str = "/run/atelier-gpu";
pub const REPORT_FILE: &str = "report.json";
const SMI_INSIDE: &str = "/usr/bin/nvidia-smi";

/// One physical device, so to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    pub index: u32,
    pub uuid: String,
    pub healthy: bool,
}

/// All devices of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inventory {
    pub node: String,
    pub model: &'static Model,
    pub devices: Vec<Device>,
    replicas: u32,
    one_at_most: bool,
}

/// What the kubelet is told of one id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advertised {
    pub id: String,
    pub healthy: bool,
}

/// Folders on the node that containers see parts of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    root: PathBuf,
}

/// A file or folder of the node inside a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    pub inside: String,
    pub on_node: PathBuf,
    pub read_only: bool,
}

/// What one container is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Names the allocation in the container's environment and in the folder of its report.
    pub key: String,
    pub envs: BTreeMap<String, String>,
    pub mounts: Vec<Mount>,
}

/// Why a container is refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("there is no device `{0}` on this node")]
    Unknown(String),
    #[error(
        "{0} replicas of shared GPUs were asked for: only 1 is allowed, more would not be faster"
    )]
    SeveralReplicas(usize),
    #[error("no device was asked for")]
    Nothing,
}

impl Folders {
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// State of one device, written by the daemon, read by `nvidia-smi`.
    #[must_use]
    pub fn device(&self, uuid: &str) -> PathBuf {
        self.root.join("devices").join(uuid)
    }

    /// Where the container of an allocation may leave its report.
    #[must_use]
    pub fn report(&self, key: &str) -> PathBuf {
        self.root.join("reports").join(key)
    }

    /// The program that containers are given.
    #[must_use]
    pub fn smi(&self) -> PathBuf {
        self.root.join("bin/nvidia-smi")
    }

    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }
}

impl Inventory {
    /// The devices of `node`; none when its configuration names a model that does not exist.
    #[must_use]
    pub fn new(node: &str, gpus: &NodeGpus) -> Option<Self> {
        let device = |index| Device {
            index,
            uuid: uuid(node, index),
            healthy: !gpus.unhealthy.contains(&index),
        };
        Some(Self {
            node: node.to_owned(),
            model: model::find(&gpus.model)?,
            devices: (0..gpus.count).map(device).collect(),
            replicas: gpus.replicas.max(1),
            one_at_most: gpus.fail_requests_greater_than_one && gpus.replicas > 1,
        })
    }

    /// Every id that the kubelet may hand out.
    #[must_use]
    pub fn advertised(&self) -> Vec<Advertised> {
        let ids = |device: &Device| {
            let (uuid, healthy) = (device.uuid.clone(), device.healthy);
            let id = move |replica| match self.replicas {
                1 => uuid.clone(),
                _ => format!("{uuid}{REPLICA}{replica}"),
            };
            (0..self.replicas).map(move |replica| Advertised {
                id: id(replica),
                healthy,
            })
        };
        self.devices.iter().flat_map(ids).collect()
    }

    /// Which of the available ids to take: the device that is shared least comes first, then the one with the lowest index.
    #[must_use]
    pub fn prefer(&self, available: &[String], must: &[String], size: usize) -> Vec<String> {
        let mut chosen: Vec<String> = must.to_vec();
        let mut left: Vec<&String> = available.iter().filter(|id| !must.contains(id)).collect();
        left.sort();
        while chosen.len() < size && !left.is_empty() {
            let free = |id: &str| left.iter().filter(|o| physical(o) == physical(id)).count();
            let order = |id: &str| (usize::MAX - free(id), self.index(id), id.to_owned());
            let Some(best) = left.iter().map(|id| order(id)).min() else {
                break;
            };
            left.retain(|id| **id != best.2);
            chosen.push(best.2);
        }
        chosen
    }

    /// What a container with these ids is given.
    ///
    /// # Errors
    /// When an id is not of this node, or when sharing forbids what is asked for.
    pub fn grant(&self, ids: &[String], folders: &Folders) -> Result<Grant, Refusal> {
        if self.one_at_most && ids.len() > 1 {
            return Err(Refusal::SeveralReplicas(ids.len()));
        }
        let uuids: BTreeSet<(u32, &str)> = ids
            .iter()
            .map(|id| {
                self.device(id)
                    .map(|device| (device.index, device.uuid.as_str()))
            })
            .collect::<Result<_, _>>()?;
        let key = key(ids).ok_or(Refusal::Nothing)?;
        let visible: Vec<&str> = uuids.iter().map(|(_, uuid)| *uuid).collect();
        let envs = [
            (VISIBLE, visible.join(",")),
            (ALLOCATION, key.clone()),
            (REPORT, format!("{REPORT_INSIDE}/{REPORT_FILE}")),
        ];
        Ok(Grant {
            envs: envs.map(|(name, value)| (name.to_owned(), value)).into(),
            mounts: mounts(&visible, &key, folders),
            key,
        })
    }

    fn device(&self, id: &str) -> Result<&Device, Refusal> {
        let known = self.advertised().iter().any(|one| one.id == id);
        let device = self
            .devices
            .iter()
            .find(|device| device.uuid == physical(id));
        device
            .filter(|_| known)
            .ok_or_else(|| Refusal::Unknown(id.to_owned()))
    }

    fn index(&self, id: &str) -> u32 {
        let device = self.devices.iter().find(|d| d.uuid == physical(id));
        device.map_or(u32::MAX, |device| device.index)
    }
}

/// The device behind an id, shared or not.
#[must_use]
pub fn physical(id: &str) -> &str {
    id.split_once(REPLICA).map_or(id, |(uuid, _)| uuid)
}

/// The replica's number, where a device is shared.
#[must_use]
pub fn replica(id: &str) -> Option<&str> {
    id.split_once(REPLICA).map(|(_, replica)| replica)
}

/// The name of an allocation: its lowest id, which belongs to one container at a time.
#[must_use]
pub fn key(ids: &[String]) -> Option<String> {
    ids.iter().min().map(|id| id.replace(REPLICA, "__"))
}

fn mounts(visible: &[&str], key: &str, folders: &Folders) -> Vec<Mount> {
    let device = |uuid: &&str| Mount {
        inside: format!("{DEVICES_INSIDE}/{uuid}"),
        on_node: folders.device(uuid),
        read_only: true,
    };
    let report = Mount {
        inside: REPORT_INSIDE.to_owned(),
        on_node: folders.report(key),
        read_only: false,
    };
    let smi = Mount {
        inside: SMI_INSIDE.to_owned(),
        on_node: folders.smi(),
        read_only: true,
    };
    visible.iter().map(device).chain([report, smi]).collect()
}

/// A device's identity, the same whenever the node is called the same.
fn uuid(node: &str, index: u32) -> String {
    let digest = hex::encode(Sha256::digest(format!("{node}/{index}")));
    let part = |from: usize, to: usize| digest.get(from..to).unwrap_or_default();
    format!(
        "GPU-{}-{}-{}-{}-{}",
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32)
    )
}

#[cfg(test)]
mod tests;
