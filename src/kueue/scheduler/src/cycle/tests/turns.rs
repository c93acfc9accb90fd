//! What happens when a turn comes: targets that others took, places in the queue that others block, variants of one workload.

use expect_test::expect;

use crate::fixture::{World, queue, workload};
use crate::{PreemptionPolicy, Workload};

const RED: (&str, &str) = ("red", "cpu");

/// Two ClusterQueues that take back what a third one borrows.
fn creditors() -> World {
    let creditor = |name: &str| {
        let mut queue = queue(name).cohort("x").gives("red", &[("cpu", 4000)]);
        queue.preemption.reclaim_within_cohort = PreemptionPolicy::Any;
        queue
    };
    let debtor = queue("debtor").cohort("x").gives("red", &[("cpu", 0)]);
    World::of(&[creditor("a"), creditor("b"), debtor])
}

fn wants(name: &str, second: i64) -> Workload {
    workload(name).asks(4, &[("cpu", 1000)]).at(second)
}

fn both() -> [(&'static str, Workload); 2] {
    [("a", wants("first", 1)), ("b", wants("second", 2))]
}

#[test]
fn who_finds_its_target_taken_takes_another_one() {
    let world = creditors()
        .runs("debtor", workload("old").at(1), &[(RED.0, RED.1, 4000)])
        .runs("debtor", workload("new").at(2), &[(RED.0, RED.1, 4000)]);
    expect![[r#"
        first: WaitingForPreemptedWorkloads, PendingPreemption: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor red, 4 more needed. Pending the preemption of 1 workload(s)
        second: WaitingForPreemptedWorkloads, PendingPreemption: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor red, 4 more needed. Pending the preemption of 1 workload(s)
        new leaves for first
        old leaves for second
    "#]].assert_eq(&world.cycle(&both()));
    let mut without = world;
    without.policy.recompute_upon_overlap = false;
    expect![[r#"
        first: WaitingForPreemptedWorkloads, PendingPreemption: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor red, 4 more needed. Pending the preemption of 1 workload(s)
        second: WaitingForQuota, FailedAfterNomination: Workload has overlapping preemption targets with another workload
        new leaves for first
    "#]].assert_eq(&without.cycle(&both()));
}

#[test]
fn who_fits_once_others_targets_have_left_waits_for_that() {
    let world = creditors().runs("debtor", workload("large").at(1), &[(RED.0, RED.1, 8000)]);
    expect![[r#"
        first: WaitingForPreemptedWorkloads, PendingPreemption: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor red, 4 more needed. Pending the preemption of 1 workload(s)
        second: WaitingForPreemptedWorkloads, PendingPreemption: Workload has overlapping preemption targets with another workload, but will fit after these preemptions complete
        large leaves for first
    "#]].assert_eq(&world.cycle(&both()));
    // A third one does not get what the second one waits for.
    let third = ("debtor", workload("third").asks(1, &[("cpu", 1000)]).at(0));
    let [first, second] = both();
    expect![[r#"
        third: WaitingForQuota, NoFit: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor red, 1 more needed
        first: WaitingForPreemptedWorkloads, PendingPreemption: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor red, 4 more needed. Pending the preemption of 1 workload(s)
        second: WaitingForPreemptedWorkloads, PendingPreemption: Workload has overlapping preemption targets with another workload, but will fit after these preemptions complete
        large leaves for first
    "#]].assert_eq(&world.cycle(&[first, second, third]));
}

#[test]
fn nobody_is_admitted_while_the_pods_of_somebody_are_not_ready() {
    let mut world = creditors();
    world.policy.block_admission = true;
    expect![[r#"
        first: admitted red/cpu=4000
        second: WaitingForPodsReady, FailedAfterNomination: waiting for all admitted workloads to be in PodsReady condition
    "#]].assert_eq(&world.cycle(&both()));
    world.pods_not_ready = true;
    expect![[r#"
        first: WaitingForPodsReady, FailedAfterNomination: waiting for all admitted workloads to be in PodsReady condition
        second: WaitingForPodsReady, FailedAfterNomination: waiting for all admitted workloads to be in PodsReady condition
    "#]].assert_eq(&world.cycle(&both()));
    // Quota that is held already is not asked for again.
    let mut second_pass = wants("again", 0);
    second_pass.reserved = true;
    expect![[r#"
        again: admitted red/cpu=4000
    "#]]
    .assert_eq(&world.cycle(&[("a", second_pass)]));
}

#[test]
fn of_the_variants_of_a_workload_the_one_with_the_best_flavor_stays() {
    let variant = |flavor: &str| {
        let mut variant = workload(flavor).asks(1, &[("cpu", 1000)]);
        variant.allowed_flavors = Some(vec![flavor.into()]);
        variant.variant_of = Some("parent".into());
        variant
    };
    let flavors = queue("a")
        .gives("best", &[("cpu", 4000)])
        .gives("good", &[("cpu", 4000)])
        .gives("last", &[("cpu", 4000)]);
    let running = |flavors| {
        let mut world = World::of(&[flavors]);
        world.policy.concurrent_admission = true;
        world.runs("a", variant("good"), &[("good", "cpu", 1000)])
    };
    let world = running(flavors.clone());
    expect![[r#"
        last: PendingEvaluation, FailedAfterNomination: A more favorable variant is already admitted
    "#]]
    .assert_eq(&world.cycle(&[("a", variant("last"))]));
    expect![[r#"
        best: WaitingForPreemptedWorkloads, PendingMigration: . Pending the migration of 1 workload(s)
        good is evicted
    "#]].assert_eq(&world.cycle(&[("a", variant("best"))]));
    let mut stranger = variant("last");
    stranger.variant_of = Some("other".into());
    expect![[r#"
        last: admitted last/cpu=1000
    "#]]
    .assert_eq(&world.cycle(&[("a", stranger)]));
    // Moving is allowed down to a flavor, and the best one is beyond none.
    let mut choosy = flavors;
    choosy.last_acceptable_flavor = Some("best".into());
    let mut world = running(choosy);
    expect![[r#"
        best: WaitingForPreemptedWorkloads, PendingMigration: . Pending the migration of 1 workload(s)
        good is evicted
    "#]].assert_eq(&world.cycle(&[("a", variant("best"))]));
    world.queues[0].last_acceptable_flavor = Some("good".into());
    world.running.clear();
    let world = world.runs("a", variant("last"), &[("last", "cpu", 1000)]);
    expect![[r#"
        good: WaitingForPreemptedWorkloads, PendingMigration: . Pending the migration of 1 workload(s)
        last is evicted
    "#]].assert_eq(&world.cycle(&[("a", variant("good"))]));
}
