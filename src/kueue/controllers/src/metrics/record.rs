//! Counting: what happened, with the labels it is counted under.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use jobs::GenericJob;
use kueue_api::ObjectMeta;
use kueue_api::conditions::workload as types;
use kueue_api::names::annotations;
use kueue_api::v1beta2::{ClusterQueue, LocalQueue, Workload};
use telemetry::metrics::{Counters, Histograms, Labels};

use super::Metrics;
use super::custom::{Custom, values};
use super::groups::Pair;
use super::transitions::{Change, between, queued_since, since};

/// The objects around a Workload, as far as labels come from them.
#[derive(Clone, Debug, Default)]
pub struct Around {
    pub cluster_queue: Option<std::sync::Arc<ClusterQueue>>,
    pub local_queue: Option<std::sync::Arc<LocalQueue>>,
    /// Cohorts above the ClusterQueue, with the metadata of those that exist as objects.
    pub cohorts: Vec<(String, Option<ObjectMeta>)>,
}

/// A workload's place in the metrics.
struct Place {
    cluster_queue: String,
    class: String,
    cluster: Labels,
    /// None where its LocalQueue has no metrics.
    local: Option<Labels>,
}

impl Place {
    fn with(&self, more: &[(&'static str, String)]) -> Self {
        let add = |labels: &Labels| labels.iter().chain(more).cloned().collect();
        Self {
            cluster_queue: self.cluster_queue.clone(),
            class: self.class.clone(),
            cluster: add(&self.cluster),
            local: self.local.as_ref().map(add),
        }
    }

    fn without_class(&self) -> Labels {
        let kept = self
            .cluster
            .iter()
            .filter(|(name, _)| *name != "priority_class");
        kept.cloned().collect()
    }
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

    /// A Workload is another than it was.
    pub fn changed(&self, before: &Workload, after: &Workload, around: &Around, now: Timestamp) {
        // Whoever does not decide sees all this too, and would count it a second time.
        if !self.role.get().writes() {
            return;
        }
        let admission = |workload: &Workload| {
            let status = workload.status.as_ref()?;
            Some(status.admission.as_ref()?.cluster_queue.clone())
        };
        let through = || Some(around.local_queue.as_ref()?.spec.cluster_queue().to_owned());
        let changes = between(before, after);
        if changes.is_empty() {
            return;
        }
        let Some(queue) = admission(after)
            .or_else(|| admission(before))
            .or_else(through)
        else {
            return;
        };
        let place = self.place(after, queue, around);
        for change in changes {
            self.count(&change, (before, after), (&place, around), now);
        }
    }

    /// The labels of a workload, with its priority class.
    fn place(&self, workload: &Workload, cluster_queue: String, around: &Around) -> Place {
        let class = workload.spec.priority_class_ref.as_ref();
        let class = class.map(|class| class.name.clone()).unwrap_or_default();
        let own = vec![
            ("cluster_queue", cluster_queue.clone()),
            ("priority_class", class.clone()),
        ];
        let queue = around.local_queue.as_deref();
        let local = queue
            .filter(|queue| self.options.shows(queue))
            .map(|queue| {
                let own = vec![
                    ("name", workload.spec.queue_name().to_owned()),
                    ("namespace", workload.namespace().to_owned()),
                    ("priority_class", class.clone()),
                ];
                self.labels(own, &self.options.custom.local_queues, meta(Some(queue)))
            });
        Place {
            cluster: self.of_cluster_queue(own, around),
            cluster_queue,
            class,
            local,
        }
    }

    fn count(
        &self,
        change: &Change,
        (before, after): (&Workload, &Workload),
        (place, around): (&Place, &Around),
        now: Timestamp,
    ) {
        let waited = || seconds(queued_since(before), now);
        match change {
            Change::Reserved => {
                add(&self.counts.reserved, place);
                observe(&self.waits.reserved, place, waited());
            }
            Change::Admitted => {
                self.admitted(after, place, around);
                observe(
                    &self.waits.admitted,
                    &self.of_workload(after, place),
                    waited(),
                );
                let reserved = since(after, types::QUOTA_RESERVED).unwrap_or(now);
                let checks = if since(before, types::QUOTA_RESERVED).is_some() {
                    seconds(reserved, now)
                } else {
                    0.0
                };
                observe(&self.waits.checks, place, checks);
            }
            Change::Ready => {
                observe(&self.waits.ready, place, waited());
                if let Some(admitted) = since(after, types::ADMITTED) {
                    observe(
                        &self.waits.admitted_until_ready,
                        place,
                        seconds(admitted, now),
                    );
                }
            }
            Change::Finished => self.finished(before, after, place, now),
            Change::Evicted {
                reason,
                cause,
                first,
            } => self.evicted(before, place, (reason, cause, *first), now),
            Change::Released { reason, evicted } => {
                let mut labels = place.without_class();
                labels.push(("reason", reason.clone()));
                self.eviction_latency
                    .with(&labels)
                    .observe(seconds(*evicted, now));
            }
        }
    }

    /// Admissions by LocalQueue also carry the labels of Workloads.
    fn of_workload(&self, workload: &Workload, place: &Place) -> Place {
        let more = values(&self.options.custom.workloads, Some(&workload.metadata));
        let whole = place.with(&more);
        Place {
            cluster: place.cluster.clone(),
            ..whole
        }
    }

    fn admitted(&self, workload: &Workload, place: &Place, around: &Around) {
        add(&self.counts.admitted, &self.of_workload(workload, place));
        let Some(counters) = &self.admitted_below else {
            return;
        };
        for (cohort, object) in &around.cohorts {
            let own = vec![
                ("cohort", cohort.clone()),
                ("priority_class", place.class.clone()),
            ];
            let labels = self.labels(own, &self.options.custom.cohorts, object.as_ref());
            counters.with(&labels).inc();
        }
    }

    fn finished(&self, before: &Workload, after: &Workload, place: &Place, now: Timestamp) {
        add(&self.counts.finished, place);
        let status = after.status.as_ref();
        let past = status.and_then(|s| s.accumulated_past_execution_time_seconds);
        let admitted = since(after, types::ADMITTED).or_else(|| since(before, types::ADMITTED));
        if let Some(admitted) = admitted {
            let whole = f64::from(past.unwrap_or_default()) + seconds(admitted, now);
            observe(&self.waits.execution, place, whole);
        }
    }

    fn evicted(
        &self,
        before: &Workload,
        place: &Place,
        (reason, cause, first): (&str, &str, bool),
        now: Timestamp,
    ) {
        let why = [
            ("reason", reason.to_owned()),
            ("underlying_cause", cause.to_owned()),
        ];
        let told = place.with(&why);
        add(&self.counts.evicted, &told);
        if first {
            self.evicted_once.with(&told.cluster).inc();
        }
        if let Some(ready) = since(before, types::PODS_READY) {
            self.ready_to_evicted
                .with(&told.without_class())
                .observe(seconds(ready, now));
        }
    }

    /// Forgets a ClusterQueue that is gone.
    pub fn forget_cluster_queue(&self, name: &str) {
        let labels = [("cluster_queue", name)];
        for pair in self.counts.all() {
            pair.cluster.forget(&labels);
        }
        for pair in self.waits.all() {
            pair.cluster.forget(&labels);
        }
        self.evicted_once.forget(&labels);
        self.eviction_latency.forget(&labels);
        self.ready_to_evicted.forget(&labels);
        self.gate_seconds.forget(&labels);
        self.recomputed.forget(&labels);
        self.preempted.forget(&[("preempting_cluster_queue", name)]);
    }

    /// Forgets a LocalQueue that is gone.
    pub fn forget_local_queue(&self, namespace: &str, name: &str) {
        let labels = [("namespace", namespace), ("name", name)];
        for counters in self
            .counts
            .all()
            .iter()
            .filter_map(|pair| pair.local.as_ref())
        {
            counters.forget(&labels);
        }
        for histograms in self
            .waits
            .all()
            .iter()
            .filter_map(|pair| pair.local.as_ref())
        {
            histograms.forget(&labels);
        }
    }

    /// Forgets a cohort that nobody belongs to any more.
    pub fn forget_cohort(&self, name: &str) {
        if let Some(counters) = &self.admitted_below {
            counters.forget(&[("cohort", name)]);
        }
    }
}

fn add(pair: &Pair<Counters>, place: &Place) {
    pair.cluster.with(&place.cluster).inc();
    if let (Some(local), Some(labels)) = (&pair.local, &place.local) {
        local.with(labels).inc();
    }
}

fn observe(pair: &Pair<Histograms>, place: &Place, value: f64) {
    pair.cluster.with(&place.cluster).observe(value);
    if let (Some(local), Some(labels)) = (&pair.local, &place.local) {
        local.with(labels).observe(value);
    }
}
