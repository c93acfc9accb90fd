//! The GPU models that a node can pretend to have, with the labels that NVIDIA's GPU Feature Discovery puts on such nodes.

use std::collections::BTreeMap;

use crate::{CUDA, DRIVER};

/// One model.
#[derive(Debug, PartialEq, Eq)]
pub struct Model {
    /// As profiles and configurations name it.
    pub name: &'static str,
    /// As the driver names it; the label is the same with dashes.
    pub product: &'static str,
    pub memory_mib: u32,
    family: &'static str,
    compute: (u8, u8),
    machine: &'static str,
    mig: bool,
    /// Watts without work, and the limit.
    pub watts: (u16, u16),
    /// Megahertz without work, and under load.
    pub clock: (u16, u16),
}

const MODELS: [Model; 3] = [
    Model {
        name: "a100-sxm4-80gb",
        product: "NVIDIA A100-SXM4-80GB",
        memory_mib: 81_920,
        family: "ampere",
        compute: (8, 0),
        machine: "PowerEdge-XE8545",
        mig: true,
        watts: (58, 400),
        clock: (210, 1410),
    },
    Model {
        name: "v100-sxm2-32gb",
        product: "Tesla V100-SXM2-32GB",
        memory_mib: 32_768,
        family: "volta",
        compute: (7, 0),
        machine: "PowerEdge-C4140",
        mig: false,
        watts: (42, 300),
        clock: (135, 1530),
    },
    Model {
        name: "h100-sxm5-80gb",
        product: "NVIDIA H100 80GB HBM3",
        memory_mib: 81_559,
        family: "hopper",
        compute: (9, 0),
        machine: "PowerEdge-XE9680",
        mig: true,
        watts: (70, 700),
        clock: (345, 1980),
    },
];

/// The model of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.name == name)
}

/// The names that can be used, for messages.
#[must_use]
pub fn names() -> String {
    MODELS
        .iter()
        .map(|model| model.name)
        .collect::<Vec<_>>()
        .join(", ")
}

impl Model {
    /// Labels of a node with `count` devices of this model, each shared by `replicas`.
    #[must_use]
    pub fn labels(&self, count: u32, replicas: u32) -> BTreeMap<String, String> {
        let (major, minor) = self.compute;
        let shared = replicas > 1;
        let product = self.product.replace(' ', "-");
        let product = if shared {
            format!("{product}-SHARED")
        } else {
            product
        };
        let sharing = if shared { "time-slicing" } else { "none" };
        let labels = [
            ("nvidia.com/gpu.present", "true".to_owned()),
            ("nvidia.com/gpu.product", product),
            ("nvidia.com/gpu.family", self.family.to_owned()),
            ("nvidia.com/gpu.machine", self.machine.to_owned()),
            ("nvidia.com/gpu.memory", self.memory_mib.to_string()),
            ("nvidia.com/gpu.compute.major", major.to_string()),
            ("nvidia.com/gpu.compute.minor", minor.to_string()),
            ("nvidia.com/gpu.count", count.to_string()),
            ("nvidia.com/gpu.replicas", replicas.max(1).to_string()),
            ("nvidia.com/gpu.mode", "compute".to_owned()),
            ("nvidia.com/gpu.sharing-strategy", sharing.to_owned()),
            ("nvidia.com/mig.capable", self.mig.to_string()),
            ("nvidia.com/cuda.driver-version.full", DRIVER.to_owned()),
            ("nvidia.com/cuda.driver-version.major", first(DRIVER)),
            ("nvidia.com/cuda.runtime-version.full", CUDA.to_owned()),
            ("nvidia.com/cuda.runtime-version.major", first(CUDA)),
        ];
        labels
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
}

fn first(version: &str) -> String {
    version.split('.').next().unwrap_or(version).to_owned()
}

#[cfg(test)]
mod tests;
