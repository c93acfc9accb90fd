//! Gauges, read from the world at each scrape: an object that is gone leaves no sample behind, and none can be stale.

mod cohorts;
mod quotas;
mod workloads;

use std::collections::BTreeMap;
use std::sync::Arc;

use cache::{ClusterQueueName, Pending};
use kueue_api::ObjectMeta;
use kueue_api::conditions::{find, queue};
use kueue_api::v1beta2::LocalQueueStatus;
use telemetry::metrics::{Gauge, Gauges, Labels};

use super::Options;
use super::custom::{Custom, paired, values};
use crate::context::Context;
use crate::key::Key;
use crate::role::CurrentRole;

const PENDING: (&str, &str) = (
    "kueue_pending_workloads",
    "Pending workloads of a ClusterQueue",
);
const SHAPES: (&str, &str) = (
    "kueue_pending_scheduling_hashes",
    "Different shapes of pending workloads",
);
const ADMITTED: (&str, &str) = (
    "kueue_admitted_active_workloads",
    "Admitted workloads that are not finished",
);
const ADMITTED_LOCALLY: (&str, &str) = (
    "kueue_local_queue_admitted_active_workloads",
    "Admitted workloads that are not finished",
);

/// What was built, for `kueue_build_info`.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    pub version: &'static str,
    pub commit: &'static str,
    pub date: &'static str,
}

/// See the module.
#[derive(Debug)]
pub struct WorldGauges {
    pub context: Arc<Context>,
    pub build: Build,
}

/// Samples by gauge, in the order in which the gauges first appear.
struct Book {
    role: CurrentRole,
    /// Labels of the operator's choice, of the object that is being looked at.
    custom: Labels,
    gauges: Vec<Gauge>,
}

impl Book {
    /// From now on gauges are about this object.
    fn about(&mut self, of: &[Custom], object: Option<&ObjectMeta>) {
        self.custom = values(of, object);
    }

    fn put(&mut self, name: &'static str, help: &'static str, mut labels: Labels, value: f64) {
        labels.push(("replica_role", self.role.get().as_str().to_owned()));
        labels.extend(self.custom.iter().cloned());
        match self.gauges.iter_mut().find(|gauge| gauge.name == name) {
            Some(gauge) => gauge.samples.push((labels, value)),
            None => self.gauges.push(Gauge {
                name,
                help,
                samples: vec![(labels, value)],
            }),
        }
    }
}

fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}

impl Gauges for WorldGauges {
    fn gauges(&self) -> Vec<Gauge> {
        let mut book = Book {
            role: self.context.role.clone(),
            custom: Labels::new(),
            gauges: vec![self.build_info()],
        };
        self.cluster_queues(&mut book);
        self.local_queues(&mut book);
        workloads::put(self, &mut book);
        cohorts::put(&self.context, &mut book);
        if self.options().with_resources {
            quotas::put(&self.context, &mut book);
        }
        book.gauges
    }
}

impl WorldGauges {
    fn build_info(&self) -> Gauge {
        let Build {
            version,
            commit,
            date,
        } = self.build;
        let labels = [
            ("git_version", version),
            ("git_commit", commit),
            ("build_date", date),
            ("go_version", "none"),
            ("compiler", "rustc"),
            ("platform", concat!("linux/", "amd64")),
        ];
        let labels = labels
            .map(|(name, value)| (name, value.to_owned()))
            .to_vec();
        Gauge {
            name: "kueue_build_info",
            help: "What was built",
            samples: vec![(labels, 1.0)],
        }
    }

    fn options(&self) -> &Options {
        &self.context.metrics.options
    }

    fn cluster_queues(&self, book: &mut Book) {
        let custom = &self.options().custom;
        let cache = self.context.world.cache.lock();
        let names: Vec<ClusterQueueName> = cache.cluster_queues().cloned().collect();
        for name in names {
            let object = self
                .context
                .world
                .stores
                .cluster_queues
                .get(&Key::cluster(name.as_str()));
            book.about(
                &custom.cluster_queues,
                object.as_ref().map(|queue| &queue.metadata),
            );
            let of = |more: &[(&'static str, &str)]| {
                let own = [("cluster_queue", name.to_string())];
                let more = more.iter().map(|(k, v)| (*k, (*v).to_owned()));
                own.into_iter().chain(more).collect::<Labels>()
            };
            let (Some(counts), Some(readiness)) = (cache.counts(&name), cache.readiness(&name))
            else {
                continue;
            };
            self.pending(&cache, &name, readiness.active, book);
            book.put(
                "kueue_reserving_active_workloads",
                "Workloads that hold quota",
                of(&[]),
                number(counts.reserving),
            );
            if custom.workloads.is_empty() {
                book.put(ADMITTED.0, ADMITTED.1, of(&[]), number(counts.admitted));
            }
            book.put(
                "kueue_admission_cycle_preemption_skips",
                "Preemptions that the last cycle left out because others needed the same",
                of(&[]),
                number(self.context.metrics.skips_of(name.as_str())),
            );
            let state = match (readiness.active, readiness.reason) {
                (true, _) => "active",
                (false, kueue_api::conditions::active_reasons::TERMINATING) => "terminating",
                (false, _) => "pending",
            };
            for status in ["pending", "active", "terminating"] {
                let value = if status == state { 1.0 } else { 0.0 };
                book.put(
                    "kueue_cluster_queue_status",
                    "Whether a ClusterQueue is in a state",
                    of(&[("status", status)]),
                    value,
                );
            }
        }
    }

    /// Those who wait, and how many shapes they have. Nobody's turn comes in an inactive queue.
    fn pending(
        &self,
        cache: &cache::Cache,
        name: &ClusterQueueName,
        active: bool,
        book: &mut Book,
    ) {
        let custom = &self.options().custom.workloads;
        let mut put =
            |name_and_help: (&'static str, &'static str), pending: Pending, more: &Labels| {
                let (turn, parked) = if active {
                    (pending.active, pending.parked)
                } else {
                    (0, pending.active + pending.parked)
                };
                for (status, count) in [("active", turn), ("inadmissible", parked)] {
                    let mut labels = vec![
                        ("cluster_queue", name.to_string()),
                        ("status", status.to_owned()),
                    ];
                    labels.extend(more.iter().cloned());
                    book.put(name_and_help.0, name_and_help.1, labels, number(count));
                }
            };
        if custom.is_empty() {
            let counts = cache.counts(name).unwrap_or_default();
            let pending = Pending {
                active: counts.pending_active,
                parked: counts.pending_inadmissible,
            };
            put(PENDING, pending, &Labels::new());
        } else {
            for (values, pending) in cache.pending_breakdown(name) {
                put(PENDING, pending, &paired(custom, &values));
            }
        }
        if self.options().with_shapes {
            put(
                SHAPES,
                cache.pending_shapes(name).unwrap_or_default(),
                &Labels::new(),
            );
        }
    }

    fn local_queues(&self, book: &mut Book) {
        let parked = self.inadmissible_by_local_queue();
        let usage = self.context.world.cache.lock().snapshot().past_usage;
        for queue in self.context.world.stores.local_queues.list() {
            if !self.options().shows(&queue) {
                continue;
            }
            book.about(&self.options().custom.local_queues, Some(&queue.metadata));
            let key = Key::of(&queue.metadata);
            let of = |more: &[(&'static str, &str)]| {
                let own = [
                    ("name", key.name.clone()),
                    ("namespace", key.namespace.clone()),
                ];
                own.into_iter()
                    .chain(more.iter().map(|(k, v)| (*k, (*v).to_owned())))
                    .collect::<Labels>()
            };
            let name = cache::LocalQueueKey::new(key.namespace.as_str(), key.name.as_str());
            let status = self
                .context
                .world
                .cache
                .lock()
                .local_queue_status(&name, (self.context.clock)());
            let Some(status) = status else { continue };
            let inadmissible = parked
                .get(&key)
                .copied()
                .unwrap_or_default()
                .min(status.pending_workloads);
            let waiting = [
                ("active", status.pending_workloads - inadmissible),
                ("inadmissible", inadmissible),
            ];
            for (state, count) in waiting {
                book.put(
                    "kueue_local_queue_pending_workloads",
                    "Pending workloads of a LocalQueue",
                    of(&[("status", state)]),
                    f64::from(count),
                );
            }
            book.put(
                "kueue_local_queue_reserving_active_workloads",
                "Workloads that hold quota",
                of(&[]),
                f64::from(status.reserving_workloads),
            );
            if self.options().custom.workloads.is_empty() {
                let count = f64::from(status.admitted_workloads);
                book.put(ADMITTED_LOCALLY.0, ADMITTED_LOCALLY.1, of(&[]), count);
            }
            put_state(&of, &status, book);
            quotas::put_local(&of, &status, book);
            if let Some(used) = usage.get(&name) {
                book.put(
                    "kueue_local_queue_admission_fair_sharing_usage",
                    "Past usage that admission fair sharing counts",
                    of(&[("cluster_queue", queue.spec.cluster_queue())]),
                    *used,
                );
            }
        }
    }

    fn inadmissible_by_local_queue(&self) -> BTreeMap<Key, i32> {
        let cache = self.context.world.cache.lock();
        let mut parked: BTreeMap<Key, i32> = BTreeMap::new();
        for name in cache.cluster_queues() {
            for waiting in cache.inadmissible(name) {
                *parked
                    .entry(Key::new(waiting.namespace.as_str(), &waiting.name))
                    .or_default() += 1;
            }
        }
        parked
    }
}

fn put_state(
    of: &impl Fn(&[(&'static str, &str)]) -> Labels,
    status: &LocalQueueStatus,
    book: &mut Book,
) {
    let active = find(&status.conditions, queue::ACTIVE).map_or("Unknown", |c| c.status.as_str());
    for state in ["True", "False", "Unknown"] {
        let value = if state == active { 1.0 } else { 0.0 };
        book.put(
            "kueue_local_queue_status",
            "State of the condition Active",
            of(&[("active", state)]),
            value,
        );
    }
}
