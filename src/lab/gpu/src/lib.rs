//! Faked GPUs of one node: a device plugin for the kubelet, an `nvidia-smi` for containers, an exporter with DCGM's names.
//!
//! What is decided (which devices there are, who gets which, how busy each is, what is printed) are functions of values in
//! [`model`], [`config`], [`inventory`], [`usage`], [`smi`] and [`metrics`]. Around them are thin adapters: [`plugin`] speaks
//! gRPC with the kubelet, [`measure`] reads `/proc` and cgroups, [`daemon`] ties them together. Start reading at [`inventory`].
//!
//! There is no GPU: a device is a name that a container holds. How busy it looks follows from what its container really does.

pub mod config;
pub mod daemon;
pub mod declared;
pub mod inventory;
pub mod measure;
pub mod metrics;
pub mod model;
pub mod plugin;
pub mod smi;
pub mod usage;
pub mod watch;
pub mod wire;

/// The resource under which devices are counted.
pub const RESOURCE: &str = "nvidia.com/gpu";
/// Taint that keeps pods without GPUs away, as the GPU operator's documentation proposes it.
pub const TAINT: &str = "nvidia.com/gpu=present:NoSchedule";
/// What `nvidia-smi` and the node's labels call the driver.
pub const DRIVER: &str = "580.95.05";
/// The CUDA version that goes with [`DRIVER`].
pub const CUDA: &str = "13.0";
