//! What the operator chose, as far as the life of a Workload depends on it. Reference sections 2 and 3.

use std::time::Duration;

use cache::Words;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// How much is said about Workloads that are not admitted.
    pub words: Words,
    /// Finish Workloads whose job left them behind.
    pub finish_orphans: bool,
    /// How long finished Workloads are kept; none is for ever.
    pub keep_finished: Option<Duration>,
    /// When pods have to be ready; none is whenever they like.
    pub pods_ready: Option<PodsReady>,
    /// Whether Workloads may be gated by an annotation.
    pub admission_gates: bool,
    /// Whether Workloads may be kept from preempting by a gate.
    pub preemption_gates: bool,
    /// What becomes of Workloads that claim devices.
    pub devices: Devices,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            words: Words::Granular,
            finish_orphans: true,
            keep_finished: None,
            pods_ready: None,
            admission_gates: true,
            preemption_gates: false,
            devices: Devices::Counted,
        }
    }
}

/// When pods have to be ready, and how often a Workload is tried whose pods were not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PodsReady {
    /// From the admission to the moment when all pods are ready.
    pub timeout: Duration,
    /// From the moment when a pod failed to the moment when all are ready again; none is no limit.
    pub recovery_timeout: Option<Duration>,
    /// Tries; none is any number.
    pub limit: Option<i32>,
    /// Wait before the second try, doubled with each that follows.
    pub base: Duration,
    /// No wait is longer.
    pub longest: Duration,
    /// At most this part of a wait is added to it, so that not all come back at once.
    pub jitter: f64,
}

/// What becomes of Workloads that claim devices (gates `KueueDRAIntegration` and `KueueDRARejectWorkloadsWhenDRADisabled`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Devices {
    /// Templates of claims are looked at, claims are not.
    Counted,
    /// They are not admitted.
    Refused,
    /// Nobody looks.
    Ignored,
}
