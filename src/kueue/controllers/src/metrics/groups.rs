//! Counters and histograms that exist twice: for ClusterQueues, and for LocalQueues.

use telemetry::metrics::{Counters, Histograms, Registry, register_counter, register_histogram};

/// 1, then 2.5 doubled until there are `n`.
pub(super) fn exponential(n: u32) -> Vec<f64> {
    let rest = (0..n.saturating_sub(1)).scan(2.5, |bound, _| {
        let this = *bound;
        *bound *= 2.0;
        Some(this)
    });
    std::iter::once(1.0).chain(rest).collect()
}

/// A counter or histogram that exists for ClusterQueues and for LocalQueues.
#[derive(Clone, Debug)]
pub(super) struct Pair<T> {
    pub(super) cluster: T,
    /// None where LocalQueues have no metrics.
    pub(super) local: Option<T>,
}

fn counters(registry: &mut Registry, local: bool, name: &str, help: &str) -> Pair<Counters> {
    Pair {
        cluster: register_counter(
            registry,
            &format!("kueue_{name}"),
            &format!("{help}, by ClusterQueue"),
        ),
        local: local.then(|| {
            let (name, help) = (
                format!("kueue_local_queue_{name}"),
                format!("{help}, by LocalQueue"),
            );
            register_counter(registry, &name, &help)
        }),
    }
}

fn histograms(
    registry: &mut Registry,
    local: bool,
    (name, help): (&str, &str),
    buckets: u32,
) -> Pair<Histograms> {
    Pair {
        cluster: register_histogram(
            registry,
            &format!("kueue_{name}"),
            &format!("{help}, by ClusterQueue"),
            exponential(buckets),
        ),
        local: local.then(|| {
            let (name, help) = (
                format!("kueue_local_queue_{name}"),
                format!("{help}, by LocalQueue"),
            );
            register_histogram(registry, &name, &help, exponential(buckets))
        }),
    }
}

/// What is counted for both kinds of queues.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    pub(super) reserved: Pair<Counters>,
    pub(super) admitted: Pair<Counters>,
    pub(super) finished: Pair<Counters>,
    pub(super) evicted: Pair<Counters>,
}

impl Counts {
    pub(super) fn register(r: &mut Registry, local: bool) -> Self {
        let mut pair = |name, help| counters(r, local, name, help);
        Self {
            reserved: pair(
                "quota_reserved_workloads",
                "Workloads that were given quota",
            ),
            admitted: pair("admitted_workloads", "Workloads admitted"),
            finished: pair("finished_workloads", "Workloads finished"),
            evicted: pair("evicted_workloads", "Workloads evicted"),
        }
    }

    pub(super) fn all(&self) -> [&Pair<Counters>; 4] {
        [
            &self.reserved,
            &self.admitted,
            &self.finished,
            &self.evicted,
        ]
    }
}

/// Times measured for both kinds of queues.
#[derive(Clone, Debug)]
pub(super) struct Waits {
    pub(super) reserved: Pair<Histograms>,
    pub(super) admitted: Pair<Histograms>,
    pub(super) checks: Pair<Histograms>,
    pub(super) ready: Pair<Histograms>,
    pub(super) admitted_until_ready: Pair<Histograms>,
    pub(super) execution: Pair<Histograms>,
}

impl Waits {
    pub(super) fn register(r: &mut Registry, local: bool) -> Self {
        let mut pair = |name, help, buckets| histograms(r, local, (name, help), buckets);
        Self {
            reserved: pair(
                "quota_reserved_wait_time_seconds",
                "From creation or requeueing to reserved quota",
                14,
            ),
            admitted: pair(
                "admission_wait_time_seconds",
                "From creation or requeueing to admission",
                16,
            ),
            checks: pair(
                "admission_checks_wait_time_seconds",
                "From reserved quota to admission",
                14,
            ),
            ready: pair(
                "ready_wait_time_seconds",
                "From creation or requeueing to ready pods",
                14,
            ),
            admitted_until_ready: pair(
                "admitted_until_ready_wait_time_seconds",
                "From admission to ready pods",
                14,
            ),
            execution: pair("execution_time_seconds", "Time admitted until the end", 16),
        }
    }

    pub(super) fn all(&self) -> [&Pair<Histograms>; 6] {
        [
            &self.reserved,
            &self.admitted,
            &self.checks,
            &self.ready,
            &self.admitted_until_ready,
            &self.execution,
        ]
    }
}

/// What becomes of Workloads in worker clusters.
#[derive(Clone, Debug)]
pub(super) struct Elsewhere {
    pub(super) dispatched: Counters,
    pub(super) admitted: Counters,
}

impl Elsewhere {
    pub(super) fn register(r: &mut Registry) -> Self {
        let mut counter =
            |name: &str, help: &str| register_counter(r, &format!("kueue_multikueue_{name}"), help);
        Self {
            dispatched: counter(
                "workloads_dispatched",
                "Workloads offered to worker clusters",
            ),
            admitted: counter(
                "workloads_admitted",
                "Workloads admitted in worker clusters",
            ),
        }
    }
}
