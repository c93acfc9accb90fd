//! The tournament of fair sharing: within every cohort the child whose nominated workload leaves it with the smaller dominant resource share
//! goes one level up, and whoever arrives at the top has its turn (kueue-reference.md, sections 4.2 and 4.6, KEP 1714).
//!
//! Shares are computed with the workload added. A decision changes usage only on the path of the ClusterQueue it concerns, so every cohort
//! keeps who competes in it in order, and only those on that path are measured again. Child cohorts come before ClusterQueues, and of equals
//! the first one stays.

use std::cmp::Reverse;
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

/// What decides between two contenders; the smaller one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    waits: Reverse<bool>,
    borrows: bool,
    share: (bool, i64),
    priority: Reverse<i64>,
    queued: Timestamp,
}

impl Contender<'_> {
    /// Whether it goes before another one.
    #[must_use]
    pub fn wins_over(&self, other: &Self, policy: &Policy) -> bool {
        self.rank(policy) < other.rank(policy)
    }

    fn rank(&self, policy: &Policy) -> Rank {
        let by_priority = policy.priority_sorting_within_cohort;
        Rank {
            waits: Reverse(self.preemptor.goes_first(policy)),
            borrows: policy.fair_sharing_prioritize_non_borrowing
                && self.share.is_borrowing_any(self.asked),
            share: self.share.rank(),
            priority: Reverse(if by_priority { self.priority } else { 0 }),
            queued: self.queued,
        }
    }
}

/// Through whom a workload takes part in the comparison within a cohort: child cohorts come first, in the order of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Through {
    Cohort(NodeId),
    /// It stands directly below, at this place among all.
    Itself(usize),
}

/// The place of a workload in the comparison within a cohort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    rank: Rank,
    through: Through,
    entrant: usize,
}

/// Those who compete within one cohort, and how each of them got there.
#[derive(Debug, Default)]
struct Contest {
    places: BTreeSet<Place>,
    through: BTreeMap<Through, Place>,
}

impl Contest {
    /// Puts a new place in the stead of the one that was taken through the same child, if any.
    fn replace(&mut self, through: Through, place: Option<Place>) {
        let before = match place {
            Some(place) => self.through.insert(through, place),
            None => self.through.remove(&through),
        };
        if let Some(before) = before {
            self.places.remove(&before);
        }
        self.places.extend(place);
    }

    fn winner(&self) -> Option<usize> {
        self.places.first().map(|place| place.entrant)
    }
}

/// All workloads that are still to be decided.
pub(super) struct Tournament<'a> {
    entrants: Vec<Option<Nominated<'a>>>,
    begun: bool,
    /// Everybody before has had a turn.
    first: usize,
    /// By cohort.
    contests: BTreeMap<NodeId, Contest>,
    /// Those who stand directly at a ClusterQueue below a cohort.
    at: BTreeMap<NodeId, Vec<usize>>,
    /// The ClusterQueue whose turn it was last: usage on its path has changed since.
    changed: Option<NodeId>,
}

impl<'a> Tournament<'a> {
    pub(super) fn of(nominated: Vec<Nominated<'a>>) -> Self {
        Self {
            entrants: nominated.into_iter().map(Some).collect(),
            begun: false,
            first: 0,
            contests: BTreeMap::new(),
            at: BTreeMap::new(),
            changed: None,
        }
    }

    /// The winner of the tree that the first one left belongs to.
    pub(super) fn next(&mut self, tree: &mut QuotaTree, policy: &Policy) -> Option<Nominated<'a>> {
        if !self.begun {
            self.begun = true;
            self.begin(tree, policy);
        } else if let Some(changed) = self.changed.take() {
            self.measure_path(changed, tree, policy);
        }
        let left = self.entrants.get(self.first..)?;
        self.first += left.iter().position(Option::is_some)?;
        let node = self.entrants.get(self.first)?.as_ref()?.node;
        let contest = self.contests.get(&tree.root(node));
        // A ClusterQueue without a cohort competes with nobody.
        let winner = contest.map_or(Some(self.first), Contest::winner)?;
        let candidate = self.entrants.get_mut(winner)?.take()?;
        if let Some(here) = self.at.get_mut(&candidate.node) {
            here.retain(|entrant| *entrant != winner);
        }
        if let Some(contest) = tree
            .parent(candidate.node)
            .and_then(|parent| self.contests.get_mut(&parent))
        {
            contest.replace(Through::Itself(winner), None);
        }
        self.changed = Some(candidate.node);
        Some(candidate)
    }

    /// Measures everybody, from the deepest cohorts up.
    fn begin(&mut self, tree: &mut QuotaTree, policy: &Policy) {
        let mut cohorts: BTreeSet<(Reverse<usize>, NodeId)> = BTreeSet::new();
        for (index, entrant) in self.entrants.iter().enumerate() {
            let node = entrant.as_ref().map(|entrant| entrant.node);
            let Some((node, parent)) = node.and_then(|node| Some((node, tree.parent(node)?)))
            else {
                continue;
            };
            self.at.entry(node).or_default().push(index);
            let mut above = tree.path_up(parent).count();
            for cohort in tree.path_up(parent) {
                if !cohorts.insert((Reverse(above), cohort)) {
                    break;
                }
                above -= 1;
            }
        }
        let queues: Vec<NodeId> = self.at.keys().copied().collect();
        for queue in queues {
            self.measure_queue(queue, tree, policy);
        }
        for (_, cohort) in cohorts {
            self.measure_cohort(cohort, tree, policy);
        }
    }

    fn measure_path(&mut self, changed: NodeId, tree: &mut QuotaTree, policy: &Policy) {
        self.measure_queue(changed, tree, policy);
        let mut next = tree.parent(changed);
        while let Some(cohort) = next {
            self.measure_cohort(cohort, tree, policy);
            next = tree.parent(cohort);
        }
    }

    /// The places of those who stand at a ClusterQueue.
    fn measure_queue(&mut self, queue: NodeId, tree: &mut QuotaTree, policy: &Policy) {
        let Some(parent) = tree.parent(queue) else {
            return;
        };
        let contest = self.contests.entry(parent).or_default();
        for entrant in self.at.get(&queue).into_iter().flatten().copied() {
            let candidate = self.entrants.get(entrant).and_then(Option::as_ref);
            let rank = candidate.map(|candidate| rank(candidate, queue, tree, policy));
            let through = Through::Itself(entrant);
            contest.replace(
                through,
                rank.map(|rank| Place {
                    rank,
                    through,
                    entrant,
                }),
            );
        }
    }

    /// The place of the winner within a cohort in the one above.
    fn measure_cohort(&mut self, cohort: NodeId, tree: &mut QuotaTree, policy: &Policy) {
        let Some(parent) = tree.parent(cohort) else {
            return;
        };
        let winner = self.contests.get(&cohort).and_then(Contest::winner);
        let through = Through::Cohort(cohort);
        let place = winner.and_then(|entrant| {
            let candidate = self.entrants.get(entrant)?.as_ref()?;
            let rank = rank(candidate, cohort, tree, policy);
            Some(Place {
                rank,
                through,
                entrant,
            })
        });
        let contest = self.contests.entry(parent).or_default();
        contest.replace(through, place);
    }
}

/// What a workload brings into the comparison above a node that is on its path.
fn rank(candidate: &Nominated<'_>, at: NodeId, tree: &mut QuotaTree, policy: &Policy) -> Rank {
    let asked = candidate.usage();
    tree.add_at(candidate.node, asked);
    let share = Share::of(tree, at, &Usage::new());
    tree.remove_at(candidate.node, asked);
    let workload = &candidate.head.workload;
    let contender = Contender {
        preemptor: candidate.head.preemptor,
        share: &share,
        asked,
        priority: workload.priority,
        queued: workload.queued,
    };
    contender.rank(policy)
}
