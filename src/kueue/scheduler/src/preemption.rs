//! Whom to evict so that a workload fits: the smallest set of workloads that may go, and whether asking for one is worth it.
//!
//! Takes a snapshot, a workload and the flavors it was assigned, gives [`Target`]s; the snapshot stays as it is. `policy.rs` says who may
//! be evicted at all, `hierarchy.rs` and `candidates.rs` who comes into question and in which order. Without fair sharing `classical.rs`
//! chooses among them (there it is decided to reclaim before borrowing), with it `fair.rs` and `tournament.rs` do. `oracle.rs` answers
//! flavor assignment by the same search. Reference sections 4.5 and 4.6.

mod candidates;
mod classical;
mod fair;
mod hierarchy;
mod lanes;
mod oracle;
mod ordered;
mod policy;
mod simulation;
mod target;
mod tournament;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::assign::{Assignment, Mode};
use crate::cycle::Snapshot;
use crate::names::{ClusterQueueName, FlavorResource, WorkloadKey};
use crate::objects::{ClusterQueue, Usage, Workload};
use crate::places::Wanted;
use crate::policy::Policy;
use crate::quota::{NodeId, QuotaTree};

pub use candidates::{by_order, compare};
pub use oracle::{Asking, NoPreemption, Oracle, Possibility};
pub use policy::satisfies;
pub use target::{PreemptionReason, Target};
pub use tournament::{Chosen, Tournament};

use lanes::InOrder;
use simulation::Simulation;

/// Looks for targets in one snapshot. Make one for many questions: it keeps a copy of the tree to try things out.
#[derive(Debug)]
pub struct Finder<'a> {
    snapshot: &'a Snapshot,
    policy: &'a Policy,
    now: Timestamp,
    /// Equal to the snapshot's tree between two questions.
    scratch: RefCell<Option<QuotaTree>>,
    /// The workloads of those ClusterQueues that were asked for.
    in_order: RefCell<BTreeMap<NodeId, InOrder<'a>>>,
    /// The last question, and its answer: flavor assignment asks first what the search for targets asks again.
    last: RefCell<Option<Answer>>,
}

/// What was asked, and found.
#[derive(Debug)]
struct Answer {
    workload: WorkloadKey,
    queue: ClusterQueueName,
    contested: BTreeSet<FlavorResource>,
    usage: Usage,
    targets: Vec<Target>,
}

impl<'a> Finder<'a> {
    /// A finder for what the snapshot shows at `now`.
    #[must_use]
    pub fn new(snapshot: &'a Snapshot, policy: &'a Policy, now: Timestamp) -> Self {
        Self {
            snapshot,
            policy,
            now,
            scratch: RefCell::new(None),
            in_order: RefCell::default(),
            last: RefCell::default(),
        }
    }

    /// The workloads that have to go so that `workload` fits as it was assigned; none if that cannot be brought about.
    #[must_use]
    pub fn targets(
        &self,
        workload: &Workload,
        queue: &ClusterQueueName,
        assignment: &Assignment,
    ) -> Vec<Target> {
        let contested = contested(assignment);
        self.targets_for(
            workload,
            queue,
            contested,
            &assignment.usage,
            &assignment.wanted,
        )
    }

    /// The same for given amounts, of which those in `contested` are what there is not enough of.
    #[must_use]
    pub fn targets_for(
        &self,
        workload: &Workload,
        queue: &ClusterQueueName,
        contested: BTreeSet<FlavorResource>,
        usage: &Usage,
        wanted: &Wanted,
    ) -> Vec<Target> {
        if !wanted.is_empty() {
            return self.search(workload, queue, contested, usage, wanted);
        }
        if let Some(last) = self.last.borrow().as_ref()
            && last.workload == workload.key
            && last.queue == *queue
            && last.contested == contested
            && last.usage == *usage
        {
            return last.targets.clone();
        }
        let targets = self.search(workload, queue, contested.clone(), usage, wanted);
        *self.last.borrow_mut() = Some(Answer {
            workload: workload.key.clone(),
            queue: queue.clone(),
            contested,
            usage: usage.clone(),
            targets: targets.clone(),
        });
        targets
    }

    fn search(
        &self,
        workload: &Workload,
        queue: &ClusterQueueName,
        contested: BTreeSet<FlavorResource>,
        usage: &Usage,
        wanted: &Wanted,
    ) -> Vec<Target> {
        let (Some(queue), Some(node)) = (
            self.snapshot.cluster_queues.get(queue),
            self.snapshot.tree.cluster_queue(queue),
        ) else {
            return Vec::new();
        };
        let need = Need {
            workload,
            queue,
            node,
            contested,
            usage,
            wanted,
        };
        self.simulate(|simulation| match self.policy.fair_sharing {
            Some(rules) => self.fair(&need, rules, simulation),
            None => self.classical(&need, simulation),
        })
    }

    /// Lets something be tried out.
    fn simulate<T>(&self, what: impl FnOnce(&mut Simulation<'_>) -> T) -> T {
        let mut scratch = self.scratch.borrow_mut();
        let tree = scratch.get_or_insert_with(|| self.snapshot.tree.clone());
        what(&mut Simulation::new(tree, self.snapshot))
    }
}

/// Who needs what.
struct Need<'a> {
    workload: &'a Workload,
    queue: &'a ClusterQueue,
    node: NodeId,
    /// What there is not enough of. Only who uses some of it comes into question.
    contested: BTreeSet<FlavorResource>,
    /// All that has to fit in the end.
    usage: &'a Usage,
    /// And be placed.
    wanted: &'a Wanted,
}

/// The flavors that were assigned in the hope of preemption.
fn contested(assignment: &Assignment) -> BTreeSet<FlavorResource> {
    let choices = assignment
        .pod_sets
        .iter()
        .flat_map(|pod_set| &pod_set.flavors);
    choices
        .filter(|(_, choice)| choice.mode == Mode::Preempt)
        .map(|(resource, choice)| FlavorResource {
            flavor: choice.flavor.clone(),
            resource: resource.clone(),
        })
        .collect()
}
