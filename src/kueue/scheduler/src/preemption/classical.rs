//! Preemption without fair sharing: candidates go in order until the workload fits, then whoever turns out not to be needed stays.
//!
//! **Reclaim before borrowing** is decided in [`attempts`]: whether the search first looks for a solution in which the preemptor only
//! takes back what is its own, and only then for one in which it borrows (reference section 4.5).

use super::candidates::{Candidate, Class};
use super::ordered::Ordered;
use super::simulation::Simulation;
use super::{Finder, Need, Target};
use crate::objects::PreemptionPolicy;

/// Whether the preemptor may use more than its own quota in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Borrowing {
    Allowed,
    Forbidden,
}

impl Finder<'_> {
    pub(super) fn classical(
        &self,
        need: &Need<'_>,
        simulation: &mut Simulation<'_>,
    ) -> Vec<Target> {
        let mut candidates = self.candidates(need);
        for borrowing in self.attempts(need, &candidates) {
            let targets = attempt(need, &mut candidates, *borrowing, simulation);
            if !targets.is_empty() {
                return targets;
            }
        }
        Vec::new()
    }

    /// Reclaim before borrowing, or the other way round. Without borrowing more candidates may go; with it less has to go.
    fn attempts(&self, need: &Need<'_>, candidates: &Ordered<'_, '_>) -> &'static [Borrowing] {
        use Borrowing::{Allowed, Forbidden};
        let tree = &self.snapshot.tree;
        let (others, advantage) = (candidates.others, candidates.advantage);
        let never_while_borrowing =
            need.queue.preemption.borrow_within_cohort == PreemptionPolicy::Never;
        let has_quota_left = need
            .contested
            .iter()
            .all(|of| tree.used(need.node, of) < need.queue.quota(of).nominal);
        if !others || (never_while_borrowing && !has_quota_left) {
            // Nothing can be reclaimed: only the own queue is left, or the quota to reclaim for is used up.
            &[Allowed]
        } else if never_while_borrowing && !advantage {
            &[Forbidden, Allowed]
        } else {
            &[Allowed, Forbidden]
        }
    }
}

/// One try. Whatever it removed is back when it returns.
fn attempt(
    need: &Need<'_>,
    candidates: &mut Ordered<'_, '_>,
    borrowing: Borrowing,
    simulation: &mut Simulation<'_>,
) -> Vec<Target> {
    let (mut targets, mut at) = (Vec::new(), 0);
    while let Some(candidate) = candidates.get(at) {
        at += 1;
        if !may_still_go(need, candidate, borrowing, simulation) {
            continue;
        }
        simulation.remove(candidate.workload);
        targets.push(Target {
            admitted: candidate.workload.clone(),
            reason: candidate.class.reason(),
        });
        if simulation.fits(need, borrowing) {
            fill_back(need, &mut targets, borrowing, simulation);
            simulation.restore();
            return targets;
        }
    }
    simulation.restore();
    Vec::new()
}

/// Whether what went before has not made it wrong to evict this one: nobody is pushed below its own quota by a reclaim.
fn may_still_go(
    need: &Need<'_>,
    candidate: &Candidate<'_>,
    borrowing: Borrowing,
    simulation: &Simulation<'_>,
) -> bool {
    match candidate.class {
        Class::SameQueue => return true,
        Class::Priority {
            while_borrowing: false,
        } if borrowing == Borrowing::Allowed => return false,
        Class::Priority { .. } | Class::Advantage => {}
    }
    let tree = simulation.tree();
    tree.path_up(candidate.node)
        .take_while(|at| Some(*at) != candidate.meeting)
        .all(|at| tree.above_quota(at, &need.contested))
}

/// Gives every target another chance, the last chosen first, but for the one that made it fit. It is dropped by putting the last one
/// in its place, as the reference does: the order of targets shows in what is reported.
pub(super) fn fill_back(
    need: &Need<'_>,
    targets: &mut Vec<Target>,
    borrowing: Borrowing,
    simulation: &mut Simulation<'_>,
) {
    for index in (0..targets.len().saturating_sub(1)).rev() {
        simulation.put_back(&targets[index].admitted);
        if simulation.fits(need, borrowing) {
            targets.swap_remove(index);
        } else {
            simulation.remove(&targets[index].admitted);
        }
    }
}
