//! Gauges of the cohort tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use cache::ClusterQueueName;
use kueue_api::conditions::active_reasons;
use kueue_api::v1beta2::ClusterQueue;
use scheduler::{CohortName, Holder, NodeId, QuotaTree, Share, Usage};
use telemetry::metrics::Labels;

use super::super::custom::values;
use super::{Book, number};
use crate::context::Context;
use crate::key::Key;

struct Tree<'a> {
    tree: &'a QuotaTree,
    names: BTreeMap<NodeId, String>,
}

impl Tree<'_> {
    fn name(&self, id: Option<NodeId>) -> String {
        id.and_then(|id| self.names.get(&id).cloned())
            .unwrap_or_default()
    }

    /// Name of the cohort at the top; none for what stands alone.
    fn root(&self, id: NodeId) -> String {
        self.name(Some(self.tree.root(id)))
    }
}

/// What the gauges of one look share.
struct Scene<'a> {
    context: &'a Context,
    tree: Tree<'a>,
    is_shared: bool,
}

pub(super) fn put(context: &Context, book: &mut Book) {
    let mut cache = context.world.cache.lock();
    let snapshot = cache.snapshot();
    let is_shared = cache.is_fairly_shared();
    let queues: Vec<ClusterQueueName> = cache.cluster_queues().cloned().collect();
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
    let scene = Scene {
        context,
        tree,
        is_shared,
    };
    let known = |name: &&ClusterQueueName| {
        let readiness = cache.readiness(name);
        readiness.is_some_and(|readiness| readiness.reason != active_reasons::UNKNOWN)
    };
    for name in queues.iter().filter(known) {
        scene.cluster_queue(name, book);
    }
    if !context.metrics.options.with_cohorts {
        return;
    }
    let admitted: Vec<(ClusterQueueName, usize)> = queues
        .into_iter()
        .map(|name| {
            let count = cache.counts(&name).map_or(0, |counts| counts.admitted);
            (name, count)
        })
        .collect();
    for (id, name) in &scene.tree.names {
        scene.cohort(*id, name, book);
        scene.admitted_below(name, &admitted, book);
    }
}

impl Scene<'_> {
    fn cluster_queue(&self, name: &ClusterQueueName, book: &mut Book) {
        let tree = &self.tree;
        let Some(id) = tree.tree.cluster_queue(name) else {
            return;
        };
        let custom = &self.context.metrics.options.custom.cluster_queues;
        let object = self.object(name);
        book.about(custom, object.as_ref().map(|queue| &queue.metadata));
        let own = ("cluster_queue", name.to_string());
        let parent = tree.name(tree.tree.parent(id));
        if self.is_shared {
            book.put(
                "kueue_cluster_queue_weighted_share",
                "How much more than its own a ClusterQueue uses, divided by its weight",
                vec![own.clone(), ("cohort", parent.clone())],
                share(tree.tree, id),
            );
        }
        let root = ("root_cohort", tree.root(id));
        book.put(
            "kueue_cluster_queue_info",
            "Place of a ClusterQueue in the cohort tree",
            vec![own, ("parent_cohort", parent), root],
            1.0,
        );
    }

    fn cohort(&self, id: NodeId, name: &str, book: &mut Book) {
        let tree = &self.tree;
        let object = self.context.world.stores.cohorts.get(&Key::cluster(name));
        book.about(
            &self.context.metrics.options.custom.cohorts,
            object.as_ref().map(|cohort| &cohort.metadata),
        );
        let own = ("cohort", name.to_owned());
        if self.is_shared {
            book.put(
                "kueue_cohort_weighted_share",
                "How much more than its own a cohort uses, divided by its weight",
                vec![own.clone()],
                share(tree.tree, id),
            );
        }
        let parent = ("parent_cohort", tree.name(tree.tree.parent(id)));
        let root = ("root_cohort", tree.root(id));
        book.put(
            "kueue_cohort_info",
            "Place of a cohort in the tree",
            vec![own, parent, root],
            1.0,
        );
        amounts(tree.tree, id, name, book);
    }

    /// Counted with the labels of the ClusterQueues in which they run.
    fn admitted_below(&self, name: &str, admitted: &[(ClusterQueueName, usize)], book: &mut Book) {
        let custom = &self.context.metrics.options.custom.cluster_queues;
        let mut counts: BTreeMap<Labels, usize> = BTreeMap::new();
        let tree = self.tree.tree;
        for (queue, count) in admitted
            .iter()
            .filter(|(queue, _)| below(tree, queue, name))
        {
            let object = self.object(queue);
            let labels = values(custom, object.as_ref().map(|queue| &queue.metadata));
            *counts.entry(labels).or_default() += count;
        }
        if counts.is_empty() {
            counts.insert(values(custom, None), 0);
        }
        book.about(&[], None);
        for (more, count) in counts {
            let own = std::iter::once(("cohort", name.to_owned()));
            book.put(
                "kueue_cohort_subtree_admitted_active_workloads",
                "Admitted workloads in a cohort and below",
                own.chain(more).collect(),
                number(count),
            );
        }
    }

    fn object(&self, name: &ClusterQueueName) -> Option<Arc<ClusterQueue>> {
        let queues = &self.context.world.stores.cluster_queues;
        queues.get(&Key::cluster(name.as_str()))
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
