//! One admission cycle: look at every head, put those that could be admitted in order, and decide one after the other, each against what the
//! earlier ones left (kueue-reference.md, section 4.2). Start reading at [`run`].
//!
//! `nominate.rs` is step 3, `order.rs` with `tournament.rs` step 4, `decide.rs` step 5. Taking the heads and the snapshot (1, 2) and putting
//! back what was not admitted (6) is the caller's.

mod decide;
mod nominate;
mod order;
mod refresh;
mod reserve;
mod tournament;
mod variants;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::admitted::AdmittedByQueue;
use crate::assign::LastAssignment;
use crate::labels::Labels;
use crate::names::{ClusterQueueName, FlavorName, LocalQueueKey};
use crate::objects::{ClusterQueue, Flavor, Workload};
use crate::plan::Plan;
use crate::policy::Policy;
use crate::preemption::Finder;
use crate::quota::QuotaTree;
use crate::report::{Entry, Outcome, Report};
use crate::topology;

use decide::Deciding;
use order::Order;

pub use order::{Preemptor, Turn};
pub use reserve::reserved;
pub use tournament::Contender;

/// The world as a cycle sees it. Cloning it is cheap.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Quotas and usage.
    pub tree: QuotaTree,
    /// All ClusterQueues.
    pub cluster_queues: Arc<BTreeMap<ClusterQueueName, Arc<ClusterQueue>>>,
    /// All flavors.
    pub flavors: Arc<BTreeMap<FlavorName, Arc<Flavor>>>,
    /// What is free in the topologies of flavors that have one.
    pub topologies: Arc<BTreeMap<FlavorName, Arc<topology::Snapshot>>>,
    /// All workloads that hold quota.
    pub admitted: Arc<AdmittedByQueue>,
    /// What LocalQueues used in the past, of ClusterQueues that are shared by it.
    pub past_usage: Arc<BTreeMap<LocalQueueKey, f64>>,
    /// Whether the pods of some admitted workload are not ready yet.
    pub pods_not_ready: bool,
}

/// A workload whose turn it is.
#[derive(Clone, Debug)]
pub struct Head {
    /// The workload.
    pub workload: Arc<Workload>,
    /// The ClusterQueue it is tried in.
    pub cluster_queue: ClusterQueueName,
    /// That ClusterQueue's generation.
    pub generation: u64,
    /// The labels of the workload's namespace, if it is known.
    pub namespace: Option<Arc<Labels>>,
    /// Where its last search stopped.
    pub last: Option<Arc<LastAssignment>>,
    /// Whether it waits for those to leave whom it preempted.
    pub preemptor: Preemptor,
}

/// What all decisions of one cycle have in common.
#[derive(Clone, Copy, Debug)]
struct Rules<'a> {
    policy: &'a Policy,
    /// Counts the cycles.
    number: u64,
    now: Timestamp,
}

/// Decides about all heads. `number` counts the cycles.
#[must_use]
pub fn run(
    snapshot: Snapshot,
    heads: &[Head],
    policy: &Policy,
    number: u64,
    now: Timestamp,
) -> (Plan, Report) {
    let rules = Rules {
        policy,
        number,
        now,
    };
    // 3. What would each of them take, and whom would it preempt?
    let (mut nominated, mut refused) = (Vec::new(), Vec::new());
    let finder = Finder::new(&snapshot, policy, now);
    for head in heads {
        match nominate::nominate(&finder, &snapshot, head, rules) {
            Ok(candidate) => nominated.push(candidate),
            Err(refusal) => refused.push(Entry::of(head, Outcome::Refused(refusal), None)),
        }
    }
    drop(finder);
    // 4. Who comes first?
    let mut order = Order::of(nominated, policy);
    // 5. One by one, each against what is left.
    let mut deciding = Deciding::new(snapshot, rules);
    while let Some(candidate) = order.next(deciding.tree(), policy) {
        deciding.decide(candidate);
    }
    deciding.done(refused)
}
