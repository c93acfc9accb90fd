//! The place of preemption: whom to evict so that a workload fits. The search for targets is not built yet, see [`Unsupported`].
//!
//! Flavor assignment already asks the question, because the answer decides which flavor is taken.
//!
//! [`Unsupported`]: crate::Unsupported

mod target;

use quantity::Amount;

use crate::names::FlavorResource;

pub use target::{PreemptionReason, Target};

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
