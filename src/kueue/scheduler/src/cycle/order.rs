//! The order in which nominated workloads are decided: who holds quota already, who borrows less, who matters more, who waits longer; with
//! fair sharing, a tournament for each turn instead (kueue-reference.md, section 4.2).

use std::cmp::Reverse;
use std::collections::VecDeque;

use jiff::Timestamp;

use crate::policy::Policy;
use crate::quota::QuotaTree;

use super::nominate::Nominated;
use super::tournament::Tournament;

/// Whether a workload waits for those to leave whom it preempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Preemptor {
    /// It preempted nobody.
    #[default]
    No,
    /// It waits.
    Waits,
    /// It waited, and others took what had become free for it, more often than can be put up with.
    Overtaken,
}

impl Preemptor {
    /// Whether its turn comes before all others'. Without the gate that is so only once it was overtaken again and again: the reference then
    /// preempts for ever, as the preempted workload comes back sooner than its preemptor (DIFFERENCES.md).
    #[must_use]
    pub fn goes_first(self, policy: &Policy) -> bool {
        match self {
            Self::No => false,
            Self::Waits => policy.prioritize_preemptors,
            Self::Overtaken => true,
        }
    }
}

/// What decides when a workload's turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// It holds quota already and waits for a place only.
    pub reserved: bool,
    /// It waits for those to leave whom it preempted.
    pub preemptor: Preemptor,
    /// From how far up it would borrow.
    pub borrowing: usize,
    /// Its effective priority.
    pub priority: i64,
    /// Since when it stands in the queue.
    pub queued: Timestamp,
}

impl Turn {
    fn of(candidate: &Nominated<'_>) -> Self {
        let workload = &candidate.head.workload;
        Self {
            reserved: workload.reserved,
            preemptor: candidate.head.preemptor,
            borrowing: candidate.assigned.assignment.borrowing,
            priority: workload.priority,
            queued: workload.queued,
        }
    }

    /// Sorts what comes first to the front.
    #[must_use]
    pub fn rank(&self, policy: &Policy) -> impl Ord + use<> {
        let by_priority = policy.priority_sorting_within_cohort;
        (
            !self.reserved,
            !self.preemptor.goes_first(policy),
            self.borrowing,
            Reverse(if by_priority { self.priority } else { 0 }),
            self.queued,
        )
    }
}

/// All that are still to be decided.
pub(super) enum Order<'a> {
    /// Sorted once.
    Sorted(VecDeque<Nominated<'a>>),
    /// Chosen anew for each turn.
    Chosen(Tournament<'a>),
}

impl<'a> Order<'a> {
    pub(super) fn of(mut nominated: Vec<Nominated<'a>>, policy: &Policy) -> Self {
        if policy.fair_sharing.is_some() {
            return Self::Chosen(Tournament::of(nominated));
        }
        nominated.sort_by_cached_key(|candidate| Turn::of(candidate).rank(policy));
        Self::Sorted(nominated.into())
    }

    /// Whose turn it is, as the tree stands.
    pub(super) fn next(&mut self, tree: &mut QuotaTree, policy: &Policy) -> Option<Nominated<'a>> {
        match self {
            Self::Sorted(all) => all.pop_front(),
            Self::Chosen(tournament) => tournament.next(tree, policy),
        }
    }
}
