//! Counting: what happened, with the labels it is counted under.

mod forget;
mod workload;

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use jobs::GenericJob;
use kueue_api::ObjectMeta;
use kueue_api::conditions::workload as types;
use kueue_api::names::annotations;
use kueue_api::v1beta2::{ClusterQueue, LocalQueue, Workload};
use telemetry::metrics::Labels;

use super::Metrics;
use super::custom::{Custom, values};
use super::transitions::since;

/// The objects around a Workload, as far as labels come from them.
#[derive(Clone, Debug, Default)]
pub struct Around {
    pub cluster_queue: Option<std::sync::Arc<ClusterQueue>>,
    pub local_queue: Option<std::sync::Arc<LocalQueue>>,
    /// Cohorts above the ClusterQueue, with the metadata of those that exist as objects.
    pub cohorts: Vec<(String, Option<ObjectMeta>)>,
}

fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64().max(0.0)
}

fn meta<K: k8s_openapi::Metadata<Ty = ObjectMeta>>(object: Option<&K>) -> Option<&ObjectMeta> {
    object.map(K::metadata)
}

impl Metrics {
    fn labels(&self, own: Labels, of: &[Custom], object: Option<&ObjectMeta>) -> Labels {
        let mut labels = own;
        labels.push(self.role());
        labels.extend(values(of, object));
        labels
    }

    fn of_cluster_queue(&self, own: Labels, around: &Around) -> Labels {
        let custom = &self.options.custom.cluster_queues;
        self.labels(own, custom, meta(around.cluster_queue.as_deref()))
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

    /// How many preemptions the last cycle left out in each ClusterQueue.
    pub fn skipped(&self, by_queue: BTreeMap<String, usize>) {
        *self.skipped.lock() = by_queue;
    }

    /// Those of one ClusterQueue.
    pub(super) fn skips_of(&self, cluster_queue: &str) -> usize {
        self.skipped
            .lock()
            .get(cluster_queue)
            .copied()
            .unwrap_or_default()
    }

    /// An object cannot be read, and was left out.
    pub fn unreadable(&self, kind: &str) {
        let labels = vec![("kind", kind.to_owned()), self.role()];
        self.unreadable.with(&labels).inc();
    }

    /// A Workload was made for a job.
    pub fn workload_created(
        &self,
        job: &dyn GenericJob,
        queue: Option<&LocalQueue>,
        now: Timestamp,
    ) {
        let (Some(histograms), Some(1), Some(created)) = (
            &self.creation_seconds,
            job.meta().generation,
            &job.meta().creation_timestamp,
        ) else {
            return;
        };
        let own = vec![("job_kind", job.kind().kind.to_owned())];
        let labels = self.labels(own, &self.options.custom.local_queues, meta(queue));
        histograms.with(&labels).observe(seconds(created.0, now));
    }

    /// A scheduling gate of a pod of an admitted workload was taken away.
    pub fn gate_removed(&self, gate: &str, workload: &Workload, around: &Around, now: Timestamp) {
        let admission = workload.status.as_ref().and_then(|s| s.admission.as_ref());
        let (Some(admission), Some(admitted)) = (admission, since(workload, types::ADMITTED))
        else {
            return;
        };
        let marks = workload.metadata.annotations.as_ref();
        let is_group = marks
            .and_then(|marks| marks.get(annotations::IS_GROUP_WORKLOAD))
            .is_some_and(|mark| mark == "true");
        let took = seconds(admitted, now);
        self.ungated(gate, &admission.cluster_queue, is_group, took, around);
    }

    /// The same, so many seconds after the admission.
    pub fn ungated(
        &self,
        gate: &str,
        cluster_queue: &str,
        grouped: bool,
        seconds: f64,
        around: &Around,
    ) {
        let own = vec![
            ("name", gate.to_owned()),
            ("cluster_queue", cluster_queue.to_owned()),
            ("is_group", grouped.to_string()),
        ];
        let labels = self.of_cluster_queue(own, around);
        self.gate_seconds.with(&labels).observe(seconds.max(0.0));
    }

    /// A workload was preempted for one of a ClusterQueue.
    pub fn preempted(&self, cluster_queue: &str, reason: &str, around: &Around) {
        let own = vec![
            ("preempting_cluster_queue", cluster_queue.to_owned()),
            ("reason", reason.to_owned()),
        ];
        self.preempted
            .with(&self.of_cluster_queue(own, around))
            .inc();
    }

    /// Other workloads to preempt were looked for within a cycle.
    pub fn recomputed(&self, cluster_queue: &str, result: &str, around: &Around) {
        let own = vec![
            ("cluster_queue", cluster_queue.to_owned()),
            ("result", result.to_owned()),
        ];
        self.recomputed
            .with(&self.of_cluster_queue(own, around))
            .inc();
    }

    /// A Workload was offered to a worker cluster.
    pub fn dispatched(&self, cluster_queue: &str, cluster: &str) {
        let labels = self.in_cluster(cluster_queue, cluster);
        self.elsewhere.dispatched.with(&labels).inc();
    }

    /// A worker cluster admitted a Workload.
    pub fn admitted_elsewhere(&self, cluster_queue: &str, cluster: &str) {
        let labels = self.in_cluster(cluster_queue, cluster);
        self.elsewhere.admitted.with(&labels).inc();
    }

    fn in_cluster(&self, cluster_queue: &str, cluster: &str) -> Labels {
        let own = vec![
            ("cluster_queue", cluster_queue.to_owned()),
            ("cluster", cluster.to_owned()),
        ];
        self.of_cluster_queue(own, &Around::default())
    }
}
