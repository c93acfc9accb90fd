//! What a workload that waits for others to leave keeps for itself within the cycle, so that nobody borrows it away meanwhile.

use quantity::Amount;

use crate::names::FlavorResource;
use crate::objects::{ClusterQueue, Usage};
use crate::quota::{NodeId, QuotaTree};

/// The part of `asked` that is kept; more of it if the workload `borrows` anyway.
#[must_use]
pub fn reserved(
    tree: &QuotaTree,
    node: NodeId,
    cluster_queue: &ClusterQueue,
    asked: &Usage,
    borrows: bool,
) -> Usage {
    let keep = |of: &FlavorResource, amount: Amount| -> Amount {
        let quota = cluster_queue.quota(of);
        let left = |limit: Amount| amount.min(limit - tree.used(node, of));
        match (borrows, quota.borrowing_limit) {
            (true, None) => amount,
            (true, Some(limit)) => left(quota.nominal + limit),
            (false, _) => left(quota.nominal).floor_zero(),
        }
    };
    let kept = asked.iter();
    kept.map(|(of, amount)| (of.clone(), keep(of, *amount)))
        .collect()
}
