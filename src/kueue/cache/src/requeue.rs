//! Gives parked workloads another chance wherever something was touched since the last cycle.

use std::collections::BTreeSet;

use jiff::Timestamp;
use scheduler::{ClusterQueueName, Holder, NodeId};

use crate::{Affected, Cache};

impl Cache {
    /// Something has changed that may help the parked workloads of a ClusterQueue, and of those it shares with.
    pub fn retry(&mut self, name: &ClusterQueueName) -> Affected {
        self.touched.cluster_queues.insert(name.clone());
        Affected {
            wake: true,
            ..Affected::default()
        }
    }

    /// Brings the tree up to date and lets parked workloads of touched trees return.
    pub(crate) fn give_chances(&mut self, now: Timestamp) -> Affected {
        self.fresh_tree();
        let quota_changed = std::mem::take(&mut self.quota_changed);
        let mut affected = Affected::default();
        for name in self.touched_queues() {
            if let Some(queue) = self.queues.get_mut(&name).filter(|_| quota_changed) {
                queue.generation += 1;
            }
            affected.merge(self.unpark(&name, now));
        }
        affected
    }

    /// Lets those return whom only the last cycle held back. The reference leaves them parked until something else happens.
    pub(crate) fn bring_back_outpaced(&mut self, now: Timestamp) {
        for (name, key) in std::mem::take(&mut self.outpaced) {
            if let Some(queue) = self.queues.get_mut(&name) {
                queue.pending.unpark(now, |parked| *parked == key);
            }
        }
    }

    /// Every ClusterQueue that shares a tree with something touched.
    fn touched_queues(&mut self) -> BTreeSet<ClusterQueueName> {
        let touched = std::mem::take(&mut self.touched);
        if touched.cluster_queues.is_empty() && touched.cohorts.is_empty() {
            return BTreeSet::new();
        }
        let cohorts = touched
            .cohorts
            .iter()
            .filter_map(|name| self.tree.cohort(name));
        let queues = touched
            .cluster_queues
            .iter()
            .filter_map(|name| self.tree.cluster_queue(name));
        let roots: BTreeSet<NodeId> = cohorts.chain(queues).map(|id| self.tree.root(id)).collect();
        // Below cohorts that form a circle nothing can be decided; whoever cuts it touches them again.
        let shares = |(id, holder): (NodeId, Holder<'_>)| match holder {
            Holder::ClusterQueue(name)
                if roots.contains(&self.tree.root(id)) && !self.tree.in_cycle(name) =>
            {
                Some(name.clone())
            }
            Holder::ClusterQueue(_) | Holder::Cohort(_) => None,
        };
        self.tree.nodes().filter_map(shares).collect()
    }

    fn unpark(&mut self, name: &ClusterQueueName, now: Timestamp) -> Affected {
        let mut affected = Affected::default();
        let Some(queue) = self.queues.get_mut(name) else {
            return affected;
        };
        let namespaces = &self.namespaces;
        let spec = self.specs.get(name);
        let selector = spec.and_then(|spec| spec.namespaces.as_ref());
        let may = |key: &scheduler::WorkloadKey| {
            selector
                .zip(namespaces.get(&key.namespace))
                .is_some_and(|(selector, labels)| selector.matches(labels))
        };
        if queue.pending.unpark(now, may) > 0 {
            affected.cluster_queues.insert(name.clone());
            affected.wake = true;
        }
        affected
    }
}
