//! Gauges that are counted over all Workloads: those that are finished and still there, those that have no quota, and, where labels of
//! Workloads are shown, those that are admitted.

use std::collections::BTreeMap;

use cache::ClusterQueueName;
use kueue_api::conditions::{find, workload as types};
use kueue_api::v1beta2::Workload;
use telemetry::metrics::Labels;

use super::super::custom::values;
use super::{ADMITTED, ADMITTED_LOCALLY, Book, WorldGauges, number};
use crate::key::Key;

/// A ClusterQueue, and the LocalQueue if that has metrics.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Queues {
    cluster: String,
    local: Key,
}

#[derive(Default)]
struct Tally {
    finished: BTreeMap<Queues, usize>,
    /// With the reason and its cause.
    waiting: BTreeMap<(Queues, String, String), usize>,
    /// With the values of the labels of Workloads.
    admitted: BTreeMap<(Queues, Labels), usize>,
}

pub(super) fn put(gauges: &WorldGauges, book: &mut Book) {
    let tally = tally(gauges);
    let stores = &gauges.context.world.stores;
    let custom = &gauges.options().custom;
    let names: Vec<ClusterQueueName> = {
        let cache = gauges.context.world.cache.lock();
        cache.cluster_queues().cloned().collect()
    };
    for name in names {
        let queue = stores.cluster_queues.get(&Key::cluster(name.as_str()));
        book.about(
            &custom.cluster_queues,
            queue.as_ref().map(|queue| &queue.metadata),
        );
        let own = |queues: &Queues| {
            (queues.cluster == name.as_str()).then(|| vec![("cluster_queue", name.to_string())])
        };
        tally.put(
            gauges,
            own,
            [
                "kueue_finished_workloads",
                "kueue_unadmitted_workloads",
                ADMITTED.0,
            ],
            book,
        );
    }
    for queue in stores.local_queues.list() {
        if !gauges.options().shows(&queue) {
            continue;
        }
        book.about(&custom.local_queues, Some(&queue.metadata));
        let key = Key::of(&queue.metadata);
        let own = |queues: &Queues| {
            (queues.local == key).then(|| {
                vec![
                    ("name", key.name.clone()),
                    ("namespace", key.namespace.clone()),
                ]
            })
        };
        let names = [
            "kueue_local_queue_finished_workloads",
            "kueue_local_queue_unadmitted_workloads",
            ADMITTED_LOCALLY.0,
        ];
        tally.put(gauges, own, names, book);
    }
}

impl Tally {
    /// The gauges of one queue: its part of everything, added up.
    fn put(
        &self,
        gauges: &WorldGauges,
        own: impl Fn(&Queues) -> Option<Labels>,
        [finished, unadmitted, admitted]: [&'static str; 3],
        book: &mut Book,
    ) {
        let mut sums: BTreeMap<(&'static str, Labels), usize> = BTreeMap::new();
        let mut add = |name, labels: Option<Labels>, count: &usize| {
            if let Some(labels) = labels {
                *sums.entry((name, labels)).or_default() += count;
            }
        };
        for (queues, count) in &self.finished {
            add(finished, own(queues), count);
        }
        for ((queues, reason, cause), count) in &self.waiting {
            let labels = own(queues).map(|mut labels| {
                if unadmitted.contains("local_queue") {
                    labels.push(("cluster_queue", queues.cluster.clone()));
                }
                labels.extend([
                    ("reason", reason.clone()),
                    ("underlying_cause", cause.clone()),
                ]);
                labels
            });
            if gauges.options().with_unadmitted {
                add(unadmitted, labels, count);
            }
        }
        for ((queues, values), count) in &self.admitted {
            let labels =
                own(queues).map(|labels| labels.into_iter().chain(values.clone()).collect());
            add(admitted, labels, count);
        }
        for ((name, labels), count) in sums {
            let help = match name {
                name if name == finished => "Finished workloads that still exist",
                name if name == unadmitted => "Workloads without quota, by reason",
                _ => ADMITTED.1,
            };
            book.put(name, help, labels, number(count));
        }
    }
}

fn tally(gauges: &WorldGauges) -> Tally {
    let mut tally = Tally::default();
    let custom = &gauges.options().custom.workloads;
    for workload in gauges.context.world.stores.workloads.list() {
        let Some(cluster) = cluster_queue_of(gauges, &workload) else {
            continue;
        };
        let local = Key::new(workload.namespace(), workload.spec.queue_name());
        let queues = Queues { cluster, local };
        if workload.is_finished() {
            *tally.finished.entry(queues).or_default() += 1;
        } else if let Some(told) =
            find(workload.conditions(), types::QUOTA_RESERVED).filter(|c| c.status == "False")
        {
            let key = (queues, told.reason.clone(), String::new());
            *tally.waiting.entry(key).or_default() += 1;
        } else if workload.is_admitted() && !custom.is_empty() {
            let key = (queues, values(custom, Some(&workload.metadata)));
            *tally.admitted.entry(key).or_default() += 1;
        }
    }
    tally
}

/// The ClusterQueue of a workload, if that exists.
fn cluster_queue_of(gauges: &WorldGauges, workload: &Workload) -> Option<String> {
    let stores = &gauges.context.world.stores;
    let status = workload.status.as_ref();
    let admission = status
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
