//! Whoever is told to leave could be told so: it held quota, and the right that is named is one that the preemptor's queue has. Sections 4.5
//! and 4.6 of the reference.

use scheduler::{PlannedPreemption, PreemptionPolicy, PreemptionReason, Snapshot, Workload};

use crate::world::{Cycled, World};

pub(super) fn unjustified(world: &World, cycled: &Cycled) -> Vec<String> {
    let mut found = Vec::new();
    for preemption in &cycled.plan.preemptions {
        if let Some(problem) = problem(world, &cycled.before, preemption) {
            found.push(format!(
                "{} preempts {} ({:?}): {problem}",
                preemption.preemptor.key, preemption.target.workload.key, preemption.reason
            ));
        }
    }
    found
}

fn problem(world: &World, before: &Snapshot, preemption: &PlannedPreemption) -> Option<String> {
    let (preemptor, target) = (&preemption.preemptor, &preemption.target);
    let held = before
        .admitted_in(&target.cluster_queue)
        .any(|one| one.workload.key == target.workload.key);
    if !held {
        return Some("it holds no quota".to_owned());
    }
    let queue = before.cluster_queues.get(&preemption.cluster_queue)?;
    let rights = &queue.preemption;
    let same_queue = target.cluster_queue == queue.name;
    let may = |policy| allows(policy, preemptor, &target.workload);
    let right = match preemption.reason {
        PreemptionReason::InClusterQueue => same_queue && may(rights.within_cluster_queue),
        PreemptionReason::InCohortReclamation => !same_queue && may(rights.reclaim_within_cohort),
        PreemptionReason::InCohortReclaimWhileBorrowing => {
            let threshold = rights.max_priority_threshold.map(i64::from);
            !same_queue
                && may(rights.borrow_within_cohort)
                && threshold.is_none_or(|most| target.workload.priority <= most)
        }
        PreemptionReason::InCohortFairSharing => {
            !same_queue && may(rights.reclaim_within_cohort) && world.fair_sharing
        }
    };
    if !right {
        return Some("its queue has no such right".to_owned());
    }
    if !same_queue && !together(before, preemption) {
        return Some("they share no cohort".to_owned());
    }
    if !same_queue && !borrows(before, preemption) {
        return Some("nobody above it borrows what it holds".to_owned());
    }
    None
}

fn together(before: &Snapshot, preemption: &PlannedPreemption) -> bool {
    let root = |name| {
        before
            .tree
            .cluster_queue(name)
            .map(|id| before.tree.root(id))
    };
    root(&preemption.cluster_queue) == root(&preemption.target.cluster_queue)
}

/// Whether the target's queue, or a cohort above it that the preemptor is not in, uses more than its own of something that it holds.
fn borrows(before: &Snapshot, preemption: &PlannedPreemption) -> bool {
    let tree = &before.tree;
    let (Some(target), Some(preemptor)) = (
        tree.cluster_queue(&preemption.target.cluster_queue),
        tree.cluster_queue(&preemption.cluster_queue),
    ) else {
        return false;
    };
    let shared: Vec<_> = tree.path_up(preemptor).collect();
    let own = tree.path_up(target).take_while(|id| !shared.contains(id));
    let over = |id| {
        let mut held = preemption.target.usage.keys();
        held.any(|of| tree.borrows_with(id, of, quantity::Amount::ZERO))
    };
    own.into_iter().any(over)
}

/// Whether a policy names the target, by priority and by how long both have been in their queues.
fn allows(policy: PreemptionPolicy, preemptor: &Workload, target: &Workload) -> bool {
    match policy {
        PreemptionPolicy::Never | PreemptionPolicy::Unsaid => false,
        PreemptionPolicy::LowerPriority => target.priority < preemptor.priority,
        PreemptionPolicy::LowerOrNewerEqualPriority => {
            (target.priority, preemptor.queued) < (preemptor.priority, target.queued)
        }
        PreemptionPolicy::Any => true,
    }
}
