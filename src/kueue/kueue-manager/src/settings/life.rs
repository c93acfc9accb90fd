//! How Workloads live: from the configuration to what their reconciler and the cache go by.

use std::time::Duration;

use cache::{PodsReadyTimestamp, Words};
use controllers::workload::decide::{Devices, PodsReady, Rules};
use kueue_api::config::{
    AdmissionFairSharing, Configuration, RequeuingTimestamp, WaitForPodsReady,
};
use kueue_api::features::gate;

pub(super) fn rules(configuration: &Configuration) -> Rules {
    let on = |gate| configuration.features.active(gate);
    let said = (
        on(gate::UNADMITTED_OBSERVABILITY),
        on(gate::UNADMITTED_EXPLICIT_STATUS),
    );
    let devices = (
        configuration.features.on(gate::DRA),
        on(gate::DRA_REJECT_WHEN_DISABLED),
    );
    Rules {
        words: match said {
            (false, _) => Words::Legacy,
            (true, false) => Words::Granular,
            (true, true) => Words::Explicit,
        },
        finish_orphans: on(gate::FINISH_ORPHANED_WORKLOADS),
        keep_finished: configuration.retain_finished_workloads,
        pods_ready: configuration.pods_ready().map(pods_ready),
        admission_gates: on(gate::ADMISSION_GATED_BY),
        preemption_gates: on(gate::MULTIKUEUE_ORCHESTRATED_PREEMPTION),
        devices: match devices {
            (true, _) => Devices::Counted,
            (false, true) => Devices::Refused,
            (false, false) => Devices::Ignored,
        },
    }
}

/// Added to waits at most, so that not all that began to wait together come back together.
const JITTER: f64 = 0.0001;

fn pods_ready(asked: &WaitForPodsReady) -> PodsReady {
    let seconds = |number: i32| Duration::from_secs(u64::try_from(number).unwrap_or_default());
    PodsReady {
        timeout: asked.timeout,
        recovery_timeout: Some(asked.recovery_timeout).filter(|limit| !limit.is_zero()),
        limit: asked.backoff_limit_count,
        base: seconds(asked.backoff_base_seconds),
        longest: seconds(asked.backoff_max_seconds),
        jitter: JITTER,
    }
}

/// What of it decides about quota.
pub(super) fn cache(configuration: &Configuration, options: cache::Options) -> cache::Options {
    let pods = configuration.pods_ready();
    let by_creation = |pods: &WaitForPodsReady| pods.timestamp == RequeuingTimestamp::Creation;
    cache::Options {
        block_admission: pods.is_some_and(|pods| pods.block_admission),
        pods_ready_timestamp: if pods.is_some_and(by_creation) {
            PodsReadyTimestamp::Creation
        } else {
            PodsReadyTimestamp::Eviction
        },
        admission_fair_sharing: configuration.admission_fair_sharing.as_ref().map(shares),
        ..options
    }
}

fn shares(asked: &AdmissionFairSharing) -> cache::AdmissionFairSharing {
    let weights = asked.resource_weights.iter();
    cache::AdmissionFairSharing {
        half_life: asked.usage_half_life_time,
        sampling_interval: asked.usage_sampling_interval,
        weights: weights
            .map(|(resource, weight)| (resource.as_str().into(), *weight))
            .collect(),
    }
}
