//! Which ClusterQueue loses a workload next: from the root down, each time into the child with the highest share (reference section 4.6).
//!
//! Who does not borrow is out, but for the preemptor and the cohorts above it; who has no candidates left is out. Shares are computed once
//! and forgotten along the path of whatever changes.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use jiff::Timestamp;

use super::by_order;
use crate::admitted::Admitted;
use crate::cycle::Snapshot;
use crate::names::ClusterQueueName;
use crate::objects::Usage;
use crate::quota::{NodeId, QuotaTree};
use crate::share::Share;

/// The ClusterQueues that may lose workloads, with their candidates. Every time one was named, take a candidate from it or drop it.
#[derive(Debug)]
pub struct Tournament<'a> {
    snapshot: &'a Snapshot,
    preemptor: &'a ClusterQueueName,
    node: NodeId,
    now: Timestamp,
    nodes: Vec<Entrant>,
}

/// What is known of one node.
#[derive(Clone, Debug, Default)]
struct Entrant {
    share: Option<Share>,
    candidates: VecDeque<Arc<Admitted>>,
    above_preemptor: bool,
    out: bool,
}

/// The ClusterQueue whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Which one.
    pub node: NodeId,
    /// Whether it is the preemptor's own.
    pub own: bool,
}

impl<'a> Tournament<'a> {
    /// The tournament between the ClusterQueues of these candidates, which come in the order in which they would go. `None` if the
    /// preemptor's ClusterQueue is not in the tree.
    #[must_use]
    pub fn new(
        snapshot: &'a Snapshot,
        preemptor: &'a ClusterQueueName,
        candidates: impl IntoIterator<Item = Arc<Admitted>>,
        now: Timestamp,
    ) -> Option<Self> {
        let tree = &snapshot.tree;
        let node = tree.cluster_queue(preemptor)?;
        let mut nodes = vec![Entrant::default(); tree.size()];
        for above in tree.path_up(node) {
            nodes[above.index()].above_preemptor = true;
        }
        for candidate in candidates {
            if let Some(of) = tree.cluster_queue(&candidate.cluster_queue) {
                nodes[of.index()].candidates.push_back(candidate);
            }
        }
        Some(Self {
            snapshot,
            preemptor,
            node,
            now,
            nodes,
        })
    }

    /// The next ClusterQueue, by the shares in `tree`; `None` once nobody is left.
    pub fn next(&mut self, tree: &QuotaTree) -> Option<Chosen> {
        let root = tree.root(self.node);
        if root == self.node {
            let left = !self.nodes[root.index()].out && self.has_candidates(root);
            return left.then_some(self.chosen(root));
        }
        while !self.nodes[root.index()].out {
            if let Some(node) = self.descend(tree, root) {
                return Some(self.chosen(node));
            }
        }
        None
    }

    /// Takes the next candidate of a ClusterQueue.
    pub fn pop(&mut self, from: Chosen) -> Option<Arc<Admitted>> {
        self.nodes[from.node.index()].candidates.pop_front()
    }

    /// Takes a ClusterQueue out of the tournament.
    pub fn drop_out(&mut self, gone: Chosen) {
        self.nodes[gone.node.index()].out = true;
    }

    /// Has to be told when the usage of a ClusterQueue changed.
    pub fn changed(&mut self, tree: &QuotaTree, node: NodeId) {
        for at in tree.path_up(node) {
            self.nodes[at.index()].share = None;
        }
    }

    /// The two children of the lowest cohort that both ClusterQueues share, on the way to the preemptor and to the other.
    #[must_use]
    pub fn below_meeting(&self, tree: &QuotaTree, other: NodeId) -> Option<(NodeId, NodeId)> {
        let theirs = tree
            .path_up(other)
            .take_while(|at| !self.nodes[at.index()].above_preemptor)
            .last()?;
        let meeting = tree.parent(theirs)?;
        let ours = tree
            .path_up(self.node)
            .take_while(|at| *at != meeting)
            .last()?;
        Some((ours, theirs))
    }

    /// The share of a node.
    pub fn share(&mut self, tree: &QuotaTree, node: NodeId) -> &Share {
        let known = &mut self.nodes[node.index()].share;
        known.get_or_insert_with(|| Share::of(tree, node, &Usage::new()))
    }

    fn chosen(&self, node: NodeId) -> Chosen {
        Chosen {
            node,
            own: node == self.node,
        }
    }

    fn has_candidates(&self, node: NodeId) -> bool {
        !self.nodes[node.index()].candidates.is_empty()
    }

    /// Follows the highest share down. `None` if that led into a cohort where nobody is left, which is out now.
    fn descend(&mut self, tree: &QuotaTree, root: NodeId) -> Option<NodeId> {
        let mut at = root;
        loop {
            let queue = self.highest_queue(tree, at);
            let cohort = self.highest_cohort(tree, at);
            match (queue, cohort) {
                (None, None) => {
                    self.nodes[at.index()].out = true;
                    return None;
                }
                // Between a ClusterQueue and a cohort that are equal, the fairer choice is the worst one within the cohort.
                (Some(queue), Some(cohort)) if self.by_share(queue, cohort).is_le() => at = cohort,
                (None, Some(cohort)) => at = cohort,
                (Some(queue), _) => return Some(queue),
            }
        }
    }

    fn highest_queue(&mut self, tree: &QuotaTree, cohort: NodeId) -> Option<NodeId> {
        let mut highest: Option<NodeId> = None;
        for child in tree.children(cohort) {
            if tree.queue_at(*child).is_none() || self.nodes[child.index()].out {
                continue;
            }
            let borrows = self.share(tree, *child).is_borrowing();
            if !self.has_candidates(*child) || !(borrows || *child == self.node) {
                self.nodes[child.index()].out = true;
                continue;
            }
            let wins = highest.is_none_or(|highest| match self.by_share(*child, highest) {
                Ordering::Greater => true,
                Ordering::Equal => self.goes_first(*child, highest),
                Ordering::Less => false,
            });
            if wins {
                highest = Some(*child);
            }
        }
        highest
    }

    fn highest_cohort(&mut self, tree: &QuotaTree, cohort: NodeId) -> Option<NodeId> {
        let mut highest: Option<NodeId> = None;
        for child in tree.children(cohort) {
            if tree.queue_at(*child).is_some() || self.nodes[child.index()].out {
                continue;
            }
            let borrows = self.share(tree, *child).is_borrowing();
            // On the way to the preemptor there may be an imbalance further down.
            if !borrows && !self.nodes[child.index()].above_preemptor {
                self.nodes[child.index()].out = true;
                continue;
            }
            if highest.is_none_or(|highest| self.by_share(*child, highest).is_ge()) {
                highest = Some(*child);
            }
        }
        highest
    }

    /// Compares shares that were computed before.
    fn by_share(&self, a: NodeId, b: NodeId) -> Ordering {
        match (&self.nodes[a.index()].share, &self.nodes[b.index()].share) {
            (Some(a), Some(b)) => a.compare(b),
            _ => Ordering::Equal,
        }
    }

    /// Whether the next candidate of one goes before that of the other. Past usage does not count here.
    fn goes_first(&self, a: NodeId, b: NodeId) -> bool {
        let next = |of: NodeId| self.nodes[of.index()].candidates.front();
        let (Some(a), Some(b)) = (next(a), next(b)) else {
            return false;
        };
        by_order(self.snapshot, self.preemptor, self.now)(false, a, b).is_lt()
    }
}
