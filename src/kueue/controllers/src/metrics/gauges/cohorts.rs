//! Gauges of the cohort tree.

use cache::ClusterQueueName;
use kueue_api::conditions::active_reasons;
use scheduler::{CohortName, Holder, NodeId, QuotaTree};

use super::{Book, number};
use crate::world::World;

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

pub(super) fn put(world: &World, book: &mut Book) {
    let mut cache = world.cache.lock();
    let snapshot = cache.snapshot();
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
    for (id, name) in &tree.names {
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
        let count: usize = queues
            .iter()
            .filter(|queue| below(tree.tree, queue, name))
            .map(admitted)
            .sum();
        let help = "Admitted workloads in a cohort and below";
        book.put(
            "kueue_cohort_subtree_admitted_active_workloads",
            help,
            vec![("cohort", name.clone())],
            number(count),
        );
        amounts(tree.tree, *id, name, book);
    }
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
