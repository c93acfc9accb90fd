//! Tells flavor assignment whether preemption would help in one flavor, by running the search for targets for that flavor alone
//! (reference sections 4.4 and 4.5).

use quantity::Amount;

use super::{Finder, Target};
use crate::names::{ClusterQueueName, FlavorResource};
use crate::objects::{Usage, Workload};
use crate::places::Wanted;
use crate::quota::NodeId;

/// Whether evicting others would make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Possibility {
    /// Nobody may be evicted, or not enough of them.
    NoCandidates,
    /// At least one workload of the own ClusterQueue would go.
    Preempt,
    /// Only workloads of other ClusterQueues, which borrow, would go.
    Reclaim,
}

/// Answers the question for one flavor and resource.
pub trait Oracle {
    /// Whether `amount` could be had by eviction, and how far up it would still be borrowed from; `height` is that without eviction.
    fn ask(&self, of: &FlavorResource, amount: Amount, height: usize) -> (Possibility, usize);
}

/// The oracle of a scheduler that never evicts anybody.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPreemption;

impl Oracle for NoPreemption {
    fn ask(&self, _: &FlavorResource, _: Amount, height: usize) -> (Possibility, usize) {
        (Possibility::NoCandidates, height)
    }
}

/// The oracle of one workload.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a, 'f> {
    finder: &'a Finder<'f>,
    workload: &'a Workload,
    queue: &'a ClusterQueueName,
    node: NodeId,
}

impl<'f> Finder<'f> {
    /// Answers for a workload that is tried in a ClusterQueue, which stands at `node` of the snapshot's tree.
    #[must_use]
    pub fn oracle<'a>(
        &'a self,
        workload: &'a Workload,
        queue: &'a ClusterQueueName,
        node: NodeId,
    ) -> Asking<'a, 'f> {
        Asking {
            finder: self,
            workload,
            queue,
            node,
        }
    }

    /// How far up an amount would be borrowed from without those targets.
    fn height_without(
        &self,
        targets: &[Target],
        node: NodeId,
        of: &FlavorResource,
        amount: Amount,
    ) -> usize {
        self.simulate(|simulation| {
            for target in targets {
                simulation.remove(&target.admitted);
            }
            simulation.tree().level(node, of, amount).height
        })
    }
}

impl Oracle for Asking<'_, '_> {
    fn ask(&self, of: &FlavorResource, amount: Amount, height: usize) -> (Possibility, usize) {
        let usage = Usage::from([(of.clone(), amount)]);
        let contested = [of.clone()].into();
        let targets = self.finder.targets_for(
            self.workload,
            self.queue,
            contested,
            &usage,
            &Wanted::default(),
        );
        if targets.is_empty() {
            return (Possibility::NoCandidates, height);
        }
        let height = self.finder.height_without(&targets, self.node, of, amount);
        let own = |target: &Target| target.admitted.cluster_queue == *self.queue;
        let possibility = if targets.iter().any(own) {
            Possibility::Preempt
        } else {
            Possibility::Reclaim
        };
        (possibility, height)
    }
}
