//! The GPU models a profile can name, with the labels that NVIDIA's GPU Feature Discovery puts on such nodes.

use std::collections::BTreeMap;

/// Resource name of NVIDIA devices.
pub(super) const RESOURCE: &str = "nvidia.com/gpu";
/// Taint that keeps pods without GPUs away, as the GPU operator's documentation proposes it.
pub(super) const TAINT: &str = "nvidia.com/gpu=present:NoSchedule";

pub(super) struct Model {
    pub(super) name: &'static str,
    product: &'static str,
    memory_mib: u32,
    family: &'static str,
    compute: (u8, u8),
    machine: &'static str,
    mig: bool,
}

const MODELS: [Model; 3] = [
    Model {
        name: "a100-sxm4-80gb",
        product: "NVIDIA-A100-SXM4-80GB",
        memory_mib: 81_920,
        family: "ampere",
        compute: (8, 0),
        machine: "PowerEdge-XE8545",
        mig: true,
    },
    Model {
        name: "v100-sxm2-32gb",
        product: "Tesla-V100-SXM2-32GB",
        memory_mib: 32_768,
        family: "volta",
        compute: (7, 0),
        machine: "PowerEdge-C4140",
        mig: false,
    },
    Model {
        name: "h100-sxm5-80gb",
        product: "NVIDIA-H100-80GB-HBM3",
        memory_mib: 81_559,
        family: "hopper",
        compute: (9, 0),
        machine: "PowerEdge-XE9680",
        mig: true,
    },
];

/// The model of that name.
pub(super) fn model(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.name == name)
}

/// The names a profile can use, for messages.
pub(super) fn names() -> String {
    MODELS
        .iter()
        .map(|model| model.name)
        .collect::<Vec<_>>()
        .join(", ")
}

impl Model {
    /// Labels of a node with `count` devices of this model.
    pub(super) fn labels(&self, count: u32) -> BTreeMap<String, String> {
        let (major, minor) = self.compute;
        let of_model = [
            ("nvidia.com/gpu.product", self.product.to_owned()),
            ("nvidia.com/gpu.family", self.family.to_owned()),
            ("nvidia.com/gpu.machine", self.machine.to_owned()),
            ("nvidia.com/gpu.memory", self.memory_mib.to_string()),
            ("nvidia.com/gpu.compute.major", major.to_string()),
            ("nvidia.com/gpu.compute.minor", minor.to_string()),
            ("nvidia.com/mig.capable", self.mig.to_string()),
            ("nvidia.com/gpu.count", count.to_string()),
        ];
        let of_any = [
            ("nvidia.com/gpu.present", "true"),
            ("nvidia.com/gpu.replicas", "1"),
            ("nvidia.com/gpu.mode", "compute"),
            ("nvidia.com/gpu.sharing-strategy", "none"),
            ("nvidia.com/cuda.driver-version.full", "580.95.05"),
            ("nvidia.com/cuda.driver-version.major", "580"),
            ("nvidia.com/cuda.runtime-version.full", "13.0"),
            ("nvidia.com/cuda.runtime-version.major", "13"),
        ];
        let of_any = of_any
            .into_iter()
            .map(|(key, value)| (key, value.to_owned()));
        of_model
            .into_iter()
            .chain(of_any)
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
}
