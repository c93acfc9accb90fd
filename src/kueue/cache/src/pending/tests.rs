use jiff::Timestamp;
use scheduler::{LocalQueueKey, PendingReason, Preemptor, RequeueReason, Strategy};
use serde_json::json;

use super::{Order, PendingQueue, Place, Requeue, Waiting};
use crate::tests::fixture::{key, object, second, workload};
use crate::{Options, Surroundings, TrackedLabel};

fn waiting(name: &str, door: &str, created: i64) -> Waiting {
    let made = workload(name, door, "1", created);
    Waiting::of(&made, &Options::default(), &Surroundings::default())
}

/// A queue with these workloads of LocalQueue `d`, the first one oldest.
fn queue(strategy: Strategy, names: &[&str]) -> PendingQueue {
    let mut queue = PendingQueue::new(strategy);
    for (name, created) in names.iter().zip(0..) {
        queue.push_or_update(waiting(name, "d", created), now());
    }
    assert!(queue.is_consistent());
    queue
}

fn now() -> Timestamp {
    second(100)
}

fn pop(queue: &mut PendingQueue) -> String {
    let head = queue
        .pop(Order::Plain)
        .map(|head| head.key().name.to_string());
    assert!(queue.is_consistent());
    head.unwrap_or_default()
}

/// The head goes back for this reason. Returns where it went, and who was set aside with it.
fn refuse(queue: &mut PendingQueue, name: &str, reason: RequeueReason) -> (Option<Place>, usize) {
    let requeue = Requeue {
        waiting: waiting(name, "d", 0),
        reason,
        told: None,
        changed: false,
    };
    let requeued = queue.requeue(requeue, now());
    assert!(queue.is_consistent());
    (requeued.place, requeued.bypassed.len())
}

#[test]
fn reasons_decide_where_a_workload_goes_back_to() {
    use RequeueReason as Reason;
    let (active, parked) = (Some(Place::Active), Some(Place::Parked));
    let cases = [
        (Reason::Generic, parked, active),
        (Reason::NamespaceMismatch, parked, parked),
        (Reason::NoFit, parked, active),
        (Reason::PreemptionNoCandidates, parked, active),
        (Reason::PreemptionGated, parked, active),
        (Reason::FailedAfterNomination, active, active),
        (Reason::PendingPreemption, active, active),
        (Reason::PendingMigration, active, active),
        (Reason::PreemptionFailed, active, active),
    ];
    for (reason, best_effort, strict) in cases {
        for (strategy, expected) in [
            (Strategy::BestEffortFifo, best_effort),
            (Strategy::StrictFifo, strict),
        ] {
            let mut queue = queue(strategy, &["w"]);
            pop(&mut queue);
            assert_eq!(
                refuse(&mut queue, "w", reason).0,
                expected,
                "{reason:?} {strategy:?}"
            );
        }
    }
}

#[test]
fn who_waits_for_evictions_stays_in_front_until_it_leaves() {
    let mut queue = queue(Strategy::BestEffortFifo, &["a", "b"]);
    assert_eq!(pop(&mut queue), "a");
    queue.push_or_update(waiting("older", "d", -9), now());
    refuse(&mut queue, "a", RequeueReason::PendingPreemption);
    assert_eq!(queue.preempts(&key("a"), 1), Preemptor::Waits);
    assert_eq!(
        queue.preempts(&key("a"), 2),
        Preemptor::No,
        "it has changed since"
    );
    let order: Vec<_> = queue
        .in_order(Order::Plain)
        .into_iter()
        .map(|one| one.key().name.to_string())
        .collect();
    assert_eq!(order, ["a", "older", "b"]);
    assert_eq!(pop(&mut queue), "a");
    queue.remove(&key("a"));
    assert_eq!(queue.preempts(&key("a"), 1), Preemptor::No);
    assert_eq!(pop(&mut queue), "older");
}

#[test]
fn a_preemptor_that_others_overtook_three_times_goes_before_all_others() {
    for strategy in [Strategy::BestEffortFifo, Strategy::StrictFifo] {
        let mut queue = queue(strategy, &["a"]);
        for _ in 0..3 {
            pop(&mut queue);
            refuse(&mut queue, "a", RequeueReason::PendingPreemption);
            assert_eq!(queue.preempts(&key("a"), 1), Preemptor::Waits);
            pop(&mut queue);
            refuse(&mut queue, "a", RequeueReason::FailedAfterNomination);
        }
        assert_eq!(queue.preempts(&key("a"), 1), Preemptor::Overtaken);
        pop(&mut queue);
        refuse(&mut queue, "a", RequeueReason::PendingPreemption);
        assert_eq!(queue.preempts(&key("a"), 1), Preemptor::Overtaken);
        assert_eq!(queue.preempts(&key("a"), 2), Preemptor::No);
        queue.remove(&key("a"));
        assert_eq!(queue.preempts(&key("a"), 1), Preemptor::No);
    }
}

#[test]
fn a_strict_queue_has_no_favourites() {
    let mut queue = queue(Strategy::StrictFifo, &["a"]);
    pop(&mut queue);
    queue.push_or_update(waiting("older", "d", -9), now());
    refuse(&mut queue, "a", RequeueReason::PendingPreemption);
    assert_eq!(queue.preempts(&key("a"), 1), Preemptor::Waits);
    assert_eq!(pop(&mut queue), "older");
}

#[test]
fn equal_workloads_are_set_aside_together_and_come_back_together() {
    let mut queue = queue(Strategy::BestEffortFifo, &["a", "b", "c"]);
    assert_eq!((queue.shapes().active, queue.all_shapes()), (1, 1));
    pop(&mut queue);
    assert_eq!(
        refuse(&mut queue, "a", RequeueReason::NoFit),
        (Some(Place::Parked), 2)
    );
    assert_eq!(
        queue.push_or_update(waiting("d", "d", 9), now()),
        Place::Parked
    );
    assert_eq!(
        queue.no_fit_reason(&key("d")),
        Some(PendingReason::PendingEvaluation)
    );
    assert_eq!((queue.pending().active, queue.pending().parked), (0, 4));
    assert_eq!(queue.unpark(now(), |key| *key.name != *"b"), 3);
    assert_eq!(queue.no_fit_reason(&key("b")), None, "it counts as new");
    assert_eq!(
        queue.push_or_update(waiting("e", "d", 9), now()),
        Place::Active
    );
}

#[test]
fn chances_given_during_a_try_count_for_the_one_being_tried() {
    let mut queue = queue(Strategy::BestEffortFifo, &["a"]);
    pop(&mut queue);
    queue.unpark(now(), |_| true);
    assert_eq!(
        refuse(&mut queue, "a", RequeueReason::NoFit).0,
        Some(Place::Active)
    );
    pop(&mut queue);
    assert_eq!(
        refuse(&mut queue, "a", RequeueReason::NoFit).0,
        Some(Place::Parked)
    );
}

#[test]
fn past_usage_of_local_queues_comes_before_priority_and_age() {
    let mut queue = PendingQueue::default();
    for (name, door, created) in [("a1", "a", 1), ("a2", "a", 2), ("b1", "b", 3)] {
        queue.push_or_update(waiting(name, door, created), now());
    }
    let usage = |door: &LocalQueueKey| if *door.name == *"a" { 2.0 } else { 1.0 };
    let by_usage = Order::ByUsage(&usage);
    let order: Vec<_> = queue
        .in_order(by_usage)
        .into_iter()
        .map(|one| one.key().name.to_string())
        .collect();
    assert_eq!(order, ["b1", "a1", "a2"]);
    let mut popped = Vec::new();
    while let Some(head) = queue.pop(by_usage) {
        popped.push(head.key().name.to_string());
    }
    assert_eq!(popped, order);
}

#[test]
fn numbers_and_amounts_include_the_one_being_tried() {
    let mut queue = queue(Strategy::BestEffortFifo, &["a", "b"]);
    pop(&mut queue);
    let door = LocalQueueKey::new("ns", "d");
    assert_eq!(queue.pending_of(&door).active, 2);
    assert_eq!(queue.resources().get(&"cpu".into()).value(), 2000);
    refuse(&mut queue, "a", RequeueReason::Generic);
    assert_eq!(
        (
            queue.pending_of(&door).active,
            queue.pending_of(&door).parked
        ),
        (1, 1)
    );
    assert_eq!(queue.resources().get(&"cpu".into()).value(), 2000);
    queue.remove(&key("a"));
    queue.remove(&key("b"));
    assert!(queue.is_empty() && queue.resources().is_empty());
}

#[test]
fn metrics_tell_apart_the_values_that_were_configured() {
    let options = Options {
        tracked_labels: vec![TrackedLabel {
            key: "team".to_owned(),
            values: vec!["vision".to_owned()],
            ..TrackedLabel::default()
        }],
        ..Options::default()
    };
    let mut queue = PendingQueue::default();
    for team in ["vision", "speech", "audio"] {
        let made = object(
            json!({"metadata": {"namespace": "ns", "name": team, "labels": {"team": team}}, "spec": {"podSets": []}}),
        );
        queue.push_or_update(
            Waiting::of(&made, &options, &Surroundings::default()),
            now(),
        );
    }
    let counts = queue.breakdown();
    assert_eq!(counts[&vec!["vision".to_owned()]].active, 1);
    assert_eq!(counts[&vec![TrackedLabel::UNTRACKED.to_owned()]].active, 2);
}
