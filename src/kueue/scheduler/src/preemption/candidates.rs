//! The workloads that come into question for one need, by class, and the order in which they are tried (reference section 4.5).

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use jiff::Timestamp;

use super::lanes::{Source, may_go};
use super::ordered::Ordered;
use super::{Finder, Need, PreemptionReason};
use crate::admitted::Admitted;
use crate::cycle::Snapshot;
use crate::names::ClusterQueueName;
use crate::objects::PreemptionPolicy;
use crate::quota::NodeId;

/// On what ground a candidate may be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// It is of the preemptor's own ClusterQueue.
    SameQueue,
    /// What it uses lies nearer to the preemptor than to it, so that it may always go.
    Advantage,
    /// Neither is nearer. It may go if the preemptor does not borrow in the end, or even then if `while_borrowing`.
    Priority { while_borrowing: bool },
}

impl Class {
    /// While it borrows itself, a preemptor may only evict who is less important than it is and not above its threshold.
    pub(super) fn of(need: &Need<'_>, candidate: &Admitted, advantage: bool) -> Self {
        if advantage {
            return Self::Advantage;
        }
        let policies = &need.queue.preemption;
        let priority = candidate.workload.priority;
        let above_threshold = policies
            .max_priority_threshold
            .is_some_and(|threshold| priority > i64::from(threshold));
        Self::Priority {
            while_borrowing: policies.borrow_within_cohort != PreemptionPolicy::Never
                && priority < need.workload.priority
                && !above_threshold,
        }
    }

    pub(super) fn reason(self) -> PreemptionReason {
        match self {
            Self::SameQueue => PreemptionReason::InClusterQueue,
            Self::Advantage
            | Self::Priority {
                while_borrowing: false,
            } => PreemptionReason::InCohortReclamation,
            Self::Priority {
                while_borrowing: true,
            } => PreemptionReason::InCohortReclaimWhileBorrowing,
        }
    }

    pub(super) fn rank(self) -> u8 {
        match self {
            Self::Advantage => 0,
            Self::Priority { .. } => 1,
            Self::SameQueue => 2,
        }
    }
}

/// A workload that comes into question.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) workload: &'a Arc<Admitted>,
    pub(super) class: Class,
    /// Its ClusterQueue.
    pub(super) node: NodeId,
    /// The lowest cohort that it shares with the preemptor.
    pub(super) meeting: Option<NodeId>,
}

impl<'a> Finder<'a> {
    /// All candidates of classical preemption in the order in which they are tried: who is leaving already, then by class.
    pub(super) fn candidates<'n>(&self, need: &'n Need<'n>) -> Ordered<'a, 'n> {
        let mut sources = vec![Source {
            node: need.node,
            policy: need.queue.preemption.within_cluster_queue,
            meeting: None,
            advantage: false,
        }];
        self.walk_up(need, &mut sources);
        if !self.follows_past_usage() {
            let lanes = sources.into_iter().filter_map(|source| self.lane(source));
            return Ordered::of(lanes.collect(), need, self.now);
        }
        let candidates = sources.iter().flat_map(|source| {
            let allowed = self.allowed(need, source.node, source.policy);
            allowed.map(|workload| source.candidate(need, workload))
        });
        let mut found: Vec<_> = candidates.collect();
        let order = by_order(self.snapshot, &need.queue.name, self.now);
        sort_by_past(&mut found, |a, b| order(true, a.workload, b.workload));
        // Stable, so that the order within a class stays.
        found.sort_by_key(|one| (Reverse(one.workload.evicted), one.class.rank()));
        Ordered::sorted(found, need, self.now)
    }

    /// Whether LocalQueues that used much in the past lose their workloads first.
    pub(super) fn follows_past_usage(&self) -> bool {
        self.policy.admission_fair_sharing && !self.snapshot.past_usage.is_empty()
    }

    /// The workloads of one ClusterQueue that a policy lets go and that use what is needed.
    pub(super) fn allowed(
        &self,
        need: &Need<'_>,
        node: NodeId,
        policy: PreemptionPolicy,
    ) -> impl Iterator<Item = &'a Arc<Admitted>> {
        let name = self.active_queue(node);
        let name = name.filter(|_| policy != PreemptionPolicy::Never);
        let snapshot = self.snapshot;
        let all = name.map(|name| snapshot.admitted_in(name));
        let all = all.into_iter().flatten();
        all.filter(move |one| may_go(need, policy, one))
    }

    /// A ClusterQueue takes part in preemption, on either side, only while it is active.
    pub(super) fn active_queue(&self, node: NodeId) -> Option<&'a ClusterQueueName> {
        let name = self.snapshot.tree.queue_at(node)?;
        let queue = self.snapshot.cluster_queues.get(name)?;
        queue.active.then_some(name)
    }
}

/// Compares two candidates for a preemptor of ClusterQueue `own`; the first argument says whether past usage counts.
pub fn by_order<'a>(
    snapshot: &'a Snapshot,
    own: &'a ClusterQueueName,
    now: Timestamp,
) -> impl Fn(bool, &Admitted, &Admitted) -> Ordering + 'a {
    move |past, a, b| {
        let used = |one: &Admitted| {
            let used = snapshot.past_usage.get(&one.workload.local_queue)?;
            past.then_some(*used)
        };
        compare(a, b, (used(a), used(b)), own, now)
    }
}

/// Who goes first: who is leaving already, then of other ClusterQueues, of LocalQueues that used more in the past, of lower priority,
/// and who came last.
#[must_use]
pub fn compare(
    a: &Admitted,
    b: &Admitted,
    past_usage: (Option<f64>, Option<f64>),
    own: &ClusterQueueName,
    now: Timestamp,
) -> Ordering {
    let is_own = |one: &Admitted| one.cluster_queue == *own;
    let since = |one: &Admitted| one.reserved.unwrap_or(now);
    let by_past_usage = || match past_usage {
        (Some(of_a), Some(of_b))
            if a.cluster_queue == b.cluster_queue
                && a.workload.local_queue != b.workload.local_queue =>
        {
            of_b.total_cmp(&of_a)
        }
        _ => Ordering::Equal,
    };
    b.evicted
        .cmp(&a.evicted)
        .then_with(|| is_own(a).cmp(&is_own(b)))
        .then_with(by_past_usage)
        .then_with(|| a.workload.priority.cmp(&b.workload.priority))
        .then_with(|| since(b).cmp(&since(a)))
        .then_with(|| a.workload.uid.cmp(&b.workload.uid))
}

/// Sorts candidates by an order in which past usage counts. That only compares workloads of one ClusterQueue, so that over several of them it
/// is no order in the strict sense, which the standard sort does not put up with: each one is inserted where it belongs among those before it.
pub(super) fn sort_by_past<T>(list: &mut Vec<T>, order: impl Fn(&T, &T) -> Ordering) {
    let mut sorted: Vec<T> = Vec::with_capacity(list.len());
    for one in list.drain(..) {
        let at = sorted.partition_point(|other| order(other, &one) != Ordering::Greater);
        sorted.insert(at, one);
    }
    *list = sorted;
}
