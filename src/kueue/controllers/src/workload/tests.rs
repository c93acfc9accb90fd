//! What a Workload needs next, case by case.

use std::time::Duration;

use cache::{Obstacles, PendingReason};
use jiff::{SignedDuration, Timestamp};
use kueue_api::conditions::{find, reasons};
use kueue_api::v1beta2::{ClusterQueue, LocalQueue, StopPolicy, Workload, WorkloadStatus};
use serde_json::{Value, json};

use super::decide::{Change, Owner, PodsReady, Rules, Step, View};
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

/// What is around a Workload: its queues are open unless a case says otherwise.
struct Around {
    owner: Owner,
    local: Option<LocalQueue>,
    cluster: Option<ClusterQueue>,
    obstacles: Obstacles,
    class_value: Option<i32>,
    rules: Rules,
}

impl Default for Around {
    fn default() -> Self {
        Self {
            owner: Owner::Present,
            local: local(StopPolicy::None),
            cluster: cluster(StopPolicy::None),
            obstacles: Obstacles::default(),
            class_value: None,
            rules: Rules::default(),
        }
    }
}

impl Around {
    fn next(&self, workload: &Workload) -> Step {
        super::decide::next(&View {
            workload,
            owner: self.owner,
            local_queue: self.local.as_ref(),
            cluster_queue_name: "cq",
            cluster_queue: self.cluster.as_ref(),
            obstacles: self.obstacles.clone(),
            class_value: self.class_value,
            rules: &self.rules,
            now: at(100),
        })
    }
}

fn next(workload: &Workload) -> Step {
    Around::default().next(workload)
}

fn local(stop: StopPolicy) -> Option<LocalQueue> {
    let object = json!({"metadata": {"name": "lq", "namespace": "reef"}, "spec": {"clusterQueue": "cq", "stopPolicy": stop}});
    serde_json::from_value(object).unwrap()
}

fn cluster(stop: StopPolicy) -> Option<ClusterQueue> {
    let object = json!({"metadata": {"name": "cq"}, "spec": {"stopPolicy": stop}});
    serde_json::from_value(object).unwrap()
}

fn going() -> Option<ClusterQueue> {
    let mut queue = cluster(StopPolicy::None);
    queue.as_mut().unwrap().metadata.deletion_timestamp = Some(kueue_api::Time(at(50)));
    queue
}

fn written(step: Step) -> Change {
    match step {
        Step::Write(change) => *change,
        other => panic!("{other:?}"),
    }
}

fn with(workload: &Workload, status: WorkloadStatus) -> Workload {
    Workload {
        status: Some(status),
        ..workload.clone()
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

#[test]
fn admitted_workloads_leave_only_when_a_queue_is_drained() {
    let of = |local, cluster| Around {
        local,
        cluster,
        ..Around::default()
    };
    let open = || local(StopPolicy::None);
    let cases = [
        ("open", of(open(), cluster(StopPolicy::None)), None),
        (
            "ClusterQueue on hold",
            of(open(), cluster(StopPolicy::Hold)),
            None,
        ),
        (
            "ClusterQueue drained",
            of(open(), cluster(StopPolicy::HoldAndDrain)),
            Some("ClusterQueueStopped"),
        ),
        (
            "LocalQueue on hold",
            of(local(StopPolicy::Hold), cluster(StopPolicy::None)),
            None,
        ),
        (
            "LocalQueue drained",
            of(local(StopPolicy::HoldAndDrain), cluster(StopPolicy::None)),
            Some("LocalQueueStopped"),
        ),
        ("LocalQueue gone", of(None, cluster(StopPolicy::None)), None),
        ("ClusterQueue going", of(open(), going()), None),
    ];
    for (name, around, want) in cases {
        let got = match around.next(&admitted()) {
            Step::Write(change) => change.evicted.map(|eviction| eviction.reason),
            Step::Rest(_) => None,
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(got, want, "{name}");
    }
}

#[test]
fn a_reservation_without_admission_does_not_survive_its_queues() {
    let checks = json!([{"name": "c", "state": "Pending", "message": ""}]);
    let reserved = workload(
        &[("QuotaReserved", "True", "QuotaReserved")],
        json!({"status": {"admission": {"clusterQueue": "cq"}, "admissionChecks": checks}}),
    );
    let with_check = |queue: Option<ClusterQueue>| {
        let mut queue = queue.unwrap();
        let strategy = json!({"admissionChecks": [{"name": "c"}]});
        queue.spec.admission_checks_strategy = serde_json::from_value(strategy).unwrap();
        // A check that asks for no flavor in particular asks for all there are.
        queue.spec.resource_groups = serde_json::from_value(
            json!([{"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": []}]}]),
        )
        .unwrap();
        Some(queue)
    };
    let mut reserved = reserved;
    let assigned = json!([{"name": "main", "flavors": {"cpu": "f"}}]);
    let admission = reserved
        .status
        .as_mut()
        .unwrap()
        .admission
        .as_mut()
        .unwrap();
    admission.pod_set_assignments = serde_json::from_value(assigned).unwrap();
    let of = |local, cluster| Around {
        local,
        cluster: with_check(cluster),
        ..Around::default()
    };
    let open = || cluster(StopPolicy::None);
    let cases = [
        (
            "held LocalQueue",
            of(local(StopPolicy::Hold), open()),
            "Suspended: LocalQueue lq is stopped",
        ),
        (
            "held ClusterQueue",
            of(local(StopPolicy::None), cluster(StopPolicy::Hold)),
            "Suspended: ClusterQueue cq is stopped",
        ),
        (
            "LocalQueue gone",
            of(None, open()),
            "Misconfigured: LocalQueue lq is terminating or missing",
        ),
        (
            "ClusterQueue going",
            of(local(StopPolicy::None), going()),
            "Misconfigured: ClusterQueue cq is terminating or missing",
        ),
    ];
    for (name, around, want) in cases {
        let status = written(around.next(&reserved)).status;
        let told = find(&status.conditions, "QuotaReserved").unwrap();
        assert_eq!(format!("{}: {}", told.reason, told.message), want, "{name}");
        assert!(status.admission.is_none(), "{name}: quota is given back");
    }
}

#[test]
fn pending_workloads_say_what_keeps_them_and_forget_it_when_it_is_gone() {
    let held = Around {
        obstacles: Obstacles {
            queue: Some(PendingReason {
                reason: reasons::SUSPENDED,
                message: "ClusterQueue cq is inactive".to_owned(),
            }),
            ..Obstacles::default()
        },
        ..Around::default()
    };
    let fresh = workload(&[], json!({}));
    let status = written(held.next(&fresh)).status;
    let reason = |status: &WorkloadStatus, of| find(&status.conditions, of).unwrap().reason.clone();
    assert_eq!(reason(&status, "QuotaReserved"), "Suspended");
    assert_eq!(reason(&status, "Admitted"), "NoReservation");

    let told = with(&fresh, status);
    assert_eq!(held.next(&told), Step::Rest(None), "once is enough");
    let status = written(next(&told)).status;
    let condition = find(&status.conditions, "QuotaReserved").unwrap();
    assert_eq!(
        (condition.reason.as_str(), condition.message.as_str()),
        (
            "PendingEvaluation",
            "Workload is pending evaluation in the scheduling queue"
        )
    );

    let both = &[
        ("QuotaReserved", "False", "WaitingForQuota"),
        ("Admitted", "False", "NoReservation"),
    ];
    let mut evaluated = workload(both, json!({}));
    let admitted = &mut evaluated.status.as_mut().unwrap().conditions[1];
    admitted.message = "The workload has no reservation".to_owned();
    assert_eq!(
        next(&evaluated),
        Step::Rest(None),
        "what the scheduler said stays"
    );
    assert_eq!(
        next(&fresh),
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
    let at_two = json!({"status": {"requeueState": {"requeueAt": "1970-01-01T00:02:00Z"}}});
    let waiting = workload(&[("Requeued", "False", "PodsReadyTimeout")], at_two);
    let open = || Around::default();
    let still_stopped = Around {
        cluster: cluster(StopPolicy::Hold),
        ..Around::default()
    };
    let cases = [
        (
            "queue restarted",
            evicted("ClusterQueueStopped"),
            open(),
            "ClusterQueueRestarted",
        ),
        (
            "queue still stopped",
            evicted("ClusterQueueStopped"),
            still_stopped,
            "",
        ),
        ("reactivated", evicted("Deactivated"), open(), "Reactivated"),
        (
            "reactivated after a cause",
            evicted("DeactivatedDueToMaximumExecutionTimeExceeded"),
            open(),
            "Reactivated",
        ),
        (
            "backoff over",
            evicted("PodsReadyTimeout"),
            open(),
            "BackoffFinished",
        ),
        ("backoff", waiting, open(), "after 20s"),
    ];
    for (name, workload, around, want) in cases {
        let got = match around.next(&workload) {
            Step::Write(change) => {
                let requeued = find(&change.status.conditions, "Requeued").unwrap();
                let again = requeued.status == "True";
                if again {
                    requeued.reason.clone()
                } else {
                    String::new()
                }
            }
            Step::Rest(alarm) => format!("after {:?}", alarm.unwrap()),
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(got, want, "{name}");
    }
}

#[test]
fn deactivation_evicts_once_and_then_only_says_so() {
    let mut workload = admitted();
    workload.spec.active = Some(false);
    let change = written(next(&workload));
    let eviction = change.evicted.unwrap();
    assert_eq!(
        (eviction.reason(), eviction.event()),
        (
            "Deactivated".to_owned(),
            "EvictedDueToDeactivated".to_owned()
        )
    );
    let leaving = with(&workload, change.status);
    assert_eq!(
        next(&leaving),
        Step::Rest(None),
        "its job has to stop first"
    );
    let released = with(&leaving, Draft::of(&leaving, at(110)).released().done());
    let status = written(next(&released)).status;
    assert_eq!(
        find(&status.conditions, "QuotaReserved").unwrap().reason,
        "Deactivated"
    );
    assert_eq!(next(&with(&released, status)), Step::Rest(None));
}

#[test]
fn workloads_run_no_longer_than_they_may() {
    let limited = |seconds: i32, past: i32| {
        let status = json!({"spec": {"maximumExecutionTimeSeconds": seconds}, "status": {"admission": {"clusterQueue": "cq"}, "accumulatedPastExecutionTimeSeconds": past}});
        workload(ADMITTED, status)
    };
    let after = |seconds| Step::Rest(Some(Duration::from_secs(seconds)));
    assert_eq!(next(&limited(160, 0)), after(60));
    assert_eq!(next(&limited(160, 50)), after(10), "earlier runs count");
    let change = written(next(&limited(100, 0)));
    assert_eq!(
        change.events[0].note,
        "The maximum execution time (100s) exceeded"
    );
    let told = with(&limited(100, 0), change.status);
    assert_eq!(next(&told), Step::Deactivate);
    let mut off = told;
    off.spec.active = Some(false);
    let change = written(next(&off));
    let eviction = change.evicted.unwrap();
    assert_eq!(
        eviction.event(),
        "EvictedDueToDeactivatedDueToMaximumExecutionTimeExceeded"
    );
    assert_eq!(
        eviction.message,
        "The workload is deactivated due to exceeding the maximum execution time"
    );
    assert!(find(&change.status.conditions, "DeactivationTarget").is_none());
}

#[test]
fn pods_that_are_not_ready_in_time_cost_the_admission_and_in_the_end_the_workload() {
    let rules = PodsReady {
        timeout: Duration::from_secs(120),
        recovery_timeout: Some(Duration::from_secs(90)),
        limit: Some(2),
        base: Duration::from_secs(10),
        longest: Duration::from_secs(15),
        jitter: 0.0,
    };
    let around = |timeout| Around {
        rules: Rules {
            pods_ready: Some(PodsReady {
                timeout: Duration::from_secs(timeout),
                ..rules
            }),
            ..Rules::default()
        },
        ..Around::default()
    };
    let tried = |count: i32, more: &[(&str, &str, &str)]| {
        let status = json!({"status": {"admission": {"clusterQueue": "cq"}, "requeueState": {"count": count}}});
        workload(&[ADMITTED, more].concat(), status)
    };
    type Condition = (&'static str, &'static str, &'static str);
    let cases: &[(&str, u64, i32, &[Condition], &str)] = &[
        ("in time", 120, 0, &[], "after 20s"),
        (
            "first time",
            100,
            0,
            &[],
            "PodsReadyTimeout WaitForStart, 1 tries, at 110",
        ),
        (
            "second time, no longer than the longest",
            100,
            1,
            &[],
            "PodsReadyTimeout WaitForStart, 2 tries, at 115",
        ),
        ("too often", 100, 2, &[], "RequeuingLimitExceeded"),
        (
            "ready",
            100,
            0,
            &[("PodsReady", "True", "Started")],
            "after nothing",
        ),
        (
            "failed since",
            120,
            0,
            &[("PodsReady", "False", "WaitForRecovery")],
            "PodsReadyTimeout WaitForRecovery, 1 tries, at 110",
        ),
    ];
    for (name, timeout, count, more, want) in cases {
        let got = match around(*timeout).next(&tried(*count, more)) {
            Step::Rest(None) => "after nothing".to_owned(),
            Step::Rest(Some(left)) => format!("after {left:?}"),
            Step::Write(change) => match (&change.evicted, change.status.requeue_state) {
                (Some(eviction), Some(state)) => format!(
                    "{} {}, {} tries, at {}",
                    eviction.reason(),
                    eviction.cause,
                    state.count.unwrap(),
                    state.requeue_at.unwrap().0.as_second()
                ),
                _ => find(&change.status.conditions, "DeactivationTarget")
                    .unwrap()
                    .reason
                    .clone(),
            },
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(&got, want, "{name}");
    }
}

#[test]
fn a_check_that_wants_another_try_is_heard_at_once_and_the_wait_comes_after() {
    let check = json!([{"name": "crane", "state": "Retry", "message": "no slot", "requeueAfterSeconds": 10, "lastTransitionTime": "1970-01-01T00:01:38Z"}]);
    let status = json!({"status": {"admission": {"clusterQueue": "cq"}, "admissionChecks": check}});
    let reserved = workload(&[("QuotaReserved", "True", "QuotaReserved")], status);
    let mut around = Around::default();
    let strategy = json!({"admissionChecks": [{"name": "crane", "onFlavors": ["f"]}]});
    let queue = around.cluster.as_mut().unwrap();
    queue.spec.admission_checks_strategy = serde_json::from_value(strategy).unwrap();
    let assigned = json!([{"name": "main", "flavors": {"cpu": "f"}}]);
    let mut reserved = reserved;
    let admission = reserved
        .status
        .as_mut()
        .unwrap()
        .admission
        .as_mut()
        .unwrap();
    admission.pod_set_assignments = serde_json::from_value(assigned).unwrap();
    let waits = with(&reserved, written(around.next(&reserved)).status);
    let state = waits.status.as_ref().unwrap().requeue_state.as_ref();
    let requeue_at = state.and_then(|state| state.requeue_at.as_ref());
    assert_eq!(requeue_at.unwrap().0, at(108));
    let change = written(around.next(&waits));
    let message = &change.evicted.as_ref().unwrap().message;
    assert_eq!(
        message,
        "Evicted due to AdmissionCheck in Retry state: \"crane\" (no slot)"
    );
    let leaves = with(&waits, change.status);
    assert_eq!(
        around.next(&leaves),
        Step::Rest(Some(Duration::from_secs(8))),
        "its job stops meanwhile"
    );
}

#[test]
fn workloads_end_with_their_owner() {
    let labels = json!({"metadata": {"labels": {"kueue.x-k8s.io/job-uid": "u"}}});
    let owned = json!({"metadata": {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u"}]}});
    let deleting = json!({"metadata": {"deletionTimestamp": "1970-01-01T00:00:50Z"}});
    let by = |owner| Around {
        owner,
        ..Around::default()
    };
    let orphan = workload(&[], labels.clone());
    let change = written(by(Owner::None).next(&orphan));
    assert!(
        with(&orphan, change.status).is_finished(),
        "left behind by its job"
    );
    let by_hand = workload(&[], json!({}));
    assert_eq!(
        by(Owner::None).next(&by_hand),
        Step::Rest(None),
        "never had a job"
    );
    assert_eq!(
        by(Owner::Gone).next(&orphan),
        Step::Delete,
        "the job is gone"
    );
    let over = workload(&[("Finished", "True", "OwnerNotFound")], labels);
    assert_eq!(by(Owner::None).next(&over), Step::DropFinalizer);
    let nobodys = workload(&[], deleting.clone());
    assert_eq!(by(Owner::None).next(&nobodys), Step::DropFinalizer);
    let mut somebodys = deleting;
    merge(&mut somebodys, owned);
    let somebodys = workload(&[], somebodys);
    assert_eq!(
        next(&somebodys),
        Step::Rest(None),
        "its job is stopped first"
    );
    assert_eq!(by(Owner::Gone).next(&somebodys), Step::DropFinalizer);
}

#[test]
fn finished_workloads_are_kept_as_long_as_asked() {
    let finished = workload(&[("Finished", "True", "Succeeded")], json!({}));
    let keep = |seconds| {
        let rules = Rules {
            keep_finished: Some(Duration::from_secs(seconds)),
            ..Rules::default()
        };
        let around = Around {
            rules,
            ..Around::default()
        };
        around.next(&finished)
    };
    assert_eq!(next(&finished), Step::Rest(None));
    assert_eq!(keep(130), Step::Rest(Some(Duration::from_secs(30))));
    assert_eq!(keep(100), Step::DeleteExpired);
}

#[test]
fn a_changed_priority_class_is_taken_over() {
    let pending = workload(&[], json!({}));
    let class = |value| Around {
        class_value: Some(value),
        ..Around::default()
    };
    assert_eq!(class(5).next(&pending), Step::SetPriority(5));
    assert_eq!(class(0).next(&pending), Step::Rest(None));
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
