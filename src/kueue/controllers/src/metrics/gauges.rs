//! Gauges, read from the world at each scrape: an object that is gone leaves no sample behind, and none can be stale.

mod cohorts;
mod quotas;

use std::collections::BTreeMap;
use std::sync::Arc;

use cache::ClusterQueueName;
use kueue_api::conditions::{find, queue, workload as types};
use kueue_api::v1beta2::Workload;
use telemetry::metrics::{Gauge, Gauges, Labels};

use crate::context::Context;
use crate::key::Key;
use crate::role::CurrentRole;

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
    /// `metrics.enableClusterQueueResources`.
    pub resources: bool,
}

/// Samples by gauge, in the order in which the gauges first appear.
struct Book {
    role: CurrentRole,
    gauges: Vec<Gauge>,
}

impl Book {
    fn put(&mut self, name: &'static str, help: &'static str, mut labels: Labels, value: f64) {
        labels.push(("replica_role", self.role.get().as_str().to_owned()));
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
            gauges: vec![self.build_info()],
        };
        self.cluster_queues(&mut book);
        self.local_queues(&mut book);
        self.workloads(&mut book);
        cohorts::put(&self.context.world, &mut book);
        quotas::put(&self.context.world, self.resources, &mut book);
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

    fn cluster_queues(&self, book: &mut Book) {
        let cache = self.context.world.cache.lock();
        let names: Vec<ClusterQueueName> = cache.cluster_queues().cloned().collect();
        for name in names {
            let of = |more: Option<(&'static str, &str)>| {
                let own = [("cluster_queue", name.to_string())];
                own.into_iter()
                    .chain(more.map(|(k, v)| (k, v.to_owned())))
                    .collect::<Labels>()
            };
            let (Some(counts), Some(readiness)) = (cache.counts(&name), cache.readiness(&name))
            else {
                continue;
            };
            let (active, parked) = if readiness.active {
                (counts.pending_active, counts.pending_inadmissible)
            } else {
                (0, counts.pending_active + counts.pending_inadmissible)
            };
            const PENDING: (&str, &str) = (
                "kueue_pending_workloads",
                "Pending workloads of a ClusterQueue",
            );
            book.put(
                PENDING.0,
                PENDING.1,
                of(Some(("status", "active"))),
                number(active),
            );
            book.put(
                PENDING.0,
                PENDING.1,
                of(Some(("status", "inadmissible"))),
                number(parked),
            );
            book.put(
                "kueue_reserving_active_workloads",
                "Workloads that hold quota",
                of(None),
                number(counts.reserving),
            );
            book.put(
                "kueue_admitted_active_workloads",
                "Admitted workloads that are not finished",
                of(None),
                number(counts.admitted),
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
                    of(Some(("status", status))),
                    value,
                );
            }
        }
    }

    fn local_queues(&self, book: &mut Book) {
        let parked = self.inadmissible_by_local_queue();
        for queue in self.context.world.stores.local_queues.list() {
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
            const PENDING: (&str, &str) = (
                "kueue_local_queue_pending_workloads",
                "Pending workloads of a LocalQueue",
            );
            book.put(
                PENDING.0,
                PENDING.1,
                of(&[("status", "active")]),
                f64::from(status.pending_workloads - inadmissible),
            );
            book.put(
                PENDING.0,
                PENDING.1,
                of(&[("status", "inadmissible")]),
                f64::from(inadmissible),
            );
            book.put(
                "kueue_local_queue_reserving_active_workloads",
                "Workloads that hold quota",
                of(&[]),
                f64::from(status.reserving_workloads),
            );
            book.put(
                "kueue_local_queue_admitted_active_workloads",
                "Admitted workloads that are not finished",
                of(&[]),
                f64::from(status.admitted_workloads),
            );
            let active =
                find(&status.conditions, queue::ACTIVE).map_or("Unknown", |c| c.status.as_str());
            for state in ["True", "False", "Unknown"] {
                let value = if state == active { 1.0 } else { 0.0 };
                book.put(
                    "kueue_local_queue_status",
                    "State of the condition Active",
                    of(&[("active", state)]),
                    value,
                );
            }
            quotas::put_local(&of, &status, book);
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

    /// Finished and unadmitted workloads, counted by what their conditions say.
    fn workloads(&self, book: &mut Book) {
        let (mut finished, mut finished_locally) = (
            BTreeMap::<String, usize>::new(),
            BTreeMap::<Key, usize>::new(),
        );
        let mut waiting: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut waiting_locally: BTreeMap<(Key, String, String), usize> = BTreeMap::new();
        for workload in self.context.world.stores.workloads.list() {
            let Some(queue) = self.cluster_queue_of(&workload) else {
                continue;
            };
            let local = Key::new(workload.namespace(), workload.spec.queue_name());
            if workload.is_finished() {
                *finished.entry(queue).or_default() += 1;
                *finished_locally.entry(local).or_default() += 1;
            } else if let Some(told) =
                find(workload.conditions(), types::QUOTA_RESERVED).filter(|c| c.status == "False")
            {
                *waiting
                    .entry((queue.clone(), told.reason.clone()))
                    .or_default() += 1;
                *waiting_locally
                    .entry((local, queue, told.reason.clone()))
                    .or_default() += 1;
            }
        }
        for (queue, count) in finished {
            book.put(
                "kueue_finished_workloads",
                "Finished workloads that still exist",
                vec![("cluster_queue", queue)],
                number(count),
            );
        }
        for (key, count) in finished_locally {
            let labels = vec![("name", key.name), ("namespace", key.namespace)];
            book.put(
                "kueue_local_queue_finished_workloads",
                "Finished workloads that still exist",
                labels,
                number(count),
            );
        }
        for ((queue, reason), count) in waiting {
            let labels = vec![
                ("cluster_queue", queue),
                ("reason", reason),
                ("underlying_cause", String::new()),
            ];
            book.put(
                "kueue_unadmitted_workloads",
                "Workloads without quota, by reason",
                labels,
                number(count),
            );
        }
        for ((key, queue, reason), count) in waiting_locally {
            let labels = vec![
                ("name", key.name),
                ("namespace", key.namespace),
                ("cluster_queue", queue),
                ("reason", reason),
                ("underlying_cause", String::new()),
            ];
            book.put(
                "kueue_local_queue_unadmitted_workloads",
                "Workloads without quota, by reason",
                labels,
                number(count),
            );
        }
    }

    /// The ClusterQueue of a workload, if that exists.
    fn cluster_queue_of(&self, workload: &Workload) -> Option<String> {
        let stores = &self.context.world.stores;
        let admission = workload
            .status
            .as_ref()
            .and_then(|s| s.admission.as_ref())
            .map(|a| a.cluster_queue.clone());
        let through = || {
            let local = stores
                .local_queues
                .get(&Key::new(workload.namespace(), workload.spec.queue_name()))?;
            Some(local.spec.cluster_queue().to_owned())
        };
        admission
            .or_else(through)
            .filter(|name| stores.cluster_queues.get(&Key::cluster(name)).is_some())
    }
}
