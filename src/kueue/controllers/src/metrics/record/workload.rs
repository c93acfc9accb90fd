//! What became of a Workload, read off two of its states: each change is counted, and timed, for its ClusterQueue, and
//! for its LocalQueue where those have metrics. Only the process that decides counts.

use jiff::Timestamp;
use kueue_api::conditions::workload as types;
use kueue_api::v1beta2::Workload;
use telemetry::metrics::{Counters, Histograms, Labels};

use super::super::Metrics;
use super::super::custom::values;
use super::super::groups::Pair;
use super::super::transitions::{Change, between, queued_since, since};
use super::{Around, meta, seconds};

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

impl Metrics {
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
