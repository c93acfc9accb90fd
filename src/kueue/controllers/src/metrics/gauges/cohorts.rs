//! Gauges of the cohort tree.

use std::collections::BTreeMap;

use cache::ClusterQueueName;
use kueue_api::conditions::active_reasons;
use scheduler::{CohortName, Holder, NodeId, QuotaTree, Share, Usage};
use telemetry::metrics::Labels;

use super::super::custom::values;
use super::{Book, number};
use crate::context::Context;
use crate::key::Key;

struct Tree<'a> {
    tree: &'a QuotaTree,
    names: Vec<(NodeId, String)>,
}

impl Tree<'_> {
    fn name(&self, id: Option<NodeId>) -> String {
        id.and_then(|id| self.names.iter().find(|(known, _)| *known == id))
            .map(|(_, name)| name.clone())
            .unwrap_or_default()
    }

    /// Name of the cohort at the top; none for what stands alone.
    fn root(&self, id: NodeId) -> String {
        self.name(Some(self.tree.root(id)))
    }
}

pub(super) fn put(context: &Context, book: &mut Book) {
    let world = &context.world;
    let options = &context.metrics.options;
    let custom = &options.custom;
    let mut cache = world.cache.lock();
    let snapshot = cache.snapshot();
    let is_shared = cache.is_fairly_shared();
    let queues: Vec<ClusterQueueName> = cache.cluster_queues().cloned().collect();
    let admitted = |name: &ClusterQueueName| cache.counts(name).map_or(0, |counts| counts.admitted);
    let cohorts = snapshot
        .tree
        .nodes()
        .filter_map(|(id, holder)| match holder {
            Holder::Cohort(name) => Some((id, name.to_string())),
            Holder::ClusterQueue(_) => None,
        });
    let tree = Tree {
        tree: &snapshot.tree,
        names: cohorts.collect(),
    };
    for name in &queues {
        let Some(id) = tree.tree.cluster_queue(name).filter(|_| {
            cache
                .readiness(name)
                .is_some_and(|r| r.reason != active_reasons::UNKNOWN)
        }) else {
            continue;
        };
        let object = world
            .stores
            .cluster_queues
            .get(&Key::cluster(name.as_str()));
        book.about(
            &custom.cluster_queues,
            object.as_ref().map(|queue| &queue.metadata),
        );
        if is_shared {
            let labels = vec![
                ("cluster_queue", name.to_string()),
                ("cohort", tree.name(tree.tree.parent(id))),
            ];
            let help = "How much more than its own a ClusterQueue uses, divided by its weight";
            book.put(
                "kueue_cluster_queue_weighted_share",
                help,
                labels,
                share(tree.tree, id),
            );
        }
        let labels = vec![
            ("cluster_queue", name.to_string()),
            ("parent_cohort", tree.name(tree.tree.parent(id))),
            ("root_cohort", tree.root(id)),
        ];
        book.put(
            "kueue_cluster_queue_info",
            "Place of a ClusterQueue in the cohort tree",
            labels,
            1.0,
        );
    }
    if !options.with_cohorts {
        return;
    }
    for (id, name) in &tree.names {
        let object = world.stores.cohorts.get(&Key::cluster(name));
        book.about(
            &custom.cohorts,
            object.as_ref().map(|cohort| &cohort.metadata),
        );
        if is_shared {
            let help = "How much more than its own a cohort uses, divided by its weight";
            let labels = vec![("cohort", name.clone())];
            book.put(
                "kueue_cohort_weighted_share",
                help,
                labels,
                share(tree.tree, *id),
            );
        }
        let labels = vec![
            ("cohort", name.clone()),
            ("parent_cohort", tree.name(tree.tree.parent(*id))),
            ("root_cohort", tree.root(*id)),
        ];
        book.put(
            "kueue_cohort_info",
            "Place of a cohort in the tree",
            labels,
            1.0,
        );
        amounts(tree.tree, *id, name, book);
        // Counted with the labels of the ClusterQueues in which they run.
        let mut counts: BTreeMap<Labels, usize> = BTreeMap::new();
        for queue in queues.iter().filter(|queue| below(tree.tree, queue, name)) {
            let object = world
                .stores
                .cluster_queues
                .get(&Key::cluster(queue.as_str()));
            let labels = values(
                &custom.cluster_queues,
                object.as_ref().map(|queue| &queue.metadata),
            );
            *counts.entry(labels).or_default() += admitted(queue);
        }
        if counts.is_empty() {
            counts.insert(values(&custom.cluster_queues, None), 0);
        }
        book.about(&[], None);
        for (more, count) in counts {
            let own = std::iter::once(("cohort", name.clone()));
            book.put(
                "kueue_cohort_subtree_admitted_active_workloads",
                "Admitted workloads in a cohort and below",
                own.chain(more).collect(),
                number(count),
            );
        }
    }
}

/// Not a number for a borrower without weight, as the reference shows it.
fn share(tree: &QuotaTree, id: NodeId) -> f64 {
    let share = Share::of(tree, id, &Usage::new()).precise();
    if share.is_finite() { share } else { f64::NAN }
}

fn below(tree: &QuotaTree, queue: &ClusterQueueName, cohort: &str) -> bool {
    let (Some(queue), Some(cohort)) = (
        tree.cluster_queue(queue),
        tree.cohort(&CohortName::from(cohort)),
    ) else {
        return false;
    };
    tree.path_up(queue).any(|id| id == cohort)
}

fn amounts(tree: &QuotaTree, id: NodeId, name: &str, book: &mut Book) {
    let labels = |of: &scheduler::FlavorResource| {
        vec![
            ("cohort", name.to_owned()),
            ("flavor", of.flavor.to_string()),
            ("resource", of.resource.to_string()),
        ]
    };
    for (of, amount) in tree.subtree_quotas(id) {
        let value = amount.approximate(&of.resource);
        book.put(
            "kueue_cohort_subtree_quota",
            "Quota that a cohort and all below bring in",
            labels(of),
            value,
        );
    }
    for (of, amount) in tree.usage_of(id) {
        let value = amount.approximate(&of.resource);
        book.put(
            "kueue_cohort_subtree_resource_reservations",
            "Quota reserved in a cohort and below",
            labels(of),
            value,
        );
    }
}
