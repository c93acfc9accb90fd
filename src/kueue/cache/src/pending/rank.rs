//! The place of a workload in its queue, as a value that can be compared.

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::Timestamp;
use scheduler::WorkloadKey;

use super::Waiting;

/// Smaller goes first. The sticky preemptor and past usage come before it, see `PendingQueue`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    priority: Reverse<i64>,
    queued: Timestamp,
    uid: Arc<str>,
    key: WorkloadKey,
}

impl Rank {
    pub(super) fn of(waiting: &Waiting) -> Self {
        let workload = &waiting.workload;
        Self {
            priority: Reverse(workload.priority),
            queued: workload.queued,
            uid: workload.uid.clone(),
            key: workload.key.clone(),
        }
    }
}
