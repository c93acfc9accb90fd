use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use quantity::Amount;

use super::{Level, Quota};
use crate::fixture::{World, limits, nominal_quota, queue, shown, usage};
use crate::{ClusterQueueName, FlavorResource, check_tree};

#[expect(
    clippy::needless_pass_by_value,
    reason = "expectations are written in place"
)]
fn check(world: &World, expected: Expect) {
    let tree = world.tree();
    assert_eq!(check_tree(&tree).len(), 0);
    expected.assert_eq(&shown(&tree));
}

#[test]
fn a_queue_alone_has_what_it_brings_in() {
    let world =
        World::of(&[queue("a").gives("red", &[("cpu", 5)])]).uses("a", &[("red", "cpu", 2)]);
    check(
        &world,
        expect![[r#"
        cq a red/cpu: uses 2 of 5, available 3, at most 5
    "#]],
    );
}

#[test]
fn members_of_a_cohort_share_what_is_unused() {
    let world = World::of(&[
        queue("a").cohort("x").gives("red", &[("cpu", 5)]),
        queue("b").cohort("x").gives("red", &[("cpu", 3)]),
    ])
    .uses("a", &[("red", "cpu", 6)]);
    check(
        &world,
        expect![[r#"
        cohort x red/cpu: uses 6 of 8, available 2, at most 8
        cq a red/cpu: uses 6 of 5, available 2, at most 8
        cq b red/cpu: uses 0 of 3, available 2, at most 8
    "#]],
    );
}

#[test]
fn limits_keep_what_must_not_be_lent_and_bound_what_may_be_borrowed() {
    let world = World::of(&[
        queue("a")
            .cohort("x")
            .limited("red", &[("cpu", limits(5, Some(1), None))]),
        queue("b")
            .cohort("x")
            .limited("red", &[("cpu", limits(8, None, Some(3)))]),
    ])
    .uses("b", &[("red", "cpu", 6)]);
    check(
        &world,
        expect![[r#"
        cohort x red/cpu: uses 1 of 8, available 7, at most 8
        cq a red/cpu: uses 0 of 5, available 6, at most 6
        cq b red/cpu: uses 6 of 8, available 7, at most 13
    "#]],
    );
}

#[test]
fn cohorts_bring_in_quota_of_their_own_and_limit_what_leaves_them() {
    let world = World::of(&[
        queue("a").cohort("left").gives("red", &[("cpu", 2)]),
        queue("b").cohort("right").gives("red", &[("cpu", 4)]),
    ])
    .cohort(
        "left",
        Some("root"),
        &[("red", "cpu", limits(3, Some(2), Some(4)))],
    )
    .cohort("right", Some("root"), &[])
    .cohort("root", None, &[("red", "cpu", nominal_quota(10))]);
    check(
        &world,
        expect![[r#"
        cohort left red/cpu: uses 0 of 5, available 7, at most 7
        cohort right red/cpu: uses 0 of 4, available 18, at most 18
        cohort root red/cpu: uses 0 of 18, available 18, at most 18
        cq a red/cpu: uses 0 of 2, available 7, at most 7
        cq b red/cpu: uses 0 of 4, available 18, at most 18
    "#]],
    );
}

#[test]
fn debt_is_not_negative_quota() {
    let world =
        World::of(&[queue("a").gives("red", &[("cpu", 5)])]).uses("a", &[("red", "cpu", 9)]);
    let tree = world.tree();
    let id = tree.cluster_queue(&"a".into()).unwrap();
    assert_eq!(
        tree.available(id, &FlavorResource::new("red", "cpu")),
        Amount::ZERO
    );
    assert_eq!(
        check_tree(&tree).len(),
        2,
        "over its own maximum and that of the root"
    );
}

#[test]
fn unlimited_quota_stays_unlimited() {
    let unlimited = Quota {
        nominal: Amount::UNLIMITED,
        ..Quota::default()
    };
    let world = World::of(&[
        queue("a").cohort("x").limited("red", &[("cpu", unlimited)]),
        queue("b").cohort("x").gives("red", &[("cpu", 1)]),
    ])
    .uses("b", &[("red", "cpu", 1_000_000)]);
    check(
        &world,
        expect![[r#"
        cohort x red/cpu: uses 1000000 of unlimited, available unlimited, at most unlimited
        cq a red/cpu: uses 0 of unlimited, available unlimited, at most unlimited
        cq b red/cpu: uses 1000000 of 1, available unlimited, at most unlimited
    "#]],
    );
}

#[test]
fn the_level_is_the_height_of_the_smallest_subtree_that_covers_it() {
    let world = World::of(&[
        queue("a").cohort("team").gives("red", &[("cpu", 2)]),
        queue("b").cohort("team").gives("red", &[("cpu", 3)]),
        queue("c").cohort("root").gives("red", &[("cpu", 4)]),
    ])
    .cohort("team", Some("root"), &[]);
    let tree = world.tree();
    let a = tree.cluster_queue(&"a".into()).unwrap();
    let cases = [
        (
            2,
            Level {
                height: 0,
                may_reclaim: true,
            },
        ),
        (
            3,
            Level {
                height: 1,
                may_reclaim: true,
            },
        ),
        (
            5,
            Level {
                height: 1,
                may_reclaim: true,
            },
        ),
        (
            6,
            Level {
                height: 2,
                may_reclaim: false,
            },
        ),
        (
            100,
            Level {
                height: 2,
                may_reclaim: false,
            },
        ),
    ];
    for (amount, level) in cases {
        assert_eq!(
            tree.level(a, &FlavorResource::new("red", "cpu"), Amount::new(amount)),
            level,
            "{amount}"
        );
    }
}

#[test]
fn circles_of_cohorts_are_found_and_nothing_else_is_taken_for_one() {
    let queues = ["a", "b", "c", "d"].map(|name| {
        queue(name)
            .cohort(&format!("of-{name}"))
            .gives("red", &[("cpu", 1)])
    });
    let world = World::of(&queues)
        .cohort("of-a", Some("of-b"), &[])
        .cohort("of-b", Some("of-a"), &[])
        .cohort("of-c", Some("of-a"), &[])
        .cohort("of-d", Some("far"), &[]);
    let tree = world.tree();
    let caught: Vec<_> = ["a", "b", "c", "d"]
        .into_iter()
        .filter(|name| tree.in_cycle(&(*name).into()))
        .collect();
    assert_eq!(caught, ["a", "b", "c"]);
    assert_eq!(check_tree(&tree).len(), 0);
}

#[test]
fn writing_to_a_clone_leaves_the_original_alone() {
    let world = World::of(&[
        queue("a").cohort("x").gives("red", &[("cpu", 5)]),
        queue("b").cohort("x").gives("red", &[("cpu", 5)]),
    ]);
    let original = world.tree();
    let before = shown(&original);
    let mut copy = original.clone();
    copy.add(&"a".into(), &usage(&[("red", "cpu", 4)]));
    assert_eq!(shown(&original), before);
    assert_ne!(shown(&copy), before);
}

#[test]
fn depth_is_no_danger() {
    let depth = 20_000;
    let mut world = World::of(&[queue("a").cohort("c0").gives("red", &[("cpu", 5)])]);
    for index in 0..depth {
        world = world.cohort(&format!("c{index}"), Some(&format!("c{}", index + 1)), &[]);
    }
    let mut tree = world.tree();
    let id = tree.cluster_queue(&"a".into()).unwrap();
    tree.add(&"a".into(), &usage(&[("red", "cpu", 3)]));
    tree.remove(&"a".into(), &usage(&[("red", "cpu", 1)]));
    assert_eq!(tree.available(id, &red()), Amount::new(3));
    assert_eq!(tree.potential(id, &red()), Amount::new(5));
    assert!(!tree.in_cycle(&"a".into()));
}

/// Up to six queues below up to four cohorts in any arrangement, with and without limits.
fn any_world() -> impl Strategy<Value = World> {
    let limit = || prop_oneof![Just(None), (0_i64..8).prop_map(Some)];
    let quota = move || {
        (0_i64..10, limit(), limit())
            .prop_map(|(nominal, borrowing, lending)| limits(nominal, borrowing, lending))
    };
    let cohorts = proptest::collection::vec((proptest::option::of(0_usize..4), quota()), 4);
    let queues = proptest::collection::vec((proptest::option::of(0_usize..4), quota()), 1..6);
    (cohorts, queues).prop_map(|(cohorts, queues)| {
        let queue = |(index, (cohort, quota)): (usize, &(Option<usize>, Quota))| {
            let bare = queue(&format!("q{index}")).limited("red", &[("cpu", *quota)]);
            match cohort {
                Some(cohort) => bare.cohort(&format!("c{cohort}")),
                None => bare,
            }
        };
        let queues: Vec<_> = queues.iter().enumerate().map(queue).collect();
        let mut world = World::of(&queues);
        for (index, (parent, quota)) in cohorts.iter().enumerate() {
            // A parent with a smaller number cannot lead back.
            let parent = parent
                .filter(|parent| *parent < index)
                .map(|parent| format!("c{parent}"));
            let quota = if parent.is_none() {
                nominal_quota(quota.nominal.value())
            } else {
                *quota
            };
            world = world.cohort(
                &format!("c{index}"),
                parent.as_deref(),
                &[("red", "cpu", quota)],
            );
        }
        world
    })
}

fn red() -> FlavorResource {
    FlavorResource::new("red", "cpu")
}

proptest! {
    #[test]
    fn whatever_is_taken_as_available_keeps_every_limit(world in any_world(), takes in proptest::collection::vec((0_usize..6, 1_i64..12), 0..20)) {
        let mut tree = world.tree();
        for (index, amount) in takes {
            let name = ClusterQueueName::from(format!("q{}", index % world.queues.len()).as_str());
            let id = tree.cluster_queue(&name).unwrap();
            if Amount::new(amount) <= tree.available(id, &red()) {
                tree.add(&name, &usage(&[("red", "cpu", amount)]));
            }
            prop_assert_eq!(check_tree(&tree), vec![]);
        }
    }

    #[test]
    fn usage_moved_step_by_step_is_the_usage_built_at_once(world in any_world(), adds in proptest::collection::vec((0_usize..6, 0_i64..9), 0..12), back in 0_usize..12) {
        let named = |index: usize| ClusterQueueName::from(format!("q{}", index % world.queues.len()).as_str());
        let mut tree = world.tree();
        for (index, amount) in &adds {
            tree.add(&named(*index), &usage(&[("red", "cpu", *amount)]));
        }
        for (index, amount) in adds.iter().take(back) {
            tree.remove(&named(*index), &usage(&[("red", "cpu", *amount)]));
        }
        let mut sums: BTreeMap<ClusterQueueName, i64> = BTreeMap::new();
        for (index, amount) in adds.iter().skip(back) {
            *sums.entry(named(*index)).or_default() += amount;
        }
        let used = sums.iter().map(|(name, sum)| (name.clone(), usage(&[("red", "cpu", *sum)]))).collect();
        let rebuilt = World { used, ..world }.tree();
        prop_assert_eq!(shown(&tree), shown(&rebuilt));
    }

    #[test]
    fn nothing_used_means_everything_possible_is_available(world in any_world()) {
        let tree = world.tree();
        for queue in &world.queues {
            let id = tree.cluster_queue(&queue.name).unwrap();
            prop_assert_eq!(tree.available(id, &red()), tree.potential(id, &red()));
        }
    }

    #[test]
    fn usage_elsewhere_never_adds_to_what_is_available(world in any_world(), amount in 1_i64..9) {
        let before = world.tree();
        for taker in &world.queues {
            let mut after = before.clone();
            after.add(&taker.name, &usage(&[("red", "cpu", amount)]));
            for queue in &world.queues {
                let id = before.cluster_queue(&queue.name).unwrap();
                prop_assert!(after.available(id, &red()) <= before.available(id, &red()));
            }
        }
    }
}
