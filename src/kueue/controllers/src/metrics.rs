//! The metrics of the controller under the names of the reference (`kueue-reference.md` 6). Counters and histograms follow what
//! happens to Workloads (`transitions.rs`); gauges are read from the world when somebody asks (`gauges.rs`).

mod custom;
mod gauges;
mod groups;
mod record;
mod transitions;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use kube::core::{Selector, SelectorExt};
use kueue_api::v1beta2::LocalQueue;
use parking_lot::Mutex;
use telemetry::metrics::{Counters, Histograms, Registry, register_counter, register_histogram};

use crate::role::CurrentRole;

use groups::{Counts, Elsewhere, Waits, exponential};

pub use custom::{Custom, CustomLabels};
pub use gauges::{Build, WorldGauges};
pub use record::Around;

const DEFAULT: [f64; 11] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// What is shown, as the configuration and the gates say.
#[derive(Clone, Debug)]
pub struct Options {
    /// LocalQueues that have metrics; none for all of them, and a selector that matches nothing for none.
    pub local_queues: Option<Selector>,
    /// Whether LocalQueues have metrics at all.
    pub with_local_queues: bool,
    pub with_cohorts: bool,
    pub with_creation_latency: bool,
    pub with_shapes: bool,
    pub with_unadmitted: bool,
    /// `metrics.enableClusterQueueResources`.
    pub with_resources: bool,
    pub custom: CustomLabels,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            local_queues: None,
            with_local_queues: true,
            with_cohorts: true,
            with_creation_latency: true,
            with_shapes: true,
            with_unadmitted: true,
            with_resources: false,
            custom: CustomLabels::default(),
        }
    }
}

impl Options {
    /// Whether a LocalQueue has metrics.
    #[must_use]
    pub fn shows(&self, queue: &LocalQueue) -> bool {
        let labels = queue.metadata.labels.clone().unwrap_or_default();
        let chosen = self
            .local_queues
            .as_ref()
            .is_none_or(|selector| selector.matches(&labels));
        self.with_local_queues && chosen
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Metrics {
    pub(crate) options: Arc<Options>,
    role: CurrentRole,
    attempts: Counters,
    attempt_seconds: Histograms,
    creation_seconds: Option<Histograms>,
    gate_seconds: Histograms,
    counts: Counts,
    waits: Waits,
    evicted_once: Counters,
    eviction_latency: Histograms,
    ready_to_evicted: Histograms,
    preempted: Counters,
    recomputed: Counters,
    admitted_below: Option<Counters>,
    unreadable: Counters,
    elsewhere: Elsewhere,
    /// Preemptions that the last cycle left out.
    skipped: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl Metrics {
    /// Registers everything that is counted.
    #[must_use]
    pub fn register(r: &mut Registry, role: CurrentRole, options: Options) -> Self {
        let doubled = |n: u32| (0..n).map(|i| 0.01 * f64::from(1_u32 << i)).collect();
        let mut histogram = |name: &str, help: &str, buckets: Vec<f64>| {
            register_histogram(r, &format!("kueue_{name}"), help, buckets)
        };
        let attempt_seconds = histogram(
            "admission_attempt_duration_seconds",
            "Duration of a scheduling cycle",
            DEFAULT.to_vec(),
        );
        let creation_seconds = options.with_creation_latency.then(|| {
            let help = "From a job's creation to that of its Workload";
            histogram("workload_creation_latency_seconds", help, doubled(11))
        });
        let gate_seconds = histogram(
            "pod_scheduling_gate_removal_seconds",
            "From admission to the removal of a pod's scheduling gate",
            DEFAULT.to_vec(),
        );
        let eviction_latency = histogram(
            "workload_eviction_latency_seconds",
            "From eviction to freed quota",
            exponential(14),
        );
        let ready_to_evicted = histogram(
            "pods_ready_to_evicted_time_seconds",
            "From ready pods to eviction",
            exponential(14),
        );
        let mut counter =
            |name: &str, help: &str| register_counter(r, &format!("kueue_{name}"), help);
        let attempts = counter(
            "admission_attempts",
            "Scheduling cycles, by whether one admitted anything",
        );
        let evicted_once = counter(
            "evicted_workloads_once",
            "Workloads evicted for the first time for a reason",
        );
        let preempted = counter(
            "preempted_workloads",
            "Workloads preempted for the workloads of a ClusterQueue",
        );
        let recomputed = counter(
            "preemption_target_recomputations",
            "Searches for other workloads to preempt within a cycle, by what they found",
        );
        let admitted_below = options.with_cohorts.then(|| {
            let help = "Workloads admitted in a cohort and below";
            counter("cohort_subtree_admitted_workloads", help)
        });
        let unreadable = counter(
            "unreadable_objects",
            "Objects left out because they cannot be read, by kind",
        );
        Self {
            elsewhere: Elsewhere::register(r),
            counts: Counts::register(r, options.with_local_queues),
            waits: Waits::register(r, options.with_local_queues),
            options: Arc::new(options),
            role,
            attempts,
            attempt_seconds,
            creation_seconds,
            gate_seconds,
            evicted_once,
            eviction_latency,
            ready_to_evicted,
            preempted,
            recomputed,
            admitted_below,
            unreadable,
            skipped: Arc::default(),
        }
    }

    fn role(&self) -> (&'static str, String) {
        ("replica_role", self.role.get().as_str().to_owned())
    }
}
