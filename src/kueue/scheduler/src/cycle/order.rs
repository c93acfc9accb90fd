//! The order in which nominated workloads are decided: who holds quota already, who borrows less, who matters more, who waits longer.
//!
//! With fair sharing a tournament by dominant resource share takes the place of this; it is not built yet.

use std::cmp::Reverse;

use crate::policy::Policy;

use super::nominate::Nominated;

pub(super) fn sort(nominated: &mut [Nominated<'_>], policy: &Policy) {
    nominated.sort_by_key(|candidate| {
        let workload = &candidate.head.workload;
        let priority = if policy.priority_sorting_within_cohort {
            workload.priority
        } else {
            0
        };
        (
            workload.reservation.is_none(),
            candidate.assignment.borrowing,
            Reverse(priority),
            workload.queued,
        )
    });
}
