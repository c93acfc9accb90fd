use jiff::SignedDuration;
use serde_json::json;

use super::fixture::{World, key, local_queue, second, workload};

fn order(world: &World) -> Vec<String> {
    let pending = world.cache.pending_workloads(&"a".into()).unwrap();
    pending
        .into_iter()
        .map(|pending| pending.key.name.to_string())
        .collect()
}

#[test]
fn priority_comes_before_age_and_age_before_uid() {
    let mut world = World::new().queue("a", "1", &json!({}));
    let mut urgent = workload("urgent", "to-a", "9", 50);
    urgent.spec.priority = Some(1);
    for one in [
        workload("b-young", "to-a", "9", 20),
        workload("b-old", "to-a", "9", 10),
        workload("a-old", "to-a", "9", 10),
        urgent,
    ] {
        world.submit(one);
    }
    assert_eq!(order(&world), ["urgent", "a-old", "b-old", "b-young"]);
    world.change("b-young", |object| object.spec.priority = Some(2));
    assert_eq!(order(&world), ["b-young", "urgent", "a-old", "b-old"]);
}

#[test]
fn positions_are_counted_in_both_queues_parked_ones_included() {
    let mut world = World::new().queue("a", "1", &json!({}));
    let _ = world
        .cache
        .apply_local_queue(&local_queue("other", "a"), world.now);
    for (name, door, created) in [
        ("w0", "to-a", 0),
        ("w1", "other", 1),
        ("w2", "to-a", 2),
        ("w3", "other", 3),
    ] {
        world.submit(workload(name, door, "9", created));
    }
    world.cycle();
    let places = world.cache.pending_workloads(&"a".into()).unwrap();
    let places: Vec<_> = places
        .iter()
        .map(|place| {
            (
                place.key.name.as_ref(),
                place.position_in_cluster_queue,
                place.position_in_local_queue,
            )
        })
        .collect();
    assert_eq!(
        places,
        [("w0", 0, 0), ("w1", 1, 0), ("w2", 2, 1), ("w3", 3, 1)]
    );
    assert!(world.cache.pending_workloads(&"nowhere".into()).is_none());
}

#[test]
fn parked_workloads_return_only_when_something_that_counts_has_changed() {
    let mut world = World::new().queue("a", "1", &json!({}));
    world.submit(workload("w", "to-a", "9", 1));
    world.settle();
    assert_eq!(world.counts("a"), "active 0, parked 1, admitted 0");
    world.change("w", |object| {
        object.metadata.labels = Some([("colour".to_owned(), "blue".to_owned())].into());
    });
    assert_eq!(
        world.counts("a"),
        "active 0, parked 1, admitted 0",
        "a label is nothing"
    );
    world.change("w", |object| object.spec.priority = Some(7));
    assert_eq!(
        world.counts("a"),
        "active 1, parked 0, admitted 0",
        "a priority is something"
    );
}

#[test]
fn a_time_to_come_back_is_respected_whatever_else_happens() {
    let mut world = World::new().queue("a", "1", &json!({}));
    let mut waiting = workload("w", "to-a", "1", 1);
    let at = second(500);
    waiting.status = Some(super::fixture::object(
        json!({"requeueState": {"count": 1, "requeueAt": at.to_string()}}),
    ));
    world.submit(waiting);
    world.submit(workload("other", "to-a", "1", 2));
    assert_eq!(world.settle(), ["other"]);
    world.finish("other");
    assert!(
        world.settle().is_empty(),
        "quota is free, its time has not come"
    );
    world.now = at.checked_add(SignedDuration::from_millis(1)).unwrap();
    world.submit(workload("third", "to-a", "1", 3));
    world.delete("third");
    let _ = world.cache.apply_cluster_queue(
        &super::fixture::cluster_queue("a", "2", &json!({})),
        world.now,
    );
    assert_eq!(world.settle(), ["w"]);
}

#[test]
fn queues_are_taken_one_head_each() {
    let mut world = World::new()
        .queue("a", "4", &json!({}))
        .queue("b", "4", &json!({}));
    for (name, door) in [
        ("a1", "to-a"),
        ("a2", "to-a"),
        ("b1", "to-b"),
        ("b2", "to-b"),
    ] {
        world.submit(workload(name, door, "1", 1));
    }
    assert_eq!(world.cycle(), ["a1", "b1"]);
    assert_eq!(world.cycle(), ["a2", "b2"]);
    assert_eq!(world.cycle(), Vec::<String>::new());
}

#[test]
fn workloads_follow_their_door_to_another_queue() {
    let mut world = World::new()
        .queue("a", "1", &json!({}))
        .queue("b", "4", &json!({}));
    world.submit(workload("w", "to-a", "3", 1));
    world.settle();
    let _ = world
        .cache
        .delete_local_queue(&crate::LocalQueueKey::new("ns", "to-a"), world.now);
    assert_eq!(world.counts("a"), "active 0, parked 0, admitted 0");
    let _ = world
        .cache
        .apply_local_queue(&local_queue("to-a", "b"), world.now);
    assert_eq!(world.settle(), ["w"]);
    world.checked();
    assert!(world.cache.workload(&key("w")).is_some());
}

#[test]
fn what_is_changed_while_it_is_tried_is_tried_again() {
    let mut world = World::new().queue("a", "4", &json!({}));
    world.submit(workload("w", "to-a", "9", 1));
    let (_, report) = world.cache.begin_cycle(world.now).unwrap().run();
    world.change("w", |object| {
        let container = &mut object.spec.pod_sets[0]
            .template
            .spec
            .as_mut()
            .unwrap()
            .containers[0];
        let requests = container
            .resources
            .as_mut()
            .unwrap()
            .requests
            .as_mut()
            .unwrap();
        requests.insert("cpu".to_owned(), kueue_api::Quantity("1".to_owned()));
    });
    let settled = world.cache.settle(&report, world.now);
    assert!(settled.affected.wake);
    assert_eq!(world.settle(), ["w"]);
    world.submit(workload("other", "to-a", "1", 2));
    assert_eq!(world.settle(), ["other"], "its new shape did not fail");
}

#[test]
fn in_strict_order_only_a_closed_namespace_lets_others_pass() {
    let strict = json!({"queueingStrategy": "StrictFIFO", "namespaceSelector": {"matchLabels": {"team": "language"}}});
    let mut world = World::new().queue("a", "4", &strict);
    world.submit(workload("closed", "to-a", "1", 1));
    let open = super::fixture::object(
        json!({"metadata": {"name": "open", "labels": {"team": "language"}}}),
    );
    let _ = world.cache.apply_namespace(&open);
    let mut door = local_queue("door", "a");
    door.metadata.namespace = Some("open".to_owned());
    let _ = world.cache.apply_local_queue(&door, world.now);
    let mut second = workload("open", "door", "1", 2);
    second.metadata.namespace = Some("open".to_owned());
    world.submit(second);
    assert_eq!(world.settle(), ["open"]);
    assert_eq!(world.counts("a"), "active 0, parked 1, admitted 1");
}

#[test]
fn who_waits_for_others_to_leave_is_no_news_until_they_have() {
    let preempts = json!({"preemption": {"withinClusterQueue": "LowerPriority"}});
    let mut world = World::new().queue("a", "1", &preempts);
    world.submit(workload("low", "to-a", "1", 1));
    world.settle();
    let mut high = workload("high", "to-a", "1", 2);
    high.spec.priority = Some(5);
    world.submit(high);
    let (plan, report) = world.cache.begin_cycle(world.now).unwrap().run();
    assert_eq!(plan.preemptions.len(), 1);
    let settled = world.cache.settle(&report, world.now);
    assert!(!settled.affected.wake, "the same answer again");
    assert!(world.cache.has_work(), "and still it goes first");
    let _ = world.cache.begin_cycle(world.now);
    let gone = world.cache.delete_workload(&key("low"));
    assert!(gone.wake);
}
