//! Candidates of other ClusterQueues: up from the preemptor's parent to the root, each time down into what was not seen yet.
//!
//! As soon as the preemptor's need fits into what its own part of the tree brings in, everybody further out uses what is rather the
//! preemptor's: that is the hierarchical advantage (reference section 4.5, KEP 79).

use quantity::Amount;

use super::candidates::{Candidate, Class};
use super::{Finder, Need};
use crate::admitted::Admitted;
use crate::names::FlavorResource;
use crate::objects::{PreemptionPolicy, Usage};
use crate::quota::NodeId;

impl<'a> Finder<'a> {
    /// Adds the candidates of the whole tree but the own ClusterQueue.
    pub(super) fn walk_up(&self, need: &Need<'_>, found: &mut Vec<Candidate<'a>>) {
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

    /// Adds the candidates below a cohort, without those below `seen`. Who uses no more than its own is left in peace with all below it.
    fn walk_down(
        &self,
        need: &Need<'_>,
        meeting: NodeId,
        seen: NodeId,
        advantage: bool,
        found: &mut Vec<Candidate<'a>>,
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
                let allowed =
                    self.allowed(need, *child, need.queue.preemption.reclaim_within_cohort);
                found.extend(allowed.map(|workload| Candidate {
                    class: class(need, workload, advantage),
                    workload,
                    node: *child,
                    meeting: Some(meeting),
                }));
            }
        }
    }
}

/// While it borrows itself, a preemptor may only evict who is less important than it is and not above its threshold.
fn class(need: &Need<'_>, candidate: &Admitted, advantage: bool) -> Class {
    if advantage {
        return Class::Advantage;
    }
    let policies = &need.queue.preemption;
    let priority = candidate.workload.priority;
    let above_threshold = policies
        .max_priority_threshold
        .is_some_and(|threshold| priority > i64::from(threshold));
    Class::Priority {
        while_borrowing: policies.borrow_within_cohort != PreemptionPolicy::Never
            && priority < need.workload.priority
            && !above_threshold,
    }
}
