//! Candidates of other ClusterQueues: up from the preemptor's parent to the root, each time down into what was not seen yet.
//!
//! As soon as the preemptor's need fits into what its own part of the tree brings in, everybody further out uses what is rather the
//! preemptor's: that is the hierarchical advantage (reference section 4.5, KEP 79).

use quantity::Amount;

use super::lanes::Source;
use super::{Finder, Need};
use crate::names::FlavorResource;
use crate::objects::{PreemptionPolicy, Usage};
use crate::quota::NodeId;

impl Finder<'_> {
    /// Adds the ClusterQueues of the whole tree but the own one.
    pub(super) fn walk_up(&self, need: &Need<'_>, found: &mut Vec<Source>) {
        if need.queue.preemption.reclaim_within_cohort == PreemptionPolicy::Never {
            return;
        }
        let mut below = need.node;
        let (mut advantage, mut rest) = self.covered(need.node, need.usage);
        while let Some(at) = self.snapshot.tree.parent(below) {
            self.walk_down(need, at, below, advantage, found);
            let (covered, left) = self.covered(at, &rest);
            advantage |= covered;
            rest = left;
            below = at;
        }
    }

    /// Whether a node's own quota covers this on top of what is used, and what of it nobody keeps for the node alone.
    fn covered(&self, at: NodeId, asked: &Usage) -> (bool, Usage) {
        let tree = &self.snapshot.tree;
        let covered =
            |(of, amount): (&FlavorResource, &Amount)| !tree.borrows_with(at, of, *amount);
        let left = |(of, amount): (&FlavorResource, &Amount)| {
            let left = (*amount - tree.local_available(at, of)).floor_zero();
            (of.clone(), left)
        };
        (asked.iter().all(covered), asked.iter().map(left).collect())
    }

    /// Adds the ClusterQueues below a cohort, without those below `seen`. Who uses no more than its own is left in peace with all below it.
    fn walk_down(
        &self,
        need: &Need<'_>,
        meeting: NodeId,
        seen: NodeId,
        advantage: bool,
        found: &mut Vec<Source>,
    ) {
        let tree = &self.snapshot.tree;
        let mut open = vec![meeting];
        while let Some(at) = open.pop() {
            let above_its_own =
                |child: &&NodeId| **child != seen && tree.above_quota(**child, &need.contested);
            for child in tree.children(at).iter().filter(above_its_own) {
                if tree.queue_at(*child).is_none() {
                    open.push(*child);
                    continue;
                }
                found.push(Source {
                    node: *child,
                    policy: need.queue.preemption.reclaim_within_cohort,
                    meeting: Some(meeting),
                    advantage,
                });
            }
        }
    }
}
