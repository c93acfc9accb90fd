//! The workloads that come into question for one need, by class, and the order in which they are tried (reference section 4.5).

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use jiff::Timestamp;

use super::ordered::Ordered;
use super::{Finder, Need, PreemptionReason, satisfies};
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
    pub(super) fn candidates(&self, need: &Need<'_>) -> Ordered<'a> {
        let mut found = self.same_queue(need);
        self.walk_up(need, &mut found);
        if !self.follows_past_usage() {
            return Ordered::of(found, self.now);
        }
        let order = by_order(self.snapshot, &need.queue.name, self.now);
        sort(&mut found, true, |a, b| order(true, a.workload, b.workload));
        // Stable, so that the order within a class stays.
        found.sort_by_key(|one| (Reverse(one.workload.evicted), one.class.rank()));
        Ordered::sorted(found)
    }

    /// Whether LocalQueues that used much in the past lose their workloads first.
    pub(super) fn follows_past_usage(&self) -> bool {
        self.policy.admission_fair_sharing && !self.snapshot.past_usage.is_empty()
    }

    fn same_queue(&self, need: &Need<'_>) -> Vec<Candidate<'a>> {
        let allowed = self.allowed(need, need.node, need.queue.preemption.within_cluster_queue);
        let candidate = |workload| Candidate {
            workload,
            class: Class::SameQueue,
            node: need.node,
            meeting: None,
        };
        allowed.map(candidate).collect()
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
        all.into_iter().flatten().filter(move |one| {
            satisfies(policy, need.workload, &one.workload)
                && need.contested.iter().any(|of| one.usage.contains_key(of))
        })
    }

    /// A ClusterQueue takes part in preemption, on either side, only while it is active.
    fn active_queue(&self, node: NodeId) -> Option<&'a ClusterQueueName> {
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

/// Sorts candidates. Past usage only compares workloads of one ClusterQueue, so that over several of them it is no order in the strict
/// sense, which the standard sort does not put up with: then each one is inserted where it belongs among those before it.
pub(super) fn sort<T>(list: &mut Vec<T>, past: bool, order: impl Fn(&T, &T) -> Ordering) {
    if !past {
        list.sort_by(order);
        return;
    }
    let mut sorted: Vec<T> = Vec::with_capacity(list.len());
    for one in list.drain(..) {
        let at = sorted.partition_point(|other| order(other, &one) != Ordering::Greater);
        sorted.insert(at, one);
    }
    *list = sorted;
}
