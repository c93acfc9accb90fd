//! The metrics of the controller under the names of the reference. Counters and histograms are counted as things
//! happen; gauges are read from the world when somebody asks (`gauges.rs`).

mod gauges;
mod groups;

use std::time::Duration;

use jiff::Timestamp;
use jobs::GenericJob;
use kueue_api::conditions::{find, reasons, workload as types};
use kueue_api::v1beta2::{Workload, WorkloadStatus};
use telemetry::metrics::{
    Counters, Histograms, Labels, Registry, register_counter, register_histogram,
};

use crate::role::CurrentRole;

use groups::{Counts, Pair, Waits, exponential};

pub use gauges::{Build, WorldGauges};

const DEFAULT: [f64; 11] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// See the module.
#[derive(Clone, Debug)]
pub struct Metrics {
    role: CurrentRole,
    attempts: Counters,
    attempt_seconds: Histograms,
    creation_seconds: Histograms,
    ungating_seconds: Histograms,
    counts: Counts,
    waits: Waits,
    evicted_once: Counters,
    eviction_latency: Histograms,
    ready_to_evicted: Histograms,
    preempted: Counters,
    recomputed: Counters,
}

/// A workload's place in the metrics.
struct Place {
    cluster: Labels,
    local: Labels,
}

impl Metrics {
    /// Registers everything that is counted.
    #[must_use]
    pub fn register(r: &mut Registry, role: CurrentRole) -> Self {
        let creation = (0..11).scan(0.01, |bound, _| {
            let this = *bound;
            *bound *= 2.0;
            Some(this)
        });
        Self {
            role,
            attempts: register_counter(
                r,
                "kueue_admission_attempts",
                "Scheduling cycles, by whether one admitted anything",
            ),
            attempt_seconds: register_histogram(
                r,
                "kueue_admission_attempt_duration_seconds",
                "Duration of a scheduling cycle",
                DEFAULT.to_vec(),
            ),
            creation_seconds: register_histogram(
                r,
                "kueue_workload_creation_latency_seconds",
                "From a job's creation to that of its Workload",
                creation.collect(),
            ),
            ungating_seconds: register_histogram(
                r,
                "kueue_pod_scheduling_gate_removal_seconds",
                "From a Workload's admission to the removal of a scheduling gate of one of its pods",
                DEFAULT.to_vec(),
            ),
            counts: Counts::register(r),
            waits: Waits::register(r),
            evicted_once: register_counter(
                r,
                "kueue_evicted_workloads_once",
                "Workloads evicted for the first time for a reason",
            ),
            eviction_latency: register_histogram(
                r,
                "kueue_workload_eviction_latency_seconds",
                "From eviction to freed quota",
                exponential(14),
            ),
            ready_to_evicted: register_histogram(
                r,
                "kueue_pods_ready_to_evicted_time_seconds",
                "From ready pods to eviction",
                exponential(14),
            ),
            preempted: register_counter(
                r,
                "kueue_preempted_workloads",
                "Workloads preempted for the workloads of a ClusterQueue",
            ),
            recomputed: register_counter(
                r,
                "kueue_preemption_target_recomputations",
                "Searches for other workloads to preempt within a cycle, by what they found",
            ),
        }
    }

    fn role(&self) -> (&'static str, String) {
        ("replica_role", self.role.get().as_str().to_owned())
    }

    /// The labels of a workload, with its priority class.
    fn place(&self, workload: &Workload, cluster_queue: &str) -> Place {
        let class = workload
            .spec
            .priority_class_ref
            .as_ref()
            .map(|class| class.name.clone())
            .unwrap_or_default();
        let with = |mut labels: Labels| {
            labels.extend([("priority_class", class.clone()), self.role()]);
            labels
        };
        Place {
            cluster: with(vec![("cluster_queue", cluster_queue.to_owned())]),
            local: with(vec![
                ("name", workload.spec.queue_name().to_owned()),
                ("namespace", workload.namespace().to_owned()),
            ]),
        }
    }

    /// A cycle with at least one head is over.
    pub fn cycle(&self, admitted: bool, took: Duration) {
        let result = if admitted { "success" } else { "inadmissible" };
        let labels = vec![("result", result.to_owned()), self.role()];
        self.attempts.with(&labels).inc();
        self.attempt_seconds
            .with(&labels)
            .observe(took.as_secs_f64());
    }

    /// A Workload was made for a job.
    pub fn workload_created(&self, job: &dyn GenericJob, now: Timestamp) {
        if job.meta().generation != Some(1) {
            return;
        }
        if let Some(created) = &job.meta().creation_timestamp {
            let labels = vec![("job_kind", job.kind().kind.to_owned()), self.role()];
            self.creation_seconds
                .with(&labels)
                .observe(seconds(created.0, now));
        }
    }

    /// A scheduling gate of a pod was taken away.
    pub fn ungated(&self, gate: &str, cluster_queue: &str, grouped: bool, seconds: f64) {
        let labels = vec![
            ("name", gate.to_owned()),
            ("cluster_queue", cluster_queue.to_owned()),
            ("is_group", grouped.to_string()),
            self.role(),
        ];
        self.ungating_seconds
            .with(&labels)
            .observe(seconds.max(0.0));
    }

    /// A workload, given as it was before, was admitted.
    pub fn admitted(&self, before: &Workload, status: &WorkloadStatus, now: Timestamp) {
        let Some(admission) = status.admission.as_ref() else {
            return;
        };
        let place = self.place(before, &admission.cluster_queue);
        let waited = seconds(queued_since(before), now);
        count(&self.counts.reserved, &place);
        observe(&self.waits.reserved, &place, waited);
        count(&self.counts.admitted, &place);
        observe(&self.waits.admitted, &place, waited);
        observe(&self.waits.checks, &place, 0.0);
    }

    /// All pods of an admitted workload are ready.
    pub fn ready(&self, workload: &Workload, now: Timestamp) {
        let Some(place) = self.placed(workload) else {
            return;
        };
        observe(
            &self.waits.ready,
            &place,
            seconds(queued_since(workload), now),
        );
        if let Some(admitted) = since(workload, types::ADMITTED) {
            observe(
                &self.waits.admitted_until_ready,
                &place,
                seconds(admitted, now),
            );
        }
    }

    fn placed(&self, workload: &Workload) -> Option<Place> {
        let admission = workload.status.as_ref()?.admission.as_ref()?;
        Some(self.place(workload, &admission.cluster_queue))
    }

    /// A workload is over.
    pub fn finished(&self, workload: &Workload, now: Timestamp) {
        let Some(place) = self.placed(workload) else {
            return;
        };
        count(&self.counts.finished, &place);
        let past = workload
            .status
            .as_ref()
            .and_then(|s| s.accumulated_past_execution_time_seconds)
            .unwrap_or_default();
        if let Some(admitted) = since(workload, types::ADMITTED) {
            observe(
                &self.waits.execution,
                &place,
                f64::from(past) + seconds(admitted, now),
            );
        }
    }

    /// A workload, given as it was before, was told to leave.
    pub fn evicted(&self, before: &Workload, (reason, cause): (&str, &str), now: Timestamp) {
        let Some(mut place) = self.placed(before) else {
            return;
        };
        let why = [
            ("reason", reason.to_owned()),
            ("underlying_cause", cause.to_owned()),
        ];
        let first = before
            .status
            .iter()
            .filter_map(|s| s.scheduling_stats.as_ref())
            .flat_map(|s| &s.evictions);
        let first = first
            .filter(|e| e.reason == reason && e.underlying_cause == cause)
            .count()
            == 0;
        let queue = place
            .cluster
            .iter()
            .filter(|(name, _)| *name != "priority_class")
            .cloned();
        let without_class: Labels = queue.chain(why.clone()).collect();
        place.cluster.extend(why.clone());
        place.local.extend(why);
        count(&self.counts.evicted, &place);
        if first {
            self.evicted_once.with(&place.cluster).inc();
        }
        if let Some(ready) = since(before, types::PODS_READY) {
            self.ready_to_evicted
                .with(&without_class)
                .observe(seconds(ready, now));
        }
    }

    /// A workload was preempted for one of a ClusterQueue.
    pub fn preempted(&self, cluster_queue: &str, reason: &str) {
        let labels = vec![
            ("preempting_cluster_queue", cluster_queue.to_owned()),
            ("reason", reason.to_owned()),
            self.role(),
        ];
        self.preempted.with(&labels).inc();
    }

    /// Other workloads to preempt were looked for within a cycle.
    pub fn recomputed(&self, cluster_queue: &str, result: &str) {
        let labels = vec![
            ("cluster_queue", cluster_queue.to_owned()),
            ("result", result.to_owned()),
            self.role(),
        ];
        self.recomputed.with(&labels).inc();
    }

    /// An evicted workload, given as it was before, gave its quota back.
    pub fn released(&self, before: &Workload, now: Timestamp) {
        let (Some(admission), Some(evicted)) = (
            before.status.as_ref().and_then(|s| s.admission.as_ref()),
            find(before.conditions(), types::EVICTED),
        ) else {
            return;
        };
        let reason = if evicted.reason.starts_with(reasons::DEACTIVATED) {
            reasons::DEACTIVATED
        } else {
            evicted.reason.as_str()
        };
        let labels = vec![
            ("cluster_queue", admission.cluster_queue.clone()),
            ("reason", reason.to_owned()),
            self.role(),
        ];
        self.eviction_latency
            .with(&labels)
            .observe(seconds(evicted.last_transition_time.0, now));
    }

    /// Forgets a ClusterQueue that is gone.
    pub fn forget_cluster_queue(&self, name: &str) {
        let labels = [("cluster_queue", name)];
        self.counts
            .all()
            .iter()
            .for_each(|pair| pair.cluster.forget(&labels));
        self.waits
            .all()
            .iter()
            .for_each(|pair| pair.cluster.forget(&labels));
        self.evicted_once.forget(&labels);
        self.eviction_latency.forget(&labels);
        self.ready_to_evicted.forget(&labels);
        self.recomputed.forget(&labels);
        self.preempted.forget(&[("preempting_cluster_queue", name)]);
    }

    /// Forgets a LocalQueue that is gone.
    pub fn forget_local_queue(&self, namespace: &str, name: &str) {
        let labels = [("namespace", namespace), ("name", name)];
        self.counts
            .all()
            .iter()
            .for_each(|pair| pair.local.forget(&labels));
        self.waits
            .all()
            .iter()
            .for_each(|pair| pair.local.forget(&labels));
    }
}

fn count(pair: &Pair<Counters>, place: &Place) {
    pair.cluster.with(&place.cluster).inc();
    pair.local.with(&place.local).inc();
}

fn observe(pair: &Pair<Histograms>, place: &Place, value: f64) {
    pair.cluster.with(&place.cluster).observe(value);
    pair.local.with(&place.local).observe(value);
}

fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64().max(0.0)
}

fn since(workload: &Workload, type_: &str) -> Option<Timestamp> {
    find(workload.conditions(), type_)
        .filter(|c| c.status == "True")
        .map(|c| c.last_transition_time.0)
}

/// Since when a workload waits: its creation, or the last time it was put back.
fn queued_since(workload: &Workload) -> Timestamp {
    since(workload, types::REQUEUED)
        .or_else(|| workload.metadata.creation_timestamp.as_ref().map(|t| t.0))
        .unwrap_or(Timestamp::UNIX_EPOCH)
}
