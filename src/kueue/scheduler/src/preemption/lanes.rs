//! The workloads of one ClusterQueue in the order in which they would go, and a pass through those of them that may.
//!
//! That order is the same for every preemptor, so it is found once in a cycle for each ClusterQueue that is asked for.

use std::cmp::Reverse;
use std::sync::Arc;

use super::candidates::{Candidate, Class};
use super::{Finder, Need, satisfies};
use crate::admitted::Admitted;
use crate::objects::PreemptionPolicy;
use crate::quota::NodeId;

/// The workloads of a ClusterQueue, whoever goes first before the others.
pub(super) type InOrder<'a> = Arc<[&'a Arc<Admitted>]>;

/// A ClusterQueue whose workloads come into question, on what ground, and how far the pass has come.
pub(super) struct Lane<'a> {
    pub(super) source: Source,
    all: InOrder<'a>,
    at: usize,
}

/// A ClusterQueue whose workloads come into question, and on what ground.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) node: NodeId,
    pub(super) policy: PreemptionPolicy,
    /// The lowest cohort that it shares with the preemptor; `None` for the preemptor's own.
    pub(super) meeting: Option<NodeId>,
    /// Whether what they use lies nearer to the preemptor.
    pub(super) advantage: bool,
}

impl Source {
    pub(super) fn candidate<'a>(
        &self,
        need: &Need<'_>,
        workload: &'a Arc<Admitted>,
    ) -> Candidate<'a> {
        let class = match self.meeting {
            None => Class::SameQueue,
            Some(_) => Class::of(need, workload, self.advantage),
        };
        Candidate {
            workload,
            class,
            node: self.node,
            meeting: self.meeting,
        }
    }
}

impl<'a> Lane<'a> {
    /// The next one that may go; it stays the next one until it is taken.
    pub(super) fn next(&mut self, need: &Need<'_>) -> Option<Candidate<'a>> {
        while let Some(one) = self.all.get(self.at) {
            if may_go(need, self.source.policy, one) {
                return Some(self.source.candidate(need, one));
            }
            self.at += 1;
        }
        None
    }

    pub(super) fn take(&mut self, need: &Need<'_>) -> Option<Candidate<'a>> {
        let next = self.next(need)?;
        self.at += 1;
        Some(next)
    }
}

impl<'a> Finder<'a> {
    /// A pass through the workloads of a ClusterQueue; `None` where nobody may go.
    pub(super) fn lane(&self, source: Source) -> Option<Lane<'a>> {
        let asked = source.policy != PreemptionPolicy::Never;
        let all = asked.then(|| self.in_order(source.node))?;
        Some(Lane { source, all, at: 0 })
    }

    /// The workloads of an active ClusterQueue: who is leaving already, then of lower priority, then who came last.
    pub(super) fn in_order(&self, node: NodeId) -> InOrder<'a> {
        let mut known = self.in_order.borrow_mut();
        let found = known.entry(node).or_insert_with(|| {
            let name = self.active_queue(node).into_iter();
            let mut all: Vec<_> = name
                .flat_map(|name| self.snapshot.admitted_in(name))
                .collect();
            all.sort_by_key(|one| {
                let since = one.reserved.unwrap_or(self.now);
                let uid: &str = one.workload.uid.as_ref();
                (
                    Reverse(one.evicted),
                    one.workload.priority,
                    Reverse(since),
                    uid,
                )
            });
            all.into()
        });
        found.clone()
    }
}

/// Whether a policy lets a workload go, and it uses what is needed.
pub(super) fn may_go(need: &Need<'_>, policy: PreemptionPolicy, one: &Admitted) -> bool {
    satisfies(policy, need.workload, &one.workload)
        && need.contested.iter().any(|of| one.usage.contains_key(of))
}
