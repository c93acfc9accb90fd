use expect_test::{Expect, expect};

use super::{Assigner, Assignment, LastAssignment};
use crate::fixture::{World, limits, pod_set, queue, workload};
use crate::labels::{Effect, Labels, Requirement, Taint, Test, Toleration};
use crate::topology::TopologyRequest;
use crate::{Flavor, Mode, NoPreemption, PodSet, Preference, WhenPossible, Workload, messages};

fn assign(world: &World, workload: &Workload, last: Option<&LastAssignment>) -> Assignment {
    let snapshot = world.snapshot();
    let cluster_queue = &world.queues[0];
    let node = snapshot.tree.cluster_queue(&cluster_queue.name).unwrap();
    let flavors = &snapshot.flavors;
    let assigner = Assigner {
        tree: &snapshot.tree,
        cluster_queue,
        node,
        flavors,
        oracle: &NoPreemption,
        nominated: None,
        replaced: None,
        topologies: &snapshot.topologies,
        policy: &world.policy,
    };
    assigner.assign(workload, None, last)
}

/// `main: cpu=red` for every pod set, or the reason and the message.
#[expect(
    clippy::needless_pass_by_value,
    reason = "expectations are written in place"
)]
fn check(world: &World, workload: &Workload, expected: Expect) {
    let assignment = assign(world, workload, None);
    let text = if assignment.mode() == Mode::Fit {
        let of_set = |pod_set: &super::PodSetAssignment| {
            let flavors = pod_set
                .flavors
                .iter()
                .map(|(resource, choice)| format!(" {resource}={}", choice.flavor));
            format!(
                "{} x{}:{}",
                pod_set.name,
                pod_set.count,
                flavors.collect::<String>()
            )
        };
        assignment
            .pod_sets
            .iter()
            .map(of_set)
            .collect::<Vec<_>>()
            .join("\n")
    } else {
        let reason = assignment
            .no_fit_reason()
            .map_or("would fit after preemption", messages::no_fit_reason);
        format!("{reason}\n{}", messages::unassigned(&assignment))
    };
    expected.assert_eq(&text);
}

fn two_flavors() -> World {
    World::of(&[queue("a")
        .gives("red", &[("cpu", 4000)])
        .gives("blue", &[("cpu", 6000)])])
}

#[test]
fn the_first_flavor_with_room_is_taken() {
    check(
        &two_flavors(),
        &workload("w").asks(2, &[("cpu", 1000)]),
        expect!["main x2: cpu=red"],
    );
    check(
        &two_flavors(),
        &workload("w").asks(5, &[("cpu", 1000)]),
        expect!["main x5: cpu=blue"],
    );
}

#[test]
fn pod_sets_add_up_in_one_flavor() {
    let sets = [
        pod_set("driver", 1, &[("cpu", 3000)]),
        pod_set("workers", 2, &[("cpu", 1000)]),
    ];
    check(
        &two_flavors(),
        &workload("w").pods(&sets),
        expect![[r#"
        driver x1: cpu=red
        workers x2: cpu=blue"#]],
    );
}

#[test]
fn what_can_never_fit_says_how_much_there_could_be() {
    check(
        &two_flavors(),
        &workload("w").asks(7, &[("cpu", 1000)]),
        expect![[r#"
        ExceedsMaxQuota
        couldn't assign flavors to pod set main: insufficient quota for cpu in flavor blue, previously considered podsets requests (0) + current podset request (7) > maximum capacity (6), insufficient quota for cpu in flavor red, previously considered podsets requests (0) + current podset request (7) > maximum capacity (4)"#]],
    );
}

#[test]
fn what_is_in_use_says_how_much_is_missing() {
    let world = two_flavors().uses("a", &[("red", "cpu", 3500), ("blue", "cpu", 6000)]);
    check(
        &world,
        &workload("w").asks(1, &[("cpu", 1000)]),
        expect![[r#"
        would fit after preemption
        couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor blue, 1 more needed, insufficient unused quota for cpu in flavor red, 500m more needed"#]],
    );
}

#[test]
fn resources_of_a_group_come_from_one_flavor() {
    let world = World::of(&[queue("a")
        .gives("red", &[("cpu", 4000), ("memory", 1 << 20)])
        .gives("blue", &[("cpu", 4000), ("memory", 1 << 30)])]);
    check(
        &world,
        &workload("w").asks(1, &[("cpu", 1000), ("memory", 1 << 25)]),
        expect!["main x1: cpu=blue memory=blue"],
    );
}

#[test]
fn pods_are_counted_where_they_are_covered() {
    let world = World::of(&[queue("a").gives("red", &[("cpu", 9000), ("pods", 2)])]);
    check(
        &world,
        &workload("w").asks(2, &[("cpu", 1000)]),
        expect!["main x2: cpu=red pods=red"],
    );
    check(
        &world,
        &workload("w").asks(3, &[("cpu", 1000)]),
        expect![[r#"
        ExceedsMaxQuota
        couldn't assign flavors to pod set main: insufficient quota for pods in flavor red, previously considered podsets requests (0) + current podset request (3) > maximum capacity (2)"#]],
    );
}

#[test]
fn resources_nobody_covers_are_refused_unless_zero_or_ignored() {
    let mut world = two_flavors();
    check(
        &world,
        &workload("w").asks(1, &[("cpu", 1), ("example.com/gpu", 0)]),
        expect!["main x1: cpu=red"],
    );
    let asking = workload("w").asks(1, &[("cpu", 1), ("example.com/gpu", 1)]);
    check(
        &world,
        &asking,
        expect![[r#"
        NoMatchingFlavor
        couldn't assign flavors to pod set main: resource example.com/gpu unavailable in ClusterQueue"#]],
    );
    world.policy.ignore_undeclared = true;
    check(&world, &asking, expect!["main x1: cpu=red"]);
}

fn gpu_nodes() -> Flavor {
    Flavor {
        node_labels: Labels::from([
            ("gpu".to_owned(), "a100".to_owned()),
            ("zone".to_owned(), "north".to_owned()),
        ]),
        taints: vec![Taint {
            key: "nvidia.com/gpu".to_owned(),
            value: "present".to_owned(),
            effect: Effect::NoSchedule,
        }],
        ..Flavor::default()
    }
}

fn tolerating() -> PodSet {
    let toleration = Toleration {
        key: "nvidia.com/gpu".to_owned(),
        value: None,
        effect: Some(Effect::NoSchedule),
    };
    PodSet {
        tolerations: vec![toleration],
        ..pod_set("main", 1, &[("cpu", 1000)])
    }
}

fn one_gpu_flavor() -> World {
    World::of(&[queue("a").gives("a100", &[("cpu", 4000)])]).flavor("a100", gpu_nodes())
}

#[test]
fn taints_keep_away_what_does_not_tolerate_them() {
    check(
        &one_gpu_flavor(),
        &workload("w").asks(1, &[("cpu", 1000)]),
        expect![[r#"
        NoMatchingFlavor
        couldn't assign flavors to pod set main: untolerated taint {nvidia.com/gpu present NoSchedule <nil>} in flavor a100"#]],
    );
    check(
        &one_gpu_flavor(),
        &workload("w").pods(&[tolerating()]),
        expect!["main x1: cpu=a100"],
    );
    let other = Toleration {
        key: "nvidia.com/gpu".to_owned(),
        value: Some("absent".to_owned()),
        effect: None,
    };
    let wrong_value = PodSet {
        tolerations: vec![other],
        ..tolerating()
    };
    check(
        &one_gpu_flavor(),
        &workload("w").pods(&[wrong_value]),
        expect![[r#"
        NoMatchingFlavor
        couldn't assign flavors to pod set main: untolerated taint {nvidia.com/gpu present NoSchedule <nil>} in flavor a100"#]],
    );
}

#[test]
fn a_flavor_tolerates_for_its_pods_and_preferences_keep_nobody_away() {
    let toleration = Toleration {
        key: String::new(),
        value: None,
        effect: None,
    };
    let kind = Flavor {
        tolerations: vec![toleration],
        ..gpu_nodes()
    };
    check(
        &one_gpu_flavor().flavor("a100", kind),
        &workload("w").asks(1, &[("cpu", 1000)]),
        expect!["main x1: cpu=a100"],
    );
    let mut soft = gpu_nodes();
    soft.taints[0].effect = Effect::PreferNoSchedule;
    check(
        &one_gpu_flavor().flavor("a100", soft),
        &workload("w").asks(1, &[("cpu", 1000)]),
        expect!["main x1: cpu=a100"],
    );
}

#[test]
fn only_the_labels_of_the_flavor_are_compared() {
    let require = |key: &str, test: Test| {
        vec![Requirement {
            key: key.to_owned(),
            test,
        }]
    };
    let values = |list: &[&str]| {
        list.iter()
            .map(|value| (*value).to_owned())
            .collect::<Vec<_>>()
    };
    let cases = [
        ("no terms", vec![], true),
        (
            "matching",
            vec![require("gpu", Test::In(values(&["v100", "a100"])))],
            true,
        ),
        (
            "not matching",
            vec![require("gpu", Test::In(values(&["v100"])))],
            false,
        ),
        (
            "excluded",
            vec![require("gpu", Test::NotIn(values(&["a100"])))],
            false,
        ),
        (
            "another key",
            vec![require("disk", Test::In(values(&["ssd"])))],
            true,
        ),
        (
            "one of two terms",
            vec![
                require("gpu", Test::In(values(&["v100"]))),
                require("zone", Test::Exists),
            ],
            true,
        ),
        (
            "absent although present",
            vec![require("zone", Test::DoesNotExist)],
            false,
        ),
        ("numbers", vec![require("zone", Test::Gt(1))], false),
        ("unknown operator", vec![require("gpu", Test::Never)], false),
    ];
    for (name, terms, fits) in cases {
        let mut pods = tolerating();
        pods.affinity.terms = terms;
        let assignment = assign(&one_gpu_flavor(), &workload("w").pods(&[pods]), None);
        assert_eq!(assignment.mode() == Mode::Fit, fits, "{name}");
    }
    for (key, value, fits) in [
        ("gpu", "a100", true),
        ("gpu", "v100", false),
        ("disk", "ssd", true),
    ] {
        let mut pods = tolerating();
        pods.affinity.selector = Labels::from([(key.to_owned(), value.to_owned())]);
        let assignment = assign(&one_gpu_flavor(), &workload("w").pods(&[pods]), None);
        assert_eq!(assignment.mode() == Mode::Fit, fits, "{key}={value}");
    }
}

#[test]
fn missing_flavors_and_topologies_say_so() {
    let mut world = two_flavors();
    world.flavors.remove("red");
    let with_topology = Flavor {
        topology: Some("racks".to_owned()),
        ..Flavor::default()
    };
    let world = world.flavor("blue", with_topology);
    check(
        &world,
        &workload("w").asks(1, &[("cpu", 1000)]),
        expect![[r#"
            NoMatchingFlavor
            couldn't assign flavors to pod set main: Flavor "blue" supports only TopologyAwareScheduling, flavor red not found"#]],
    );
    let asking = PodSet {
        topology: TopologyRequest {
            required: Some("rack".to_owned()),
            ..TopologyRequest::default()
        },
        ..pod_set("main", 1, &[("cpu", 1000)])
    };
    let plain = World::of(&[queue("a").gives("red", &[("cpu", 4000)])]);
    check(
        &plain,
        &workload("w").pods(&[asking]),
        expect![[r#"
            NoMatchingFlavor
            failed to assign flavors to pod set main: workload requires Topology, but there is no TAS cache information"#]],
    );
}

/// Red can only be borrowed, blue is there.
fn borrow_or_next(when_can_borrow: WhenPossible) -> World {
    let mut first = queue("a")
        .cohort("x")
        .gives("red", &[("cpu", 1000)])
        .gives("blue", &[("cpu", 6000)]);
    first.fungibility.when_can_borrow = when_can_borrow;
    World::of(&[first, queue("b").cohort("x").gives("red", &[("cpu", 9000)])])
}

#[test]
fn fungibility_decides_between_borrowing_and_the_next_flavor() {
    let asking = workload("w").asks(4, &[("cpu", 1000)]);
    check(
        &borrow_or_next(WhenPossible::MayStopSearch),
        &asking,
        expect!["main x4: cpu=red"],
    );
    check(
        &borrow_or_next(WhenPossible::TryNextFlavor),
        &asking,
        expect!["main x4: cpu=blue"],
    );
    let larger = workload("w").asks(7, &[("cpu", 1000)]);
    check(
        &borrow_or_next(WhenPossible::TryNextFlavor),
        &larger,
        expect!["main x7: cpu=red"],
    );
}

#[test]
fn pod_sets_of_a_group_receive_the_same_flavor() {
    let mut world = World::of(&[queue("a")
        .gives("small", &[("cpu", 3000)])
        .gives("large", &[("cpu", 9000)])]);
    world.policy.tas = false;
    let set = |name: &str, count: i64, group: Option<&str>| PodSet {
        topology: TopologyRequest {
            group: group.map(str::to_owned),
            ..TopologyRequest::default()
        },
        ..pod_set(name, count, &[("cpu", 1000)])
    };
    let sets = |group| [set("leader", 1, group), set("workers", 4, group)];
    check(
        &world,
        &workload("w").pods(&sets(None)),
        expect![[r#"
        leader x1: cpu=small
        workers x4: cpu=large"#]],
    );
    check(
        &world,
        &workload("w").pods(&sets(Some("pack"))),
        expect![[r#"
            leader x1: cpu=large
            workers x4: cpu=large"#]],
    );
    // Together they need more than each flavor has.
    let sets = [
        set("leader", 5, Some("pack")),
        set("workers", 5, Some("pack")),
    ];
    check(
        &world,
        &workload("w").pods(&sets),
        expect![[r#"
        ExceedsMaxQuota
        couldn't assign flavors to pod set leader: insufficient quota for cpu in flavor large, previously considered podsets requests (0) + current podset request (10) > maximum capacity (9), insufficient quota for cpu in flavor small, previously considered podsets requests (0) + current podset request (10) > maximum capacity (3); couldn't assign flavors to pod set workers: insufficient quota for cpu in flavor large, previously considered podsets requests (0) + current podset request (10) > maximum capacity (9), insufficient quota for cpu in flavor small, previously considered podsets requests (0) + current podset request (10) > maximum capacity (3)"#]],
    );
}

#[test]
fn a_search_ends_when_the_next_one_would_begin_where_one_has_begun() {
    // The first pod set fits in either flavor, the second one in none beside it.
    let world = World::of(&[queue("a")
        .gives("red", &[("cpu", 2000)])
        .gives("blue", &[("cpu", 2000)])]);
    let asking = workload("w").pods(&[
        pod_set("one", 1, &[("cpu", 1000)]),
        pod_set("two", 2, &[("cpu", 2000)]),
    ]);
    let mut searches = 0;
    let mut last: Option<LastAssignment> = None;
    loop {
        let mut assignment = assign(&world, &asking, last.as_ref());
        assert_eq!(assignment.mode(), Mode::NoFit);
        assignment.last.continues(last.as_ref(), 0);
        searches += 1;
        last = Some(assignment.last).filter(LastAssignment::has_untried_flavors);
        if last.is_none() {
            break;
        }
        assert!(searches < 9, "it goes round in circles");
    }
    assert_eq!(searches, 2);
}

#[test]
fn a_search_that_began_late_is_followed_by_one_from_the_beginning() {
    let world = borrow_or_next(WhenPossible::MayStopSearch);
    let asking = workload("w").asks(4, &[("cpu", 1000)]);
    let mut first = assign(&world, &asking, None);
    first.last.continues(None, 0);
    // Others were faster: what it found out is worth nothing, where it stopped is.
    let lost = first.last.in_another_world();
    let mut second = assign(&world, &asking, Some(&lost));
    second.last.continues(Some(&lost), 0);
    assert!(second.last.has_untried_flavors());
    let mut third = assign(&world, &asking, Some(&second.last));
    third.last.continues(Some(&second.last), 1);
    assert!(third.last.has_untried_flavors(), "somebody has left since");
}

#[test]
fn a_flavor_of_which_one_resource_needs_preemption_does_not_fit() {
    struct Reclaims;
    impl crate::Oracle for Reclaims {
        fn ask(
            &self,
            _: &crate::FlavorResource,
            _: quantity::Amount,
            height: usize,
        ) -> (crate::Possibility, usize) {
            (crate::Possibility::Preempt, height)
        }
    }
    let quotas = [("cpu", 4000), ("gpu", 0)];
    let mut own = queue("a").cohort("x").gives("red", &quotas);
    own.fungibility.preference = Preference::PreemptionOverBorrowing;
    let lender = queue("b")
        .cohort("x")
        .gives("red", &[("gpu", 9), ("cpu", 0)]);
    let world = World::of(&[own, lender]).uses("a", &[("red", "cpu", 3000)]);
    let snapshot = world.snapshot();
    let assigner = Assigner {
        tree: &snapshot.tree,
        cluster_queue: &world.queues[0],
        node: snapshot.tree.cluster_queue(&"a".into()).unwrap(),
        flavors: &snapshot.flavors,
        oracle: &Reclaims,
        nominated: None,
        replaced: None,
        topologies: &snapshot.topologies,
        policy: &world.policy,
    };
    let asking = workload("w").asks(2, &[("cpu", 1000), ("gpu", 1)]);
    let assignment = assigner.assign(&asking, None, None);
    assert_eq!(assignment.mode(), Mode::Preempt);
}

#[test]
fn a_search_goes_on_where_it_stopped_and_begins_anew_after_the_last_flavor() {
    let world = borrow_or_next(WhenPossible::MayStopSearch);
    let asking = workload("w").asks(4, &[("cpu", 1000)]);
    let mut first = assign(&world, &asking, None);
    first.last.continues(None, 0);
    assert!(first.last.has_untried_flavors());
    let mut second = assign(&world, &asking, Some(&first.last));
    second.last.continues(Some(&first.last), 0);
    assert_eq!(second.pod_sets[0].flavors["cpu"].flavor.as_str(), "blue");
    assert!(!second.last.has_untried_flavors());
    let third = assign(&world, &asking, Some(&second.last));
    assert_eq!(third.pod_sets[0].flavors["cpu"].flavor.as_str(), "red");
}

#[test]
fn progress_is_kept_for_one_cycle_and_dropped_when_the_request_changes() {
    let mut last = LastAssignment::default();
    (last.generation, last.cycle, last.shape) = (3, 7, Some(1));
    let keep = crate::Policy::default();
    let strict = crate::Policy {
        preserve_scan_progress: false,
        ..keep
    };
    let cases = [
        ("nothing changed", 3, 20, Some(1), keep, false),
        ("quota changed, next cycle", 4, 8, Some(1), keep, false),
        ("quota changed, later", 4, 9, Some(1), keep, true),
        ("another request", 3, 8, Some(2), keep, true),
        ("unknown request", 4, 8, None, keep, false),
        (
            "gate off, quota changed, next cycle",
            4,
            8,
            Some(1),
            strict,
            true,
        ),
        ("gate off, another request", 3, 8, Some(2), strict, false),
    ];
    for (name, generation, cycle, shape, policy, outdated) in cases {
        assert_eq!(
            last.outdated(generation, cycle, shape, &policy),
            outdated,
            "{name}"
        );
    }
}

#[test]
fn borrowing_limits_bound_what_could_ever_fit() {
    let world = World::of(&[
        queue("a")
            .cohort("x")
            .limited("red", &[("cpu", limits(2000, Some(1000), None))]),
        queue("b").cohort("x").gives("red", &[("cpu", 9000)]),
    ]);
    check(
        &world,
        &workload("w").asks(3, &[("cpu", 1000)]),
        expect!["main x3: cpu=red"],
    );
    check(
        &world,
        &workload("w").asks(4, &[("cpu", 1000)]),
        expect![[r#"
        ExceedsMaxQuota
        couldn't assign flavors to pod set main: insufficient quota for cpu in flavor red, previously considered podsets requests (0) + current podset request (4) > maximum capacity (3)"#]],
    );
}

#[test]
fn granular_modes_are_totally_ordered_under_either_preference() {
    use crate::{Granular, Possibility};
    let modes = [
        (Mode::NoFit, None),
        (Mode::Preempt, Some(Possibility::NoCandidates)),
        (Mode::Preempt, Some(Possibility::Preempt)),
        (Mode::Preempt, Some(Possibility::Reclaim)),
        (Mode::Fit, None),
    ];
    let all: Vec<_> = modes
        .iter()
        .flat_map(|(mode, possibility)| {
            (0..3).map(|borrow| Granular {
                mode: *mode,
                possibility: *possibility,
                borrow,
            })
        })
        .collect();
    for preference in [
        Preference::BorrowingOverPreemption,
        Preference::PreemptionOverBorrowing,
    ] {
        for a in &all {
            for b in &all {
                let (better, worse) = (
                    a.preferred_over(*b, preference),
                    b.preferred_over(*a, preference),
                );
                assert_eq!(better || worse, a != b, "{a:?} {b:?} {preference:?}");
                assert!(!(better && worse), "{a:?} {b:?} {preference:?}");
            }
        }
    }
}
