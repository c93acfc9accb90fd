//! Decides one workload after the other against what the earlier ones left. The steps are those of kueue-reference.md, section 4.2, by number.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use crate::admitted::Admitted;
use crate::assign::{Assignment, Mode};
use crate::names::WorkloadKey;
use crate::objects::PreemptionPolicy;
use crate::plan::{Admission, Eviction, Plan, Preemption};
use crate::preemption::Target;
use crate::quota::QuotaTree;
use crate::report::{Entry, Outcome, Report};

use super::nominate::Nominated;
use super::{Rules, Snapshot, reserve, variants};

/// A cycle while its entries are decided.
pub(super) struct Deciding<'a> {
    pub(super) snapshot: Snapshot,
    /// The tree of the snapshot once the victims have left.
    pub(super) left: QuotaTree,
    pub(super) rules: Rules<'a>,
    /// Who leaves because of what was decided so far.
    pub(super) victims: BTreeMap<WorkloadKey, Arc<Admitted>>,
    pub(super) report: Report,
    /// Somebody was given room that nobody has once the cycle is over.
    held_back: bool,
    plan: Plan,
}

impl<'a> Deciding<'a> {
    pub(super) fn new(snapshot: Snapshot, rules: Rules<'a>) -> Self {
        Self {
            left: snapshot.tree.clone(),
            snapshot,
            rules,
            victims: BTreeMap::new(),
            held_back: false,
            report: Report::default(),
            plan: Plan::default(),
        }
    }

    pub(super) fn tree(&mut self) -> &mut QuotaTree {
        &mut self.snapshot.tree
    }

    /// The plan, and the report with those who were never nominated at its end.
    pub(super) fn done(self, refused: Vec<Entry>) -> (Plan, Report) {
        let mut report = self.report;
        report.entries.extend(refused);
        (self.plan, report)
    }

    pub(super) fn decide(&mut self, mut candidate: Nominated<'_>) {
        let outcome = self.outcome(&mut candidate);
        let keeps = outcome.keeps_progress(self.rules.policy);
        let last = candidate.assigned.assignment.last;
        let last = match &outcome {
            Outcome::Preempting { .. } => last.once_more(),
            _ if !keeps => None,
            lost if lost.lost_to_others() => Some(last.in_another_world()),
            _ => Some(last),
        };
        let entry = Entry::of(candidate.head, outcome, last);
        self.report.entries.push(entry);
    }

    fn outcome(&mut self, candidate: &mut Nominated<'_>) -> Outcome {
        let policy = self.rules.policy;
        // 1. A variant of the same workload has the better flavor already.
        if policy.concurrent_admission && variants::better_one_runs(&self.snapshot, candidate) {
            return Outcome::BetterVariantRuns;
        }
        // 2. Others may have taken what it was nominated for.
        let outpaced = self.held_back && !is_hopeless(candidate);
        let fits = self.refresh(candidate);
        // 3. It runs on a node that failed, and there is no other one.
        if let Some(outcome) = self.without_node(candidate) {
            return outcome;
        }
        // 4. to 6. It cannot be helped in this cycle.
        if let Some(outcome) = self.hopeless(candidate) {
            if outpaced && is_hopeless(candidate) {
                let name = candidate.cluster_queue.name.clone();
                let key = candidate.head.workload.key.clone();
                self.report.outpaced.push((name, key));
            }
            return outcome;
        }
        // 7. It fits once those have left whom others preempt.
        if candidate.deferred {
            self.take(candidate);
            return Outcome::FitsAfterOthers;
        }
        // 8. and 9. Somebody else was faster.
        if self.overlaps(candidate) {
            self.skipped_preemption(candidate);
            return Outcome::TargetsTaken;
        }
        if !fits {
            if candidate.mode() == Mode::Preempt {
                self.skipped_preemption(candidate);
            }
            return Outcome::NoLongerFits;
        }
        // 10. From here on it is counted.
        self.take(candidate);
        let leaving = candidate.assigned.leaving();
        for gone in leaving {
            let known = self.victims.insert(gone.workload.key.clone(), gone.clone());
            if known.is_none() {
                self.left.remove(&gone.cluster_queue, &gone.usage);
            }
        }
        // 11. Others have to leave first.
        if candidate.mode() == Mode::Preempt {
            return self.preempt(candidate);
        }
        // 12. Those who were admitted before have to get going first.
        let reserved = candidate.head.workload.reserved;
        if policy.block_admission && self.snapshot.pods_not_ready && !reserved {
            self.held_back = true;
            return Outcome::WaitsForPods;
        }
        // 13. A variant with a worse flavor has to leave first.
        if let Some(worse) = self.worse_variant(candidate) {
            return self.migrate(candidate, &worse);
        }
        // 14. It is admitted.
        self.admit(candidate)
    }

    fn without_node(&mut self, candidate: &mut Nominated<'_>) -> Option<Outcome> {
        let workload = &candidate.head.workload;
        let reservation = workload.reservation.as_ref();
        let broken = reservation.filter(|reservation| reservation.needs_replacement())?;
        let fits = candidate.mode() == Mode::Fit && !candidate.deferred;
        if fits || !self.rules.policy.tas_fail_fast {
            return None;
        }
        let evicted = {
            let mut holding = self.snapshot.admitted_in(&candidate.cluster_queue.name);
            let own = holding.find(|held| held.workload.key == workload.key);
            own?.clone()
        };
        self.plan.evictions.push(Eviction::NodeFailures {
            evicted,
            nodes: broken.unhealthy_nodes.clone(),
        });
        Some(Outcome::NodesFailed(assignment(candidate)))
    }

    fn hopeless(&mut self, candidate: &mut Nominated<'_>) -> Option<Outcome> {
        match candidate.mode() {
            Mode::NoFit => Some(Outcome::NoFit(assignment(candidate))),
            Mode::Preempt if candidate.assigned.targets.is_empty() => {
                self.reserve(candidate);
                Some(Outcome::NoCandidates(assignment(candidate)))
            }
            Mode::Preempt => {
                let policy = self.rules.policy;
                let gated =
                    policy.concurrent_admission || policy.multikueue_orchestrated_preemption;
                let closed = gated && candidate.head.workload.preemption_gated;
                closed.then_some(Outcome::PreemptionGated)
            }
            Mode::Fit => None,
        }
    }

    /// Whoever can always reclaim does not have to keep others from borrowing meanwhile, unless it is about to get what it waits for.
    fn reserve(&mut self, candidate: &Nominated<'_>) {
        let queue = &candidate.cluster_queue;
        let reclaims = queue.preemption.reclaim_within_cohort == PreemptionPolicy::Any;
        let insists = candidate.head.preemptor.goes_first(self.rules.policy);
        if reclaims && !insists {
            return;
        }
        let borrows = candidate.assigned.assignment.borrowing > 0;
        let kept = reserve::reserved(
            &self.snapshot.tree,
            candidate.node,
            queue,
            candidate.usage(),
            borrows,
        );
        let places = candidate.places(&self.snapshot);
        self.held_back = true;
        self.snapshot.tree.add_at(candidate.node, &kept);
        self.left.add_at(candidate.node, &kept);
        self.snapshot.take_places(&places);
    }

    fn take(&mut self, candidate: &Nominated<'_>) {
        let places = candidate.places(&self.snapshot);
        self.snapshot.tree.add_at(candidate.node, candidate.usage());
        self.left.add_at(candidate.node, candidate.usage());
        self.snapshot.take_places(&places);
    }

    fn skipped_preemption(&mut self, candidate: &Nominated<'_>) {
        let name = candidate.cluster_queue.name.clone();
        *self.report.skipped_preemptions.entry(name).or_default() += 1;
    }

    fn preempt(&mut self, candidate: &mut Nominated<'_>) -> Outcome {
        let targets = mem::take(&mut candidate.assigned.targets);
        let issued = targets.len();
        for Target { admitted, reason } in targets {
            self.plan.preemptions.push(Preemption {
                preemptor: candidate.head.workload.clone(),
                cluster_queue: candidate.cluster_queue.name.clone(),
                preemptor_path: path(&self.snapshot.tree, &candidate.cluster_queue.name),
                target_path: path(&self.snapshot.tree, &admitted.cluster_queue),
                target: admitted,
                reason,
            });
        }
        Outcome::Preempting {
            assignment: assignment(candidate),
            issued,
            failed: 0,
        }
    }

    fn worse_variant(&self, candidate: &Nominated<'_>) -> Option<Arc<Admitted>> {
        let looks = self.rules.policy.concurrent_admission;
        looks
            .then(|| variants::worse_one(&self.snapshot, candidate))
            .flatten()
    }

    fn migrate(&mut self, candidate: &mut Nominated<'_>, worse: &Arc<Admitted>) -> Outcome {
        if !variants::may_migrate(candidate) {
            self.held_back = true;
            return Outcome::BelowLastAcceptable;
        }
        self.plan.evictions.push(Eviction::Migration {
            evicted: worse.clone(),
            by: candidate.head.workload.clone(),
        });
        Outcome::Migrating(assignment(candidate))
    }

    fn admit(&mut self, candidate: &mut Nominated<'_>) -> Outcome {
        let (head, queue) = (candidate.head, &candidate.cluster_queue);
        let assignment = &candidate.assigned.assignment;
        let mut admission = Admission::of(
            &head.workload,
            &queue.name,
            assignment,
            &self.snapshot.topologies,
        );
        admission.entry_penalty = queue.owes_entry_penalty(&head.workload, self.rules.policy);
        admission.replaces = candidate.assigned.replaced.take();
        self.plan.admissions.push(admission);
        self.snapshot.pods_not_ready = true;
        Outcome::Admitted(self::assignment(candidate))
    }
}

/// Whether it cannot be helped, whoever goes before it.
fn is_hopeless(candidate: &Nominated<'_>) -> bool {
    match candidate.mode() {
        Mode::Fit => false,
        Mode::Preempt => candidate.assigned.targets.is_empty(),
        Mode::NoFit => true,
    }
}

/// What a candidate was assigned, for the report. It is moved out but for where its search stopped: afterwards nobody asks for the rest.
fn assignment(candidate: &mut Nominated<'_>) -> Assignment {
    let own = &mut candidate.assigned.assignment;
    let last = own.last.clone();
    let moved = mem::take(own);
    own.last = last;
    moved
}

/// `/root/…/cohort/cluster-queue`.
fn path(tree: &QuotaTree, name: &crate::ClusterQueueName) -> String {
    format!("/{}", tree.path(name).join("/"))
}
