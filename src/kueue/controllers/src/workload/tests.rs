//! What a Workload needs next, case by case.

use std::time::Duration;

use cache::PendingReason;
use jiff::{SignedDuration, Timestamp};
use kueue_api::conditions::{find, reasons};
use kueue_api::v1beta2::{StopPolicy, Workload};
use serde_json::{Value, json};

use super::decide::{Owner, QueueView, Step, View, next};
use cache::{Draft, Eviction};

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

/// A Workload with conditions given as `(type, status, reason)`, all since second 0.
fn workload(conditions: &[(&str, &str, &str)], extra: Value) -> Workload {
    let conditions: Vec<_> = conditions
        .iter()
        .map(|(t, s, r)| json!({"type": t, "status": s, "reason": r, "message": "m", "lastTransitionTime": "1970-01-01T00:00:00Z"}))
        .collect();
    let mut value = json!({
        "metadata": {"name": "w", "namespace": "reef", "finalizers": ["kueue.x-k8s.io/resource-in-use"], "labels": {}},
        "spec": {"queueName": "lq", "priority": 0, "podSets": [{"name": "main", "count": 1, "template": {}}]},
        "status": {"conditions": conditions}
    });
    merge(&mut value, extra);
    serde_json::from_value(value).unwrap()
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => from
            .into_iter()
            .for_each(|(k, v)| merge(into.entry(k).or_insert(Value::Null), v)),
        (into, from) => *into = from,
    }
}

const OPEN: QueueView = QueueView {
    stop: StopPolicy::None,
    deleting: false,
};

fn view(workload: &Workload) -> View<'_> {
    View {
        workload,
        owner: Owner::Present,
        local_queue: Some(OPEN),
        cluster_queue_name: "cq",
        cluster_queue: Some(OPEN),
        obstacle: None,
        class_value: None,
        keep_finished: None,
        now: at(100),
    }
}

const ADMITTED: &[(&str, &str, &str)] = &[
    ("QuotaReserved", "True", "QuotaReserved"),
    ("Admitted", "True", "Admitted"),
];

fn admitted() -> Workload {
    workload(
        ADMITTED,
        json!({"status": {"admission": {"clusterQueue": "cq"}}}),
    )
}

fn stopped(stop: StopPolicy) -> Option<QueueView> {
    Some(QueueView { stop, ..OPEN })
}

#[test]
fn admitted_workloads_leave_only_when_a_queue_is_drained() {
    let workload = admitted();
    let base = || view(&workload);
    let cases = [
        ("open", base(), None),
        (
            "ClusterQueue on hold",
            View {
                cluster_queue: stopped(StopPolicy::Hold),
                ..base()
            },
            None,
        ),
        (
            "ClusterQueue drained",
            View {
                cluster_queue: stopped(StopPolicy::HoldAndDrain),
                ..base()
            },
            Some("ClusterQueueStopped"),
        ),
        (
            "LocalQueue on hold",
            View {
                local_queue: stopped(StopPolicy::Hold),
                ..base()
            },
            None,
        ),
        (
            "LocalQueue drained",
            View {
                local_queue: stopped(StopPolicy::HoldAndDrain),
                ..base()
            },
            Some("LocalQueueStopped"),
        ),
        (
            "LocalQueue gone",
            View {
                local_queue: None,
                ..base()
            },
            None,
        ),
        (
            "ClusterQueue going",
            View {
                cluster_queue: Some(QueueView {
                    deleting: true,
                    ..OPEN
                }),
                ..base()
            },
            None,
        ),
    ];
    for (name, view, want) in cases {
        let got = match next(&view) {
            Step::Evict { eviction, .. } => Some(eviction.reason),
            Step::Rest(_) => None,
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(got, want, "{name}");
    }
}

#[test]
fn a_reservation_without_admission_does_not_survive_its_queues() {
    let reserved = workload(
        &[("QuotaReserved", "True", "QuotaReserved")],
        json!({"status": {"admission": {"clusterQueue": "cq"}}}),
    );
    let base = || view(&reserved);
    let gone = || {
        Some(QueueView {
            deleting: true,
            ..OPEN
        })
    };
    let cases = [
        (
            "held LocalQueue",
            View {
                local_queue: stopped(StopPolicy::Hold),
                ..base()
            },
            "Suspended: LocalQueue lq is stopped",
        ),
        (
            "held ClusterQueue",
            View {
                cluster_queue: stopped(StopPolicy::Hold),
                ..base()
            },
            "Suspended: ClusterQueue cq is stopped",
        ),
        (
            "LocalQueue gone",
            View {
                local_queue: None,
                ..base()
            },
            "Misconfigured: LocalQueue lq is terminating or missing",
        ),
        (
            "ClusterQueue going",
            View {
                cluster_queue: gone(),
                ..base()
            },
            "Misconfigured: ClusterQueue cq is terminating or missing",
        ),
    ];
    for (name, view, want) in cases {
        let Step::Write(status) = next(&view) else {
            panic!("{name}")
        };
        let told = find(&status.conditions, "QuotaReserved").unwrap();
        assert_eq!(format!("{}: {}", told.reason, told.message), want, "{name}");
        assert!(status.admission.is_none(), "{name}: quota is given back");
    }
}

#[test]
fn pending_workloads_say_what_keeps_them_and_forget_it_when_it_is_gone() {
    let obstacle = || {
        Some(PendingReason {
            reason: reasons::SUSPENDED,
            message: "ClusterQueue cq is inactive".to_owned(),
        })
    };
    let fresh = workload(&[], json!({}));
    let Step::Write(status) = next(&View {
        obstacle: obstacle(),
        ..view(&fresh)
    }) else {
        panic!("says so")
    };
    assert_eq!(
        find(&status.conditions, "QuotaReserved").unwrap().reason,
        "Suspended"
    );
    assert_eq!(
        find(&status.conditions, "Admitted").unwrap().reason,
        "NoReservation"
    );

    let told = Workload {
        status: Some(*status),
        ..fresh.clone()
    };
    assert_eq!(
        next(&View {
            obstacle: obstacle(),
            ..view(&told)
        }),
        Step::Rest(None),
        "once is enough"
    );
    let Step::Write(status) = next(&view(&told)) else {
        panic!("takes it back")
    };
    let condition = find(&status.conditions, "QuotaReserved").unwrap();
    assert_eq!(
        (condition.reason.as_str(), condition.message.as_str()),
        (
            "PendingEvaluation",
            "Workload is pending evaluation in the scheduling queue"
        )
    );

    let evaluated = workload(&[("QuotaReserved", "False", "WaitingForQuota")], json!({}));
    assert_eq!(
        next(&view(&evaluated)),
        Step::Rest(None),
        "what the scheduler said stays"
    );
    assert_eq!(
        next(&view(&fresh)),
        Step::Rest(None),
        "nobody has looked at it yet"
    );
}

#[test]
fn evicted_workloads_are_tried_again_when_the_reason_is_gone() {
    let evicted = |reason| {
        workload(
            &[
                ("QuotaReserved", "False", "PendingEvaluation"),
                ("Requeued", "False", reason),
            ],
            json!({}),
        )
    };
    let held = View {
        cluster_queue: stopped(StopPolicy::Hold),
        obstacle: None,
        ..view(&evicted("ClusterQueueStopped"))
    }
    .cluster_queue;
    let later = json!({"status": {"requeueState": {"requeueAt": "1970-01-01T00:02:00Z"}}});
    let waiting = workload(&[("Requeued", "False", "PodsReadyTimeout")], later);
    let cases = [
        (
            "queue restarted",
            evicted("ClusterQueueStopped"),
            Some(OPEN),
            Ok("ClusterQueueRestarted"),
        ),
        (
            "queue still stopped",
            evicted("ClusterQueueStopped"),
            held,
            Err(None),
        ),
        (
            "reactivated",
            evicted("Deactivated"),
            Some(OPEN),
            Ok("Reactivated"),
        ),
        (
            "reactivated after a cause",
            evicted("DeactivatedDueToMaximumExecutionTimeExceeded"),
            Some(OPEN),
            Ok("Reactivated"),
        ),
        (
            "backoff over",
            evicted("PodsReadyTimeout"),
            Some(OPEN),
            Ok("BackoffFinished"),
        ),
        (
            "backoff",
            waiting,
            Some(OPEN),
            Err(Some(Duration::from_secs(20))),
        ),
    ];
    for (name, workload, cluster_queue, want) in cases {
        let step = next(&View {
            cluster_queue,
            ..view(&workload)
        });
        match (step, want) {
            (Step::Write(status), Ok(reason)) => {
                let requeued = find(&status.conditions, "Requeued").unwrap();
                assert_eq!(
                    (requeued.status.as_str(), requeued.reason.as_str()),
                    ("True", reason),
                    "{name}"
                );
            }
            (Step::Rest(alarm), Err(want)) => assert_eq!(alarm, want, "{name}"),
            (step, _) => panic!("{name}: {step:?}"),
        }
    }
}

#[test]
fn deactivation_evicts_once_and_then_only_says_so() {
    let mut workload = admitted();
    workload.spec.active = Some(false);
    let Step::Evict { eviction, status } = next(&view(&workload)) else {
        panic!("evicts")
    };
    assert_eq!(
        (eviction.reason(), eviction.event()),
        (
            "Deactivated".to_owned(),
            "EvictedDueToDeactivated".to_owned()
        )
    );
    let leaving = Workload {
        status: Some(*status),
        ..workload
    };
    assert_eq!(
        next(&view(&leaving)),
        Step::Rest(None),
        "its job has to stop first"
    );
    let released = Workload {
        status: Some(Draft::of(&leaving, at(110)).released().done()),
        ..leaving
    };
    let Step::Write(status) = next(&view(&released)) else {
        panic!("says so")
    };
    assert_eq!(
        find(&status.conditions, "QuotaReserved").unwrap().reason,
        "Deactivated"
    );
    let settled = Workload {
        status: Some(*status),
        ..released
    };
    assert_eq!(next(&view(&settled)), Step::Rest(None));
}

#[test]
fn workloads_run_no_longer_than_they_may() {
    let limited = |seconds: i32, past: i32| {
        let status = json!({"spec": {"maximumExecutionTimeSeconds": seconds}, "status": {"admission": {"clusterQueue": "cq"}, "accumulatedPastExecutionTimeSeconds": past}});
        workload(ADMITTED, status)
    };
    assert_eq!(
        next(&view(&limited(160, 0))),
        Step::Rest(Some(Duration::from_secs(60)))
    );
    assert_eq!(
        next(&view(&limited(160, 50))),
        Step::Rest(Some(Duration::from_secs(10))),
        "earlier runs count"
    );
    let Step::TimeIsUp { seconds, status } = next(&view(&limited(100, 0))) else {
        panic!("time is up")
    };
    assert_eq!(seconds, 100);
    let told = Workload {
        status: Some(*status),
        ..limited(100, 0)
    };
    assert_eq!(next(&view(&told)), Step::Deactivate);
    let mut off = told;
    off.spec.active = Some(false);
    let Step::Evict { eviction, status } = next(&view(&off)) else {
        panic!("evicts")
    };
    assert_eq!(
        eviction.event(),
        "EvictedDueToDeactivatedDueToMaximumExecutionTimeExceeded"
    );
    assert_eq!(
        eviction.message,
        "The workload is deactivated due to exceeding the maximum execution time"
    );
    assert!(find(&status.conditions, "DeactivationTarget").is_none());
}

#[test]
fn workloads_end_with_their_owner() {
    let labelled = || {
        workload(
            &[],
            json!({"metadata": {"labels": {"kueue.x-k8s.io/job-uid": "u"}}}),
        )
    };
    let by_hand = workload(&[], json!({}));
    let orphan = labelled();
    let base = |workload| View {
        owner: Owner::None,
        ..view(workload)
    };
    assert!(
        matches!(next(&base(&orphan)), Step::Orphaned(_)),
        "left behind by its job"
    );
    assert_eq!(next(&base(&by_hand)), Step::Rest(None), "never had a job");
    assert_eq!(
        next(&View {
            owner: Owner::Gone,
            ..view(&orphan)
        }),
        Step::Delete,
        "the job is gone"
    );
    let finished = workload(&[("Finished", "True", "OwnerNotFound")], json!({}));
    assert_eq!(next(&base(&finished)), Step::DropFinalizer);
    let deleting = workload(
        &[],
        json!({"metadata": {"deletionTimestamp": "1970-01-01T00:00:50Z"}}),
    );
    assert_eq!(next(&base(&deleting)), Step::DropFinalizer);
    assert_eq!(
        next(&view(&deleting)),
        Step::Rest(None),
        "its job is stopped first"
    );
}

#[test]
fn finished_workloads_are_kept_as_long_as_asked() {
    let finished = workload(
        &[("Finished", "True", "Succeeded")],
        json!({"metadata": {"finalizers": []}}),
    );
    let keep = |seconds| View {
        keep_finished: Some(Duration::from_secs(seconds)),
        ..view(&finished)
    };
    assert_eq!(next(&view(&finished)), Step::Rest(None));
    assert_eq!(next(&keep(130)), Step::Rest(Some(Duration::from_secs(30))));
    assert_eq!(next(&keep(100)), Step::DeleteExpired);
}

#[test]
fn a_changed_priority_class_is_taken_over() {
    let pending = workload(&[], json!({}));
    assert_eq!(
        next(&View {
            class_value: Some(5),
            ..view(&pending)
        }),
        Step::SetPriority(5)
    );
    assert_eq!(
        next(&View {
            class_value: Some(0),
            ..view(&pending)
        }),
        Step::Rest(None)
    );
}

#[test]
fn eviction_and_admission_leave_a_trace_in_the_status() {
    let running = admitted();
    let drained = Eviction::new(
        reasons::CLUSTER_QUEUE_STOPPED,
        "The ClusterQueue is stopped",
    );
    let evicted = Workload {
        status: Some(Draft::of(&running, at(30)).evicted(&drained).done()),
        ..running
    };
    let released = Workload {
        status: Some(Draft::of(&evicted, at(40)).released().done()),
        ..evicted
    };
    let status = Draft::of(&released, at(50))
        .requeued("ClusterQueueRestarted", "again")
        .done();
    let requeued = Workload {
        status: Some(status),
        ..released
    };
    let again = Draft::of(&requeued, at(60))
        .admitted(kueue_api::v1beta2::Admission {
            cluster_queue: "cq".to_owned(),
            ..Default::default()
        })
        .done();
    let text = serde_json::to_string_pretty(&again).unwrap();
    expect_test::expect_file!["tests/readmitted.json"].assert_eq(&text);
}
