//! Which ClusterQueues have to do with something: a flavor, an admission check, a resource, a namespace; and which cohorts are above one.

use quantity::ResourceName;
use scheduler::{ClusterQueue, ClusterQueueName, CohortName, FlavorName, Holder, Labels, NodeId};

use crate::Cache;

impl Cache {
    /// The ClusterQueues that mention a flavor.
    #[must_use]
    pub fn cluster_queues_using_flavor(&self, flavor: &FlavorName) -> Vec<ClusterQueueName> {
        self.those(|queue| {
            let mut groups = queue.groups.iter();
            groups.any(|group| group.flavors.contains(flavor))
        })
    }

    /// The ClusterQueues that ask for an admission check.
    #[must_use]
    pub fn cluster_queues_using_check(&self, check: &str) -> Vec<ClusterQueueName> {
        self.those(|queue| {
            let state = self.queues.get(&queue.name);
            state.is_some_and(|state| state.checks.iter().any(|rule| rule.name == check))
        })
    }

    /// The ClusterQueues that cover any of these resources.
    #[must_use]
    pub fn cluster_queues_covering(&self, resources: &[ResourceName]) -> Vec<ClusterQueueName> {
        self.those(|queue| {
            let mut resources = resources.iter();
            resources.any(|resource| queue.group_of(resource).is_some())
        })
    }

    /// The ClusterQueues that a namespace with these labels may use.
    #[must_use]
    pub fn cluster_queues_open_to(&self, labels: &Labels) -> Vec<ClusterQueueName> {
        self.those(|queue| {
            let selector = queue.namespaces.as_ref();
            selector.is_some_and(|selector| selector.matches(labels))
        })
    }

    fn those(&self, named: impl Fn(&ClusterQueue) -> bool) -> Vec<ClusterQueueName> {
        let found = self.specs.values().filter(|queue| named(queue));
        found.map(|queue| queue.name.clone()).collect()
    }

    /// A cohort and all above it, the root last; `None` if they form a circle. Empty for a cohort that nobody has heard of.
    #[must_use]
    pub fn cohorts_from(&mut self, cohort: &CohortName) -> Option<Vec<CohortName>> {
        self.fresh_tree();
        let Some(id) = self.tree.cohort(cohort) else {
            return Some(Vec::new());
        };
        let names: std::collections::BTreeMap<NodeId, &CohortName> = self
            .tree
            .nodes()
            .filter_map(|(id, holder)| match holder {
                Holder::Cohort(name) => Some((id, name)),
                Holder::ClusterQueue(_) => None,
            })
            .collect();
        if self.tree.is_cyclic(id) {
            return None;
        }
        let above = self.tree.path_up(id);
        Some(
            above
                .filter_map(|id| names.get(&id).copied().cloned())
                .collect(),
        )
    }
}
