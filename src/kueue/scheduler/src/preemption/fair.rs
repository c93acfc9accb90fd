//! Preemption with fair sharing: again and again the ClusterQueue with the highest share loses a workload, as long as a strategy allows it
//! and until the preemptor fits (reference section 4.6, KEP 1714).
//!
//! Shares are compared between the two subtrees that meet where preemptor and target do, the preemptor's workload counted as running.

use std::sync::Arc;

use super::candidates::sort_by_past;
use super::classical::{Borrowing, fill_back};
use super::lanes::may_go;
use super::simulation::Simulation;
use super::tournament::{Chosen, Tournament};
use super::{Finder, Need, PreemptionReason, Target, by_order};
use crate::admitted::Admitted;
use crate::objects::{PreemptionPolicy, Usage};
use crate::policy::{FairSharing, FairStrategy};
use crate::share::Share;

/// One search, the preemptor's workload counted as running.
struct Contest<'a, 'b> {
    need: &'a Need<'a>,
    simulation: &'a mut Simulation<'b>,
    targets: Vec<Target>,
    /// Those whom the first strategy spared.
    spared: Vec<Arc<Admitted>>,
}

impl Finder<'_> {
    pub(super) fn fair(
        &self,
        need: &Need<'_>,
        rules: FairSharing,
        simulation: &mut Simulation<'_>,
    ) -> Vec<Target> {
        let candidates = self.fair_candidates(need);
        if candidates.is_empty() {
            return Vec::new();
        }
        simulation.take(&need.queue.name, need.usage);
        let mut contest = Contest {
            need,
            simulation,
            targets: Vec::new(),
            spared: Vec::new(),
        };
        let mut found = self.first_strategy(&mut contest, candidates, rules.first);
        if !found && rules.second.is_some() {
            found = self.second_strategy(&mut contest);
        }
        let mut targets = contest.targets;
        simulation.release(&need.queue.name, need.usage);
        if !found {
            return Vec::new();
        }
        fill_back(need, &mut targets, Borrowing::Allowed, simulation);
        targets
    }

    /// Everybody of the own ClusterQueue, and of those in the tree that borrow what is needed, each in the order in which they would go.
    fn fair_candidates(&self, need: &Need<'_>) -> Vec<Arc<Admitted>> {
        let tree = &self.snapshot.tree;
        let policies = &need.queue.preemption;
        let past = self.follows_past_usage();
        let mut found = Vec::new();
        let mut add = |node, policy: PreemptionPolicy| {
            if past {
                found.extend(self.allowed(need, node, policy));
            } else if policy != PreemptionPolicy::Never {
                let all = self.in_order(node);
                found.extend(all.iter().filter(|one| may_go(need, policy, one)));
            }
        };
        add(need.node, policies.within_cluster_queue);
        if policies.reclaim_within_cohort != PreemptionPolicy::Never {
            let mut open = vec![tree.root(need.node)];
            while let Some(at) = open.pop() {
                open.extend(tree.children(at));
                if at != need.node && tree.above_quota(at, &need.contested) {
                    add(at, policies.reclaim_within_cohort);
                }
            }
        }
        if past {
            let order = by_order(self.snapshot, &need.queue.name, self.now);
            sort_by_past(&mut found, |a, b| order(true, a, b));
        }
        // Only the order within each ClusterQueue counts.
        found.into_iter().cloned().collect()
    }

    /// Returns whether the preemptor fits.
    fn first_strategy(
        &self,
        contest: &mut Contest<'_, '_>,
        candidates: Vec<Arc<Admitted>>,
        rule: FairStrategy,
    ) -> bool {
        let need = contest.need;
        let name = &need.queue.name;
        let Some(mut tournament) = Tournament::new(self.snapshot, name, candidates, self.now)
        else {
            return false;
        };
        // Whoever stays within its own quota takes it back, whatever the shares are.
        let entitled =
            self.policy.fair_sharing_preempt_within_nominal && !contest.tree_above_quota();
        while let Some(chosen) = tournament.next(contest.simulation.tree()) {
            let gone = if chosen.own || entitled {
                let reason = if chosen.own {
                    PreemptionReason::InClusterQueue
                } else {
                    PreemptionReason::InCohortReclamation
                };
                tournament
                    .pop(chosen)
                    .map(|admitted| Target { admitted, reason })
            } else {
                contest.first_allowed(&mut tournament, chosen, rule)
            };
            if gone.is_some_and(|gone| contest.evict(&mut tournament, chosen, gone)) {
                return true;
            }
        }
        false
    }

    /// Goes through those that were spared, at most one a ClusterQueue. Returns whether the preemptor fits.
    fn second_strategy(&self, contest: &mut Contest<'_, '_>) -> bool {
        let name = &contest.need.queue.name;
        let spared = std::mem::take(&mut contest.spared);
        let Some(mut tournament) = Tournament::new(self.snapshot, name, spared, self.now) else {
            return false;
        };
        while let Some(chosen) = tournament.next(contest.simulation.tree()) {
            let gone = contest.if_allowed(&mut tournament, chosen);
            tournament.drop_out(chosen);
            if gone.is_some_and(|gone| contest.evict(&mut tournament, chosen, gone)) {
                return true;
            }
        }
        false
    }
}

impl Contest<'_, '_> {
    /// Whether the preemptor borrows what is needed, its workload counted.
    fn tree_above_quota(&self) -> bool {
        let tree = self.simulation.tree();
        tree.above_quota(self.need.node, &self.need.contested)
    }

    /// Evicts a workload. Returns whether the preemptor fits now.
    fn evict(&mut self, tournament: &mut Tournament<'_>, from: Chosen, gone: Target) -> bool {
        self.simulation.remove(&gone.admitted);
        tournament.changed(self.simulation.tree(), from.node);
        self.targets.push(gone);
        let need = self.need;
        self.simulation.release(&need.queue.name, need.usage);
        let fits = self.simulation.fits(need, Borrowing::Allowed);
        self.simulation.take(&need.queue.name, need.usage);
        fits
    }

    /// The first candidate of a ClusterQueue that a strategy lets go. Those before it are spared.
    fn first_allowed(
        &mut self,
        tournament: &mut Tournament<'_>,
        chosen: Chosen,
        rule: FairStrategy,
    ) -> Option<Target> {
        let tree = self.simulation.tree();
        let (ours, theirs) = tournament.below_meeting(tree, chosen.node)?;
        let preemptor = tournament.share(tree, ours).clone();
        let before = tournament.share(tree, theirs).clone();
        while let Some(admitted) = tournament.pop(chosen) {
            let allowed = match rule {
                FairStrategy::LessThanInitialShare => preemptor.compare(&before).is_lt(),
                FairStrategy::LessThanOrEqualToFinalShare => {
                    self.simulation.remove(&admitted);
                    let after = Share::of(self.simulation.tree(), theirs, &Usage::new());
                    self.simulation.put_back(&admitted);
                    preemptor.compare(&after).is_le()
                }
            };
            if allowed {
                let reason = PreemptionReason::InCohortFairSharing;
                return Some(Target { admitted, reason });
            }
            self.spared.push(admitted);
        }
        None
    }

    /// The next candidate of a ClusterQueue if that has a higher share than the preemptor.
    fn if_allowed(&self, tournament: &mut Tournament<'_>, chosen: Chosen) -> Option<Target> {
        let tree = self.simulation.tree();
        let (ours, theirs) = tournament.below_meeting(tree, chosen.node)?;
        let preemptor = tournament.share(tree, ours).clone();
        let allowed = preemptor.compare(tournament.share(tree, theirs)).is_lt();
        let admitted = tournament.pop(chosen)?;
        let reason = PreemptionReason::InCohortFairSharing;
        allowed.then_some(Target { admitted, reason })
    }
}
