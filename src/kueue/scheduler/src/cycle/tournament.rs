//! The tournament of fair sharing: within every cohort the child whose nominated workload leaves it with the smaller dominant resource share
//! goes one level up, and whoever arrives at the top has its turn (kueue-reference.md, sections 4.2 and 4.6, KEP 1714).
//!
//! Shares are computed with the workload added. A decision changes usage only on the path of the ClusterQueue it concerns, so only those
//! shares are computed again that lie on that path.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::objects::Usage;
use crate::policy::Policy;
use crate::quota::{NodeId, QuotaTree};
use crate::share::Share;

use super::Preemptor;
use super::nominate::Nominated;

/// What one workload brings into the comparison within a cohort.
#[derive(Clone, Copy, Debug)]
pub struct Contender<'a> {
    /// It waits for those to leave whom it preempted.
    pub preemptor: Preemptor,
    /// The share of the child through which it takes part, with the workload added.
    pub share: &'a Share,
    /// What it asks for.
    pub asked: &'a Usage,
    /// Its effective priority.
    pub priority: i64,
    /// Since when it stands in the queue.
    pub queued: Timestamp,
}

impl Contender<'_> {
    /// Whether it goes before another one.
    #[must_use]
    pub fn wins_over(&self, other: &Self, policy: &Policy) -> bool {
        let waits = |one: &Self| one.preemptor.goes_first(policy);
        let borrows = |one: &Self| {
            policy.fair_sharing_prioritize_non_borrowing && one.share.is_borrowing_any(one.asked)
        };
        let by_priority = if policy.priority_sorting_within_cohort {
            other.priority.cmp(&self.priority)
        } else {
            Ordering::Equal
        };
        let order = waits(other)
            .cmp(&waits(self))
            .then_with(|| borrows(self).cmp(&borrows(other)))
            .then_with(|| self.share.compare(other.share))
            .then(by_priority)
            .then_with(|| self.queued.cmp(&other.queued));
        order == Ordering::Less
    }
}

/// A workload that is still to be decided.
struct Entrant<'a> {
    candidate: Nominated<'a>,
    asked: Usage,
    /// For its ClusterQueue and every cohort above but the last: the cohort in which it competes, and its share there. Empty until it is
    /// asked for.
    shares: Vec<(NodeId, Share)>,
}

/// All of them.
pub(super) struct Tournament<'a> {
    entrants: Vec<Entrant<'a>>,
}

impl<'a> Tournament<'a> {
    pub(super) fn of(nominated: Vec<Nominated<'a>>) -> Self {
        let entrants = nominated.into_iter().map(|candidate| Entrant {
            asked: candidate.usage(),
            candidate,
            shares: Vec::new(),
        });
        Self {
            entrants: entrants.collect(),
        }
    }

    /// The winner of the tree that the first one left belongs to.
    pub(super) fn next(&mut self, tree: &mut QuotaTree, policy: &Policy) -> Option<Nominated<'a>> {
        let root = tree.root(self.entrants.first()?.candidate.node);
        for entrant in &mut self.entrants {
            if tree.root(entrant.candidate.node) == root {
                entrant.measure(tree);
            }
        }
        let winner = self.winner(tree, root, policy)?;
        let candidate = self.entrants.remove(winner).candidate;
        self.forget_shares_on(tree, candidate.node, root);
        Some(candidate)
    }

    /// Cohorts are played from the deepest up; child cohorts come before ClusterQueues, and of equals the first one stays.
    fn winner(&self, tree: &QuotaTree, root: NodeId, policy: &Policy) -> Option<usize> {
        let mut direct: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        let mut cohorts: BTreeSet<(std::cmp::Reverse<usize>, NodeId)> = BTreeSet::new();
        for (index, entrant) in self.entrants.iter().enumerate() {
            let node = entrant.candidate.node;
            if tree.root(node) != root {
                continue;
            }
            let Some(parent) = tree.parent(node) else {
                return Some(index);
            };
            direct.entry(parent).or_default().push(index);
            let above: Vec<_> = tree.path_up(parent).collect();
            for (depth, cohort) in above.iter().rev().enumerate() {
                cohorts.insert((std::cmp::Reverse(depth), *cohort));
            }
        }
        let mut sent_up: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (_, cohort) in cohorts {
            let from_cohorts = sent_up.remove(&cohort).unwrap_or_default();
            let from_queues = direct.remove(&cohort).unwrap_or_default();
            let all = from_cohorts.into_iter().chain(from_queues);
            let best = all.reduce(|best, other| {
                let wins = self.wins(other, best, cohort, policy);
                if wins { other } else { best }
            })?;
            match tree.parent(cohort) {
                Some(parent) => sent_up.entry(parent).or_default().push(best),
                None => return Some(best),
            }
        }
        None
    }

    fn wins(&self, one: usize, other: usize, cohort: NodeId, policy: &Policy) -> bool {
        let contenders = self.entrants[one]
            .contender(cohort)
            .zip(self.entrants[other].contender(cohort));
        contenders.is_some_and(|(one, other)| one.wins_over(&other, policy))
    }

    fn forget_shares_on(&mut self, tree: &QuotaTree, changed: NodeId, root: NodeId) {
        let path: Vec<_> = tree.path_up(changed).filter(|id| *id != root).collect();
        for entrant in &mut self.entrants {
            let mut own = tree.path_up(entrant.candidate.node);
            if own.any(|id| path.contains(&id)) {
                entrant.shares.clear();
            }
        }
    }
}

impl Entrant<'_> {
    fn measure(&mut self, tree: &mut QuotaTree) {
        let (node, name) = (self.candidate.node, &self.candidate.cluster_queue.name);
        if !self.shares.is_empty() || tree.parent(node).is_none() {
            return;
        }
        let nothing = Usage::new();
        tree.add(name, &self.asked);
        let below_root = tree.path_up(node);
        self.shares = below_root
            .filter_map(|id| Some((tree.parent(id)?, Share::of(tree, id, &nothing))))
            .collect();
        tree.remove(name, &self.asked);
    }

    fn contender(&self, cohort: NodeId) -> Option<Contender<'_>> {
        let (_, share) = self.shares.iter().find(|(parent, _)| *parent == cohort)?;
        let workload = &self.candidate.head.workload;
        Some(Contender {
            preemptor: self.candidate.head.preemptor,
            share,
            asked: &self.asked,
            priority: workload.priority,
            queued: workload.queued,
        })
    }
}
