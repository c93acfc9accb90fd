//! Whom the search picks, in cases of our own. `Scene` holds who runs where; every question also checks that the snapshot stays as it was.

mod fair;
mod properties;

use std::sync::Arc;

use jiff::Timestamp;

use super::{Finder, Oracle as _, Possibility, satisfies};
use crate::fixture::{World, nominal_quota, queue, shown, usage, workload};
use crate::places::Wanted;
use crate::{
    Admitted, ClusterQueue, FlavorResource, LocalQueueKey, Policy, Preemption, PreemptionPolicy,
    Snapshot, Usage, Workload,
};

/// Who runs where.
struct Scene {
    snapshot: Snapshot,
    policy: Policy,
}

impl Scene {
    fn of(world: &World) -> Self {
        Self {
            snapshot: world.snapshot(),
            policy: Policy::default(),
        }
    }

    /// One more workload that holds red cpu, since the second that it was queued at.
    fn runs(mut self, queue: &str, workload: Workload, cpu: i64) -> Self {
        let admitted = Admitted {
            cluster_queue: queue.into(),
            usage: red(cpu),
            places: Default::default(),
            reserved: Some(workload.queued),
            admitted: true,
            evicted: false,
            workload: Arc::new(workload),
        };
        self.snapshot.add(&Arc::new(admitted));
        self
    }

    /// One that is leaving already.
    fn leaves(mut self, queue: &str, workload: Workload, cpu: i64) -> Self {
        let key = workload.key.clone();
        self = self.runs(queue, workload, cpu);
        let shown = self.snapshot.admitted[queue][&key].clone();
        self.snapshot.remove(&shown);
        let leaving = Admitted {
            evicted: true,
            ..Admitted::clone(&shown)
        };
        self.snapshot.add(&Arc::new(leaving));
        self
    }

    /// Whom `workload` would evict for so much red cpu: `name (reason)`, in the order of their names.
    fn asks(&self, queue: &str, workload: &Workload, cpu: i64) -> Vec<String> {
        let before = (shown(&self.snapshot.tree), self.snapshot.admitted.clone());
        let finder = Finder::new(&self.snapshot, &self.policy, Timestamp::UNIX_EPOCH);
        let wanted = Wanted::default();
        let find = || {
            let contested = [of()].into();
            finder.targets_for(workload, &queue.into(), contested, &red(cpu), &wanted)
        };
        let found = find();
        assert_eq!(found, find(), "asked twice");
        assert_eq!(
            before,
            (shown(&self.snapshot.tree), self.snapshot.admitted.clone())
        );
        let mut told: Vec<_> = found
            .iter()
            .map(|target| {
                format!(
                    "{} ({:?})",
                    target.admitted.workload.key.name, target.reason
                )
            })
            .collect();
        told.sort();
        told
    }

    fn oracle(&self, queue: &str, workload: &Workload, cpu: i64) -> (Possibility, usize) {
        let finder = Finder::new(&self.snapshot, &self.policy, Timestamp::UNIX_EPOCH);
        let name = queue.into();
        let node = self.snapshot.tree.cluster_queue(&name).unwrap();
        let amount = quantity::Amount::new(cpu);
        let height = self.snapshot.tree.level(node, &of(), amount).height;
        finder
            .oracle(workload, &name, node)
            .ask(&of(), amount, height)
    }
}

fn of() -> FlavorResource {
    FlavorResource::new("red", "cpu")
}

fn red(cpu: i64) -> Usage {
    usage(&[("red", "cpu", cpu)])
}

fn job(name: &str, priority: i64, second: i64) -> Workload {
    workload(name).priority(priority).at(second)
}

/// A ClusterQueue that preempts lower priorities of its own and takes back from anybody.
fn taker(name: &str, cohort: &str, cpu: i64) -> ClusterQueue {
    let mut queue = queue(name).cohort(cohort).gives("red", &[("cpu", cpu)]);
    queue.preemption = Preemption {
        within_cluster_queue: PreemptionPolicy::LowerPriority,
        reclaim_within_cohort: PreemptionPolicy::Any,
        ..Preemption::default()
    };
    queue
}

/// One that evicts nobody.
fn giver(name: &str, cohort: &str, cpu: i64) -> ClusterQueue {
    queue(name).cohort(cohort).gives("red", &[("cpu", cpu)])
}

#[test]
fn a_policy_looks_at_priority_and_at_the_place_in_the_queue() {
    use PreemptionPolicy::{Any, LowerOrNewerEqualPriority, LowerPriority, Never};
    let preemptor = job("preemptor", 5, 10);
    let lower = job("lower", 4, 0);
    let newer = job("newer", 5, 11);
    let older = job("older", 5, 9);
    let higher = job("higher", 6, 20);
    let table = [
        (Never, [false, false, false, false]),
        (LowerPriority, [true, false, false, false]),
        (LowerOrNewerEqualPriority, [true, true, false, false]),
        (Any, [true, true, true, true]),
    ];
    for (policy, expected) in table {
        let got = [&lower, &newer, &older, &higher].map(|one| satisfies(policy, &preemptor, one));
        assert_eq!(got, expected, "{policy:?}");
    }
}

#[test]
fn in_its_own_queue_the_least_important_and_then_the_newest_go() {
    let scene = Scene::of(&World::of(&[taker("a", "x", 4)]))
        .runs("a", job("older", 0, 1), 1)
        .runs("a", job("newer", 0, 2), 1)
        .runs("a", job("more", 1, 3), 1)
        .runs("a", job("most", 9, 0), 1);
    let me = job("me", 9, 9);
    assert_eq!(scene.asks("a", &me, 1), ["newer (InClusterQueue)"]);
    assert_eq!(scene.asks("a", &me, 2).len(), 2);
    assert_eq!(scene.asks("a", &me, 4), [""; 0], "equals stay");
    assert_eq!(scene.oracle("a", &me, 1), (Possibility::Preempt, 0));
    assert_eq!(scene.oracle("a", &me, 4), (Possibility::NoCandidates, 1));
}

#[test]
fn who_turns_out_not_to_be_needed_stays() {
    let scene = Scene::of(&World::of(&[taker("a", "x", 6)]))
        .runs("a", job("small", 0, 2), 1)
        .runs("a", job("tiny", 1, 2), 1)
        .runs("a", job("big", 2, 1), 4);
    assert_eq!(
        scene.asks("a", &job("me", 9, 9), 4),
        ["big (InClusterQueue)"]
    );
}

#[test]
fn who_leaves_already_is_counted_before_anybody_else_has_to_go() {
    let scene = Scene::of(&World::of(&[taker("a", "x", 2)]))
        .runs("a", job("low", 0, 5), 1)
        .leaves("a", job("leaving", 3, 1), 1);
    assert_eq!(
        scene.asks("a", &job("me", 9, 9), 1),
        ["leaving (InClusterQueue)"]
    );
}

#[test]
fn takes_back_what_others_borrow_and_nothing_that_is_theirs() {
    let world = World::of(&[taker("a", "x", 3), giver("b", "x", 3)]);
    let scene = Scene::of(&world)
        .runs("b", job("b1", 9, 1), 2)
        .runs("b", job("b2", 9, 2), 2);
    let me = job("me", 0, 9);
    assert_eq!(scene.asks("a", &me, 3), ["b2 (InCohortReclamation)"]);
    assert_eq!(scene.oracle("a", &me, 3), (Possibility::Reclaim, 0));
    assert_eq!(scene.asks("a", &me, 5), [""; 0], "b keeps its 3");
}

#[test]
fn an_inactive_queue_neither_loses_nor_takes() {
    let mut idle = giver("b", "x", 0);
    idle.active = false;
    let scene = Scene::of(&World::of(&[taker("a", "x", 2), idle])).runs("b", job("b1", 0, 1), 2);
    assert_eq!(scene.asks("a", &job("me", 0, 9), 1), [""; 0]);
}

/// `own` runs in `a`, `other` borrows in `b`. Both could make room.
fn two_ways() -> Scene {
    let world = World::of(&[taker("a", "x", 2), giver("b", "x", 2)]);
    Scene::of(&world)
        .runs("a", job("own", 0, 1), 1)
        .runs("b", job("other", 0, 1), 3)
}

#[test]
fn reclaims_before_it_borrows() {
    let me = job("me", 5, 9);
    assert_eq!(
        two_ways().asks("a", &me, 1),
        ["other (InCohortReclamation)"]
    );
    // Its own quota does not cover 2 on top of what runs: it may not push the other one out in order to borrow.
    let both = ["other (InCohortReclamation)", "own (InClusterQueue)"];
    assert_eq!(two_ways().asks("a", &me, 2), both);
}

#[test]
fn while_borrowing_only_the_less_important_below_the_threshold_go() {
    let mut borrower = taker("a", "x", 0);
    borrower.preemption.borrow_within_cohort = PreemptionPolicy::LowerPriority;
    let scene = |threshold| {
        let mut borrower = borrower.clone();
        borrower.preemption.max_priority_threshold = threshold;
        let world = World::of(&[borrower, giver("b", "x", 1), giver("c", "x", 2)]);
        Scene::of(&world)
            .runs("b", job("low", 1, 1), 2)
            .runs("b", job("high", 7, 1), 1)
    };
    let me = job("me", 5, 9);
    assert_eq!(
        scene(None).asks("a", &me, 2),
        ["low (InCohortReclaimWhileBorrowing)"]
    );
    assert_eq!(
        scene(Some(1)).asks("a", &me, 2),
        ["low (InCohortReclaimWhileBorrowing)"]
    );
    assert_eq!(scene(Some(0)).asks("a", &me, 2), [""; 0]);
    assert_eq!(scene(None).oracle("a", &me, 2), (Possibility::Reclaim, 1));
}

#[test]
fn who_stands_nearer_to_the_quota_may_take_it_from_anybody_further_out() {
    let world = World::of(&[taker("a", "inner", 0), giver("far", "outer", 0)])
        .cohort("inner", Some("outer"), &[("red", "cpu", nominal_quota(2))])
        .cohort("outer", None, &[]);
    let scene = Scene::of(&world).runs("far", job("important", 100, 1), 2);
    // It borrows from its cohort, and yet it is the cohort's quota that the other one uses.
    assert_eq!(
        scene.asks("a", &job("me", 0, 9), 2),
        ["important (InCohortReclamation)"]
    );
    let reverse = World::of(&[giver("a", "inner", 0), taker("far", "outer", 0)])
        .cohort("inner", Some("outer"), &[("red", "cpu", nominal_quota(2))])
        .cohort("outer", None, &[]);
    let scene = Scene::of(&reverse).runs("a", job("in-its-place", 0, 1), 2);
    assert_eq!(scene.asks("far", &job("me", 100, 9), 2), [""; 0]);
}

#[test]
fn of_one_queue_whoever_came_through_the_greedier_local_queue_goes_first() {
    let through = |name: &str, door: &str, second| {
        let mut job = job(name, 0, second);
        job.local_queue = LocalQueueKey::new("ns", door);
        job
    };
    let mut scene = Scene::of(&World::of(&[taker("a", "x", 2)]))
        .runs("a", through("modest", "few", 2), 1)
        .runs("a", through("greedy", "many", 1), 1);
    let me = job("me", 9, 9);
    let usage = [("few", 1.0), ("many", 7.5)];
    let usage = usage.map(|(door, used)| (LocalQueueKey::new("ns", door), used));
    scene.snapshot.past_usage = Arc::new(usage.into());
    assert_eq!(scene.asks("a", &me, 1), ["modest (InClusterQueue)"]);
    scene.policy.admission_fair_sharing = true;
    assert_eq!(scene.asks("a", &me, 1), ["greedy (InClusterQueue)"]);
}
