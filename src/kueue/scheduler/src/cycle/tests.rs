mod turns;

use expect_test::expect;

use crate::fixture::{World, limits, pod_set, queue, workload};
use crate::{
    Defect, Labels, OutOfBounds, PodSet, PreemptionPolicy, Requirement, Rule, Selector, Test,
};

fn pair() -> World {
    World::of(&[
        queue("a").cohort("x").gives("red", &[("cpu", 4000)]),
        queue("b").cohort("x").gives("red", &[("cpu", 4000)]),
    ])
}

#[test]
fn admits_in_one_cycle_what_fits_together_and_no_more() {
    let text = pair().cycle(&[
        ("a", workload("first").asks(5, &[("cpu", 1000)]).at(1)),
        ("b", workload("second").asks(4, &[("cpu", 1000)]).at(0)),
    ]);
    expect![[r#"
        second: admitted red/cpu=4000
        first: WaitingForQuota, FailedAfterNomination: Workload no longer fits after processing another workload
    "#]]
    .assert_eq(&text);
}

#[test]
fn two_may_borrow_in_one_cycle_if_the_cohort_has_enough() {
    let world = World::of(&[
        queue("a").cohort("x").gives("red", &[("cpu", 1000)]),
        queue("b").cohort("x").gives("red", &[("cpu", 1000)]),
        queue("c").cohort("x").gives("red", &[("cpu", 4000)]),
    ]);
    let text = world.cycle(&[
        ("a", workload("one").asks(3, &[("cpu", 1000)])),
        ("b", workload("two").asks(3, &[("cpu", 1000)])),
    ]);
    expect![[r#"
        one: admitted red/cpu=3000 borrowing at level 1
        two: admitted red/cpu=3000 borrowing at level 1
    "#]]
    .assert_eq(&text);
}

#[test]
fn who_borrows_less_goes_first_then_priority_then_time() {
    let world = World::of(&[
        queue("a").cohort("x").gives("red", &[("cpu", 9000)]),
        queue("b").cohort("x").gives("red", &[("cpu", 9000)]),
        queue("c").cohort("x").gives("red", &[("cpu", 0)]),
        queue("d").cohort("x").gives("red", &[("cpu", 9000)]),
    ]);
    let small = [("cpu", 1000)];
    let heads = [
        ("a", workload("late").asks(1, &small).at(5)),
        ("b", workload("early").asks(1, &small).at(3)),
        (
            "c",
            workload("borrower").asks(1, &small).at(0).priority(100),
        ),
        ("d", workload("important").asks(1, &small).at(9).priority(7)),
    ];
    let order = |text: &str| {
        text.lines()
            .map(|line| line.split(':').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        order(&world.cycle(&heads)),
        ["important", "early", "late", "borrower"]
    );
    let mut by_time = world;
    by_time.policy.priority_sorting_within_cohort = false;
    assert_eq!(
        order(&by_time.cycle(&heads)),
        ["early", "late", "important", "borrower"]
    );
}

#[test]
fn refuses_what_cannot_be_tried_and_says_why() {
    let only = |key: &str| Selector {
        requirements: vec![Requirement {
            key: key.to_owned(),
            test: Test::Exists,
        }],
    };
    let quota = [("cpu", 9000)];
    let mut stopped = queue("stopped").gives("red", &quota);
    stopped.active = false;
    let mut closed = queue("closed").gives("red", &quota);
    closed.namespaces = Some(only("team"));
    let mut nobody = queue("nobody").gives("red", &quota);
    nobody.namespaces = None;
    let circular = queue("circular").cohort("left").gives("red", &quota);
    let world = World::of(&[
        stopped,
        closed,
        nobody,
        circular,
        queue("open").gives("red", &quota),
    ])
    .cohort("left", Some("right"), &[])
    .cohort("right", Some("left"), &[]);
    let asking = |name: &str| workload(name).asks(1, &[("cpu", 1000)]);
    let mut checked = asking("checked");
    checked.defect = Some(Defect::FailedChecks);
    let mut greedy = asking("greedy");
    let bound = |resources: &[&str], rule| OutOfBounds {
        field: "spec…".to_owned(),
        resources: resources.iter().map(|name| (*name).into()).collect(),
        rule,
    };
    greedy.defect = Some(Defect::RequestsAboveLimits(vec![bound(
        &["cpu"],
        Rule::AboveLimits,
    )]));
    let mut outside = asking("outside");
    outside.defect = Some(Defect::OutsideLimitRange(vec![
        bound(&["cpu", "memory"], Rule::AboveMax),
        bound(&["memory"], Rule::BelowMin),
    ]));
    let text = world.cycle(&[
        ("stopped", asking("to-stopped")),
        ("missing", asking("to-missing")),
        ("closed", asking("to-closed")),
        ("nobody", asking("to-nobody")),
        ("circular", asking("to-circular")),
        ("open", checked),
        ("open", greedy),
        ("open", outside),
    ]);
    expect![[r#"
        to-stopped: Suspended, Generic: ClusterQueue stopped is inactive
        to-missing: Misconfigured, Generic: ClusterQueue missing not found
        to-closed: Misconfigured, NamespaceMismatch: workload namespace doesn't match ClusterQueue selector
        to-nobody: Misconfigured, NamespaceMismatch: workload namespace doesn't match ClusterQueue selector
        to-circular: Suspended, Generic: ClusterQueue circular is inactive
        checked: PendingEvaluation, Generic: The workload has failed admission checks
        greedy: Misconfigured, Generic: resources validation failed: spec…: Invalid value: ["cpu"]: requests must not exceed its limits
        outside: Misconfigured, Generic: resources didn't satisfy LimitRange constraints: [spec…: Invalid value: ["cpu","memory"]: requests must not be above the limitRange max, spec…: Invalid value: ["memory"]: requests must not be below the limitRange min]
    "#]]
    .assert_eq(&text);
    assert!(Selector::default().matches(&Labels::new()));
}

#[test]
fn who_waits_for_its_own_quota_keeps_it_from_borrowers() {
    let world = pair()
        .uses("a", &[("red", "cpu", 2000)])
        .uses("b", &[("red", "cpu", 4000)]);
    let heads = [
        ("a", workload("large").asks(4, &[("cpu", 1000)]).at(0)),
        ("b", workload("borrower").asks(1, &[("cpu", 1000)]).at(1)),
    ];
    expect![[r#"
        large: WaitingForQuota, PreemptionNoCandidates: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor red, 2 more needed
        borrower: WaitingForQuota, FailedAfterNomination: Workload no longer fits after processing another workload
    "#]]
    .assert_eq(&world.cycle(&heads));
    let mut reclaiming = world;
    reclaiming.queues[0].preemption.reclaim_within_cohort = PreemptionPolicy::Any;
    expect![[r#"
        large: WaitingForQuota, PreemptionNoCandidates: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor red, 2 more needed
        borrower: admitted red/cpu=1000 borrowing at level 1
    "#]]
    .assert_eq(&reclaiming.cycle(&heads));
}

#[test]
fn lent_quota_stops_at_the_lending_limit() {
    let world = World::of(&[
        queue("a").cohort("x").gives("red", &[("cpu", 1000)]),
        queue("b")
            .cohort("x")
            .limited("red", &[("cpu", limits(4000, None, Some(1000)))]),
    ]);
    let text = world.cycle(&[("a", workload("fits").asks(2, &[("cpu", 1000)]))]);
    expect![[r#"
        fits: admitted red/cpu=2000 borrowing at level 1
    "#]]
    .assert_eq(&text);
    let text = world.cycle(&[("a", workload("exceeds").asks(3, &[("cpu", 1000)]))]);
    expect![[r#"
        exceeds: ExceedsMaxQuota, NoFit: couldn't assign flavors to pod set main: insufficient quota for cpu in flavor red, previously considered podsets requests (0) + current podset request (3) > maximum capacity (2)
    "#]]
    .assert_eq(&text);
}

#[test]
fn partial_admission_finds_the_largest_count_that_fits() {
    let set = |count: i64, min: i64| PodSet {
        min_count: Some(min),
        ..pod_set("main", count, &[("cpu", 1000)])
    };
    let mut world = World::of(&[queue("a").gives("red", &[("cpu", 7000)])]);
    for (count, min, expected) in [
        (20, 1, "admitted red/cpu=7000"),
        (8, 7, "admitted red/cpu=7000"),
        (5, 1, "admitted red/cpu=5000"),
        (20, 8, "ExceedsMaxQuota"),
    ] {
        let text = world.cycle(&[("a", workload("w").pods(&[set(count, min)]))]);
        assert!(text.contains(expected), "{count} at least {min}: {text}");
    }
    world.policy.partial_admission = false;
    assert!(
        world
            .cycle(&[("a", workload("w").pods(&[set(20, 1)]))])
            .contains("ExceedsMaxQuota")
    );
}

#[test]
fn planning_again_after_the_plan_changes_nothing_more() {
    let world = pair();
    let heads = [
        ("a", workload("first").asks(5, &[("cpu", 1000)])),
        ("b", workload("second").asks(3, &[("cpu", 1000)])),
    ];
    let text = world.cycle(&heads);
    assert_eq!(text.matches("admitted").count(), 2, "{text}");
    let after = world
        .uses("a", &[("red", "cpu", 5000)])
        .uses("b", &[("red", "cpu", 3000)]);
    assert_eq!(after.cycle(&heads).matches("admitted").count(), 0);
}

#[test]
fn a_waiting_workload_reserves_what_could_become_its_own() {
    let world = || {
        World::of(&[
            queue("a")
                .cohort("x")
                .limited("own", &[("cpu", limits(10, Some(5), None))]),
            queue("rich").cohort("x").gives("own", &[("cpu", 90)]),
        ])
    };
    // Used before, asked for, how far up it borrows, what is reserved.
    let cases = [
        ("all of it fits below nominal", 2, 6, 0, 6),
        ("cut at nominal", 6, 6, 0, 4),
        ("nothing left of nominal", 12, 6, 0, 0),
        ("borrowing, within the limit", 12, 2, 1, 2),
        ("borrowing, cut at the limit", 12, 6, 1, 3),
    ];
    for (name, used, asked, level, expected) in cases {
        let world = world().uses("a", &[("own", "cpu", used)]);
        let tree = world.tree();
        let node = tree.cluster_queue(&"a".into()).unwrap();
        let asked = crate::fixture::usage(&[("own", "cpu", asked)]);
        let kept = super::reserve::reserved(&tree, node, &world.queues[0], &asked, level > 0);
        assert_eq!(
            kept,
            crate::fixture::usage(&[("own", "cpu", expected)]),
            "{name}"
        );
    }
    let unbounded = World::of(&[queue("a").cohort("x").gives("own", &[("cpu", 10)])]);
    let tree = unbounded.tree();
    let node = tree.cluster_queue(&"a".into()).unwrap();
    let asked = crate::fixture::usage(&[("own", "cpu", 50)]);
    assert_eq!(
        super::reserve::reserved(&tree, node, &unbounded.queues[0], &asked, true),
        asked
    );
}
