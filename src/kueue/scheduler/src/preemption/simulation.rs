//! Tries evictions out on a copy of the quota tree and takes them back, exactly: nodes that were written to are shared with the original again.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Need;
use super::classical::Borrowing;
use crate::admitted::Admitted;
use crate::cycle::Snapshot;
use crate::names::ClusterQueueName;
use crate::objects::Usage;
use crate::places::{self, Topologies};
use crate::quota::{NodeId, QuotaTree};
use crate::topology;

pub(super) struct Simulation<'a> {
    tree: &'a mut QuotaTree,
    original: &'a Snapshot,
    topologies: Arc<Topologies>,
    /// ClusterQueues whose usage was changed.
    touched: BTreeSet<NodeId>,
}

impl<'a> Simulation<'a> {
    /// `tree` has to be equal to the snapshot's, and is again when this is dropped.
    pub(super) fn new(tree: &'a mut QuotaTree, original: &'a Snapshot) -> Self {
        Self {
            tree,
            original,
            topologies: original.topologies.clone(),
            touched: BTreeSet::new(),
        }
    }

    /// The tree as it would be.
    pub(super) fn tree(&self) -> &QuotaTree {
        self.tree
    }

    pub(super) fn remove(&mut self, gone: &Admitted) {
        self.release(&gone.cluster_queue, &gone.usage);
        let free = topology::Snapshot::give_back;
        places::change(&mut self.topologies, &gone.places, free);
    }

    pub(super) fn put_back(&mut self, back: &Admitted) {
        self.take(&back.cluster_queue, &back.usage);
        let take = topology::Snapshot::take;
        places::change(&mut self.topologies, &back.places, take);
    }

    pub(super) fn take(&mut self, queue: &ClusterQueueName, usage: &Usage) {
        self.touched.extend(self.tree.cluster_queue(queue));
        self.tree.add(queue, usage);
    }

    pub(super) fn release(&mut self, queue: &ClusterQueueName, usage: &Usage) {
        self.touched.extend(self.tree.cluster_queue(queue));
        self.tree.remove(queue, usage);
    }

    /// Whether the workload would fit now, by quota and by place.
    pub(super) fn fits(&self, need: &Need<'_>, borrowing: Borrowing) -> bool {
        self.has_quota(need, borrowing) && need.wanted.fit(&self.topologies)
    }

    fn has_quota(&self, need: &Need<'_>, borrowing: Borrowing) -> bool {
        need.usage.iter().all(|(of, amount)| {
            let keeps_to_its_own =
                borrowing == Borrowing::Allowed || !self.tree.borrows_with(need.node, of, *amount);
            keeps_to_its_own && *amount <= self.tree.available(need.node, of)
        })
    }

    /// Takes everything back.
    pub(super) fn restore(&mut self) {
        for node in std::mem::take(&mut self.touched) {
            self.tree.share_path(node, &self.original.tree);
        }
        self.topologies = self.original.topologies.clone();
    }
}

impl Drop for Simulation<'_> {
    fn drop(&mut self) {
        self.restore();
    }
}
