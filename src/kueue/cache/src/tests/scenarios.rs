use expect_test::expect;
use kueue_api::v1beta2::CheckState;
use serde_json::{Value, json};

use super::fixture::{World, cluster_queue, key, local_queue, object, second, workload};
use crate::{AssumeError, Options};

#[test]
fn one_too_many_waits_until_another_has_finished() {
    let mut world = World::new().queue("a", "4", &json!({}));
    for (name, created) in [("first", 1), ("second", 2), ("third", 3)] {
        world.submit(workload(name, "to-a", "2", created));
    }
    assert_eq!(world.settle(), ["first", "second"]);
    expect!["WaitingForQuota: couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor red, 2 more needed"]
        .assert_eq(&world.why("third"));
    assert_eq!(world.counts("a"), "active 0, parked 1, admitted 2");
    world.finish("first");
    assert_eq!(world.settle(), ["third"]);
    assert_eq!(world.counts("a"), "active 0, parked 0, admitted 2");
}

#[test]
fn what_can_never_fit_says_so_and_does_not_block_others() {
    let mut world = World::new().queue("a", "4", &json!({}));
    world.submit(workload("giant", "to-a", "6", 1));
    world.submit(workload("small", "to-a", "1", 2));
    assert_eq!(world.settle(), ["small"]);
    expect!["ExceedsMaxQuota: couldn't assign flavors to pod set main: insufficient quota for cpu in flavor red, previously considered podsets requests (0) + current podset request (6) > maximum capacity (4)"]
        .assert_eq(&world.why("giant"));
    let _ = world
        .cache
        .apply_cluster_queue(&cluster_queue("a", "8", &json!({})), world.now);
    assert_eq!(world.settle(), ["giant"]);
}

#[test]
fn strict_fifo_blocks_behind_the_first_and_does_not_spin() {
    let mut world = World::new().queue("a", "4", &json!({"queueingStrategy": "StrictFIFO"}));
    world.submit(workload("giant", "to-a", "6", 1));
    world.submit(workload("small", "to-a", "1", 2));
    assert_eq!(world.settle(), Vec::<String>::new());
    assert_eq!(world.counts("a"), "active 2, parked 0, admitted 0");
    assert!(world.cache.begin_cycle(world.now).is_none());
    world.delete("giant");
    assert_eq!(world.settle(), ["small"]);
}

#[test]
fn a_newcomer_of_higher_priority_goes_before_a_blocked_head() {
    let mut world = World::new().queue("a", "4", &json!({"queueingStrategy": "StrictFIFO"}));
    world.submit(workload("giant", "to-a", "6", 1));
    assert_eq!(world.settle(), Vec::<String>::new());
    let mut urgent = workload("urgent", "to-a", "1", 2);
    urgent.spec.priority = Some(10);
    world.submit(urgent);
    assert_eq!(world.settle(), ["urgent"]);
}

#[test]
fn a_missing_flavor_queue_or_door_is_waited_for() {
    let mut world = World::new();
    world.submit(workload("w", "door", "1", 1));
    assert_eq!(
        world.why("w"),
        "Misconfigured: LocalQueue door doesn't exist"
    );
    let _ = world
        .cache
        .apply_local_queue(&local_queue("door", "a"), world.now);
    assert_eq!(
        world.why("w"),
        "Misconfigured: ClusterQueue a doesn't exist"
    );
    let _ = world.cache.delete_resource_flavor(&"red".into());
    let _ = world
        .cache
        .apply_cluster_queue(&cluster_queue("a", "4", &json!({})), world.now);
    assert_eq!(world.why("w"), "Suspended: ClusterQueue a is inactive");
    assert_eq!(world.settle(), Vec::<String>::new());
    let affected = world
        .cache
        .apply_resource_flavor(&object(json!({"metadata": {"name": "red"}})));
    assert!(
        affected.workloads.contains(&key("w")),
        "its reason has changed"
    );
    assert_eq!(world.settle(), ["w"]);
}

#[test]
fn stopped_queues_admit_nothing_until_they_are_released() {
    let mut world = World::new().queue("a", "4", &json!({"stopPolicy": "Hold"}));
    world.submit(workload("w", "to-a", "1", 1));
    assert_eq!(world.settle(), Vec::<String>::new());
    assert_eq!(world.why("w"), "Suspended: ClusterQueue a is inactive");
    let _ = world
        .cache
        .apply_cluster_queue(&cluster_queue("a", "4", &json!({})), world.now);
    let mut door = local_queue("to-a", "a");
    door.spec.stop_policy = Some(kueue_api::v1beta2::StopPolicy::Hold);
    let _ = world.cache.apply_local_queue(&door, world.now);
    assert_eq!(world.settle(), Vec::<String>::new());
    assert_eq!(world.why("w"), "Suspended: LocalQueue to-a is inactive");
    let _ = world
        .cache
        .apply_local_queue(&local_queue("to-a", "a"), world.now);
    assert_eq!(world.settle(), ["w"]);
}

#[test]
fn a_namespace_that_begins_to_match_opens_the_queue() {
    let mut world = World::new().queue(
        "a",
        "4",
        &json!({"namespaceSelector": {"matchLabels": {"team": "language"}}}),
    );
    world.submit(workload("w", "to-a", "1", 1));
    assert_eq!(world.settle(), Vec::<String>::new());
    assert_eq!(
        world.why("w"),
        "Misconfigured: workload namespace doesn't match ClusterQueue selector"
    );
    let relabelled = object(json!({"metadata": {"name": "ns", "labels": {"team": "language"}}}));
    assert!(world.cache.apply_namespace(&relabelled).wake);
    assert!(
        !world.cache.apply_namespace(&relabelled).wake,
        "nothing new the second time"
    );
    assert_eq!(world.settle(), ["w"]);
}

#[test]
fn what_one_queue_gives_back_another_of_the_cohort_may_borrow() {
    let cohort = json!({"cohortName": "x"});
    let mut world = World::new()
        .queue("a", "2", &cohort)
        .queue("b", "2", &cohort);
    world.submit(workload("own", "to-b", "2", 1));
    assert_eq!(world.settle(), ["own"]);
    world.submit(workload("borrower", "to-a", "3", 2));
    assert_eq!(world.settle(), Vec::<String>::new());
    world.finish("own");
    assert_eq!(world.settle(), ["borrower"]);
    let status = world
        .cache
        .cluster_queue_status(&"a".into(), world.now)
        .unwrap();
    assert_eq!(
        json!(status.flavors_reservation[0].resources),
        json!([{"name": "cpu", "total": "3", "borrowed": "1"}])
    );
}

#[test]
fn a_queue_that_leaves_its_cohort_takes_its_quota_along() {
    let cohort = json!({"cohortName": "x"});
    let mut world = World::new()
        .queue("a", "1", &cohort)
        .queue("b", "3", &cohort);
    let _ = world
        .cache
        .apply_cluster_queue(&cluster_queue("b", "3", &json!({})), world.now);
    world.submit(workload("w", "to-a", "2", 1));
    assert_eq!(world.settle(), Vec::<String>::new());
    let _ = world
        .cache
        .apply_cluster_queue(&cluster_queue("b", "3", &cohort), world.now);
    assert_eq!(world.settle(), ["w"]);
}

#[test]
fn quota_of_a_cohort_object_is_shared_and_taken_away_again() {
    let mut world = World::new().queue("a", "1", &json!({"cohortName": "x"}));
    world.submit(workload("w", "to-a", "3", 1));
    assert_eq!(world.settle(), Vec::<String>::new());
    let group = json!([{"coveredResources": ["cpu"], "flavors": [{"name": "red", "resources": [{"name": "cpu", "nominalQuota": "2"}]}]}]);
    let _ = world.cache.apply_cohort(&object(
        json!({"metadata": {"name": "x"}, "spec": {"resourceGroups": group}}),
    ));
    assert_eq!(world.settle(), ["w"]);
    let _ = world.cache.delete_cohort(&"x".into());
    world.finish("w");
    world.submit(workload("again", "to-a", "3", 2));
    assert_eq!(world.settle(), Vec::<String>::new());
}

#[test]
fn equal_workloads_are_set_aside_together() {
    let mut world = World::new().queue("a", "2", &json!({}));
    for index in 0..5 {
        world.submit(workload(&format!("w{index}"), "to-a", "2", index));
    }
    assert_eq!(world.cycle(), ["w0"]);
    assert_eq!(world.cycle(), Vec::<String>::new());
    assert_eq!(
        world.counts("a"),
        "active 0, parked 4, admitted 1",
        "one try for all four"
    );
    assert!(
        world
            .why("w1")
            .starts_with("WaitingForQuota: couldn't assign")
    );
    let bypassed = "WaitingForQuota: Bypassed scheduling evaluation because an equivalent workload recently failed";
    assert_eq!(world.why("w3"), bypassed);
    world.submit(workload("late", "to-a", "2", 9));
    assert_eq!(world.why("late"), bypassed);
    world.submit(workload("other", "to-a", "1", 10));
    assert_eq!(
        world.counts("a"),
        "active 1, parked 5, admitted 1",
        "another shape is tried"
    );
    world.finish("w0");
    assert_eq!(world.settle(), ["w1"]);
}

#[test]
fn without_hashing_each_one_is_tried() {
    let mut options = Options::default();
    options.features.scheduling_equivalence_hashing = false;
    let mut world = World::with(options).queue("a", "2", &json!({}));
    for index in 0..3 {
        world.submit(workload(&format!("w{index}"), "to-a", "2", index));
    }
    assert_eq!(world.settle(), ["w0"]);
    assert!(
        world
            .why("w2")
            .starts_with("WaitingForQuota: couldn't assign")
    );
}

#[test]
fn a_failed_write_gives_the_quota_back_and_tries_again() {
    let mut world = World::new().queue("a", "2", &json!({}));
    world.submit(workload("w", "to-a", "2", 1));
    let (plan, report) = world.cache.begin_cycle(world.now).unwrap().run();
    let _ = world.cache.assume(&plan.admissions[0]).unwrap();
    let _ = world.cache.settle(&report, world.now);
    world.checked();
    assert_eq!(world.counts("a"), "active 0, parked 0, admitted 1");
    assert!(world.cache.begin_cycle(world.now).is_none());
    world.touch(&key("w"));
    assert_eq!(
        world.counts("a"),
        "active 0, parked 0, admitted 1",
        "an older object does not undo what was assumed"
    );
    assert!(world.cache.forget(&key("w"), world.now).wake);
    world.checked();
    assert_eq!(world.settle(), ["w"]);
}

#[test]
fn a_reservation_that_was_lost_unseen_is_noticed_by_its_version() {
    let mut world = World::new().queue("a", "2", &json!({}));
    world.submit(workload("w", "to-a", "2", 1));
    let (plan, report) = world.cache.begin_cycle(world.now).unwrap().run();
    let _ = world.cache.assume(&plan.admissions[0]).unwrap();
    let _ = world.cache.settle(&report, world.now);
    world.cache.written(&key("w"), "7");
    let mut seen = world.objects[&key("w")].clone();
    for (version, admitted) in [("6", 1), ("7", 1), ("9", 0)] {
        seen.metadata.resource_version = Some(version.to_owned());
        let _ = world.cache.apply_workload(&seen, world.now);
        assert_eq!(
            world.cache.counts(&"a".into()).unwrap().admitted,
            admitted,
            "version {version}"
        );
        world.checked();
    }
    let late = world.cache.admission_patch(&plan.admissions[0], world.now);
    assert_eq!(late, None, "nothing is written that is not assumed");
}

#[test]
fn what_changed_during_a_cycle_is_not_assumed() {
    type Change = fn(&mut World);
    let cases: [(&str, Change); 6] = [
        ("resized", |world| {
            world.change("w", |object| {
                object.spec.pod_sets[0].count = 7;
            });
        }),
        ("deleted", |world| world.delete("w")),
        ("deactivated", |world| {
            world.change("w", |object| object.spec.active = Some(false));
        }),
        ("finished", |world| world.finish("w")),
        ("moved", |world| {
            world.change("w", |object| {
                object.spec.queue_name = Some("elsewhere".to_owned());
            });
        }),
        ("made again", |world| {
            world.change("w", |object| {
                object.metadata.uid = Some("another".to_owned());
            });
        }),
    ];
    for (name, change) in cases {
        let mut world = World::new().queue("a", "2", &json!({}));
        world.submit(workload("w", "to-a", "2", 1));
        let (plan, report) = world.cache.begin_cycle(world.now).unwrap().run();
        change(&mut world);
        let refused = world.cache.assume(&plan.admissions[0]);
        assert_eq!(refused, Err(AssumeError::NotWaiting(key("w"))), "{name}");
        let _ = world.cache.settle(&report, world.now);
        world.checked();
    }
    let mut world = World::new().queue("a", "2", &json!({}));
    world.submit(workload("w", "to-a", "2", 1));
    let (plan, _) = world.cache.begin_cycle(world.now).unwrap().run();
    let _ = world.cache.delete_cluster_queue(&"a".into());
    assert_eq!(
        world.cache.assume(&plan.admissions[0]),
        Err(AssumeError::NoClusterQueue("a".into()))
    );
    world.checked();
}

#[test]
fn quota_freed_during_a_cycle_is_not_missed() {
    let mut world = World::new().queue("a", "2", &json!({}));
    world.submit(workload("running", "to-a", "2", 1));
    assert_eq!(world.settle(), ["running"]);
    world.submit(workload("w", "to-a", "2", 2));
    let (_, report) = world.cache.begin_cycle(world.now).unwrap().run();
    world.finish("running");
    let settled = world.cache.settle(&report, world.now);
    assert!(settled.affected.wake);
    assert_eq!(world.counts("a"), "active 1, parked 0, admitted 0");
    assert_eq!(world.settle(), ["w"]);
}

#[test]
fn an_evicted_workload_waits_for_its_time_and_keeps_or_loses_its_place() {
    let mut world = World::new().queue("a", "2", &json!({}));
    world.submit(workload("w", "to-a", "2", 1));
    assert_eq!(world.settle(), ["w"]);
    world.evict("w", "PodsReadyTimeout");
    world.submit(workload("newer", "to-a", "2", 2));
    assert_eq!(
        world.counts("a"),
        "active 1, parked 1, admitted 0",
        "not before its back-off is over"
    );
    let now = world.now;
    world.change("w", |object| {
        let conditions = &mut object.status.get_or_insert_default().conditions;
        kueue_api::conditions::set(
            conditions,
            kueue_api::conditions::condition("Requeued", true, "BackoffFinished", "", None, now),
        );
    });
    let order: Vec<_> = world
        .cache
        .pending_workloads(&"a".into())
        .unwrap()
        .into_iter()
        .map(|pending| pending.key.name.to_string())
        .collect();
    assert_eq!(
        order,
        ["newer", "w"],
        "it stands in the queue since its eviction"
    );
    assert_eq!(world.settle(), ["newer"]);
    world.finish("newer");
    assert_eq!(world.settle(), ["w"]);
    let object = &world.objects[&key("w")];
    let evicted = kueue_api::conditions::find(object.conditions(), "Evicted").unwrap();
    assert_eq!(
        (
            evicted.status.as_str(),
            evicted.reason.as_str(),
            evicted.message.as_str()
        ),
        ("False", "QuotaReserved", "Previously: by test")
    );
}

#[test]
fn a_preempted_workload_returns_to_its_old_place() {
    let mut world = World::new().queue("a", "2", &json!({}));
    world.submit(workload("w", "to-a", "2", 1));
    world.submit(workload("newer", "to-a", "2", 2));
    assert_eq!(world.settle(), ["w"]);
    world.evict("w", "Preempted");
    assert_eq!(world.settle(), ["w"]);
}

#[test]
fn pods_given_back_free_their_quota() {
    let mut world = World::new().queue("a", "4", &json!({}));
    let mut large = workload("large", "to-a", "1", 1);
    large.spec.pod_sets[0].count = 4;
    world.submit(large);
    world.submit(workload("w", "to-a", "2", 2));
    assert_eq!(world.settle(), ["large"]);
    world.change("large", |object| {
        object.status.get_or_insert_default().reclaimable_pods =
            object_list(json!([{"name": "main", "count": 2}]));
    });
    world.checked();
    assert_eq!(world.settle(), ["w"]);
}

fn object_list<T: serde::de::DeserializeOwned>(value: Value) -> Vec<T> {
    object(value)
}

#[test]
fn what_must_not_be_queued_is_not() {
    type Change = fn(&mut kueue_api::v1beta2::Workload);
    let hold: Change = |object| {
        let condition =
            kueue_api::conditions::condition("QuotaReserved", false, "OnHold", "", None, second(1));
        object
            .status
            .get_or_insert_default()
            .conditions
            .push(condition);
    };
    let gated: Change = |object| {
        let annotation = (
            "kueue.x-k8s.io/admission-gated-by".to_owned(),
            "example.com/gate".to_owned(),
        );
        object.metadata.annotations = Some([annotation].into());
    };
    let cases: [(&str, Change); 3] = [
        ("inactive", |object| object.spec.active = Some(false)),
        ("on hold", hold),
        ("gated", gated),
    ];
    for (name, change) in cases {
        let mut world = World::new().queue("a", "4", &json!({}));
        let mut held = workload("w", "to-a", "1", 1);
        change(&mut held);
        world.submit(held);
        assert!(world.settle().is_empty(), "{name}");
        assert_eq!(
            world.counts("a"),
            "active 0, parked 0, admitted 0",
            "{name}"
        );
        world.submit(workload("w", "to-a", "1", 1));
        assert_eq!(world.settle(), ["w"], "{name}");
    }
}

#[test]
fn a_check_that_is_not_ready_keeps_a_reserved_workload_from_being_admitted() {
    let mut world = World::new().queue("a", "4", &json!({}));
    let mut checked = workload("w", "to-a", "1", 1);
    checked.status =
        object(json!({"admissionChecks": [{"name": "check", "state": "Pending", "message": ""}]}));
    world.submit(checked);
    assert_eq!(world.settle(), ["w"]);
    let counts = world.cache.counts(&"a".into()).unwrap();
    assert_eq!((counts.reserving, counts.admitted), (1, 0));
    world.change("w", |object| {
        let status = object.status.get_or_insert_default();
        status.admission_checks[0].state = CheckState::Ready;
        kueue_api::conditions::set(
            &mut status.conditions,
            kueue_api::conditions::condition("Admitted", true, "Admitted", "", None, second(5)),
        );
    });
    assert_eq!(world.cache.counts(&"a".into()).unwrap().admitted, 1);
    world.checked();
}

#[test]
fn below_a_circle_of_cohorts_nothing_is_admitted_until_it_is_cut() {
    let mut world = World::new().queue("a", "4", &json!({"cohortName": "left"}));
    let below = |name: &str, parent: &str| {
        object(json!({"metadata": {"name": name}, "spec": {"parentName": parent}}))
    };
    let _ = world.cache.apply_cohort(&below("left", "right"));
    let _ = world.cache.apply_cohort(&below("right", "left"));
    world.submit(workload("w", "to-a", "1", 1));
    assert_eq!(world.settle(), Vec::<String>::new());
    // The queue says that it is active; whoever looks after the workload has to know what the cycle said, or takes it back.
    let hold = world.cache.pending_reason(&key("w"));
    assert_eq!(
        hold.map(|hold| hold.message),
        Some("ClusterQueue a is inactive".to_owned())
    );
    let _ = world.cache.apply_cohort(&below("right", "top"));
    assert_eq!(world.cache.pending_reason(&key("w")), None);
    assert_eq!(world.settle(), ["w"]);
}
