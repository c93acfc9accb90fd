//! What must never be, whatever a script does. Each check says in one sentence what is wrong; none of them trusts the arithmetic that it
//! checks: sums and limits are computed anew from the objects.
//!
//! [`always`] holds after every command, [`after_cycle`] after every cycle, [`at_rest`] when nothing is left to do.

mod limits;
mod places;
mod preempted;
mod shares;

use std::collections::BTreeMap;

use cache::Violation;
use quantity::Amount;
use scheduler::{FlavorResource, PlannedPreemption, Usage, WorkloadKey};

use crate::world::{Cycled, World};

pub(crate) use limits::{Balance, Ledger, Name, amount};
pub(crate) use places::taken;
pub(crate) use shares::weight;

/// Sums and places: usage equals the sum of what is admitted, nobody is in two places.
pub fn always(world: &mut World) -> Vec<String> {
    // Quota that was taken away from those who hold it is the administrator's doing.
    let kept = world
        .cache
        .check()
        .into_iter()
        .filter(|found| !is_overdrawn(found));
    let mut found: Vec<String> = kept.map(|found| found.to_string()).collect();
    found.extend(wrong_sums(world));
    if world.fair_sharing {
        found.extend(shares::wrong(world));
    }
    found
}

/// More is used than quotas allow. That must never be either as long as nobody takes quota away.
pub fn overdrawn(world: &mut World) -> Vec<String> {
    let found = world.cache.check().into_iter().filter(is_overdrawn);
    found.map(|found| found.to_string()).collect()
}

fn is_overdrawn(found: &Violation) -> bool {
    matches!(
        found,
        Violation::AboveMaximum { .. } | Violation::RootOverdrawn { .. }
    )
}

/// The objects and the quota tree tell the same story.
fn wrong_sums(world: &mut World) -> Vec<String> {
    let ledger = Ledger::of(world);
    let tree = world.snapshot().tree;
    let mut found = Vec::new();
    for name in world.cache.cluster_queues() {
        let booked = tree.cluster_queue(name).map(|id| tree.usage_of(id));
        let booked = booked.map(present).unwrap_or_default();
        let held = present(ledger.held(name.as_str()));
        if booked != held {
            found.push(format!(
                "queue {name}: the tree says {booked:?}, its admitted workloads hold {held:?}"
            ));
        }
    }
    found
}

fn present(usage: &Usage) -> BTreeMap<FlavorResource, Amount> {
    let some = usage.iter().filter(|(_, amount)| **amount != Amount::ZERO);
    some.map(|(of, amount)| (of.clone(), *amount)).collect()
}

/// Nobody is admitted twice, and whoever was admitted stays within the limits of its queue and of every cohort above.
pub fn after_cycle(world: &World, cycled: &Cycled) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen: Vec<&WorkloadKey> = Vec::new();
    for admission in &cycled.plan.admissions {
        if seen.contains(&&admission.workload) {
            found.push(format!(
                "{} is admitted twice in one cycle",
                admission.workload
            ));
        }
        seen.push(&admission.workload);
        let heads = cycled.report.entries.iter();
        let tried = heads
            .filter(|entry| entry.workload == admission.workload)
            .count();
        if tried != 1 {
            found.push(format!(
                "{} is admitted and was tried {tried} times",
                admission.workload
            ));
        }
    }
    found.extend(limits::exceeded(world, cycled));
    found.extend(places::overfull(world, cycled));
    found.extend(places::misplaced(world, cycled));
    found.extend(preempted::unjustified(world, cycled));
    found
}

/// Once quiet, another cycle changes nothing, even for a controller that has just started.
pub fn at_rest(world: &mut World) -> Vec<String> {
    let mut found = Vec::new();
    if world.cycle().is_some() {
        found.push("the world is quiet, yet another cycle finds something to do".to_owned());
    }
    let mut fresh = world.retold();
    let (mut admitted, mut preempted) = (Vec::new(), Vec::new());
    let mut excused = false;
    let busy = fresh.run(|_, cycled| {
        excused |= cycled
            .plan
            .preemptions
            .iter()
            .any(|one| overlooked(world, one));
        if excused {
            return;
        }
        let keys = cycled.plan.admissions.iter();
        admitted.extend(keys.map(|admission| admission.workload.to_string()));
        let leaving = cycled.plan.preemptions.iter();
        preempted.extend(leaving.map(|one| one.target.workload.key.to_string()));
    });
    if !admitted.is_empty() {
        found.push(format!(
            "the world is quiet, yet a controller that starts now admits {}",
            admitted.join(", ")
        ));
    }
    if !preempted.is_empty() {
        found.push(format!(
            "the world is quiet, yet a controller that starts now preempts {}",
            preempted.join(", ")
        ));
    }
    if busy.is_err() && !fresh.past.at_war() {
        found.push("a controller that starts now never comes to rest".to_owned());
    }
    found
}

/// Whether a workload may be preempted only since somebody was admitted beside it, in the cycle in which its preemptor was last tried or later: its
/// ClusterQueue borrows since. As in the reference, an admission alone gives nobody another chance (DIFFERENCES.md).
fn overlooked(world: &World, preemption: &PlannedPreemption) -> bool {
    let target = &preemption.target.cluster_queue;
    *target != preemption.cluster_queue && world.past.grew_since(target, &preemption.preemptor.key)
}
