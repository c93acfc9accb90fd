use kueue_api::v1beta2::Workload;
use serde_json::{Value, json};

use super::{Change, between};

fn workload(conditions: &[(&str, &str, &str, i64)], more: &Value) -> Workload {
    let conditions = conditions.iter().map(|(type_, status, reason, at)| {
        let at = jiff::Timestamp::from_second(*at).unwrap().to_string();
        json!({"type": type_, "status": status, "reason": reason, "message": "", "lastTransitionTime": at})
    });
    let mut status = json!({"conditions": conditions.collect::<Vec<_>>()});
    for (name, value) in more.as_object().into_iter().flatten() {
        status[name] = value.clone();
    }
    let object = json!({"metadata": {"name": "w", "namespace": "n"}, "spec": {}, "status": status});
    serde_json::from_value(object).unwrap()
}

fn evicted(reason: &str, cause: &str, first: bool) -> Change {
    Change::Evicted {
        reason: reason.to_owned(),
        cause: cause.to_owned(),
        first,
    }
}

fn stats(reason: &str, cause: &str, count: i32) -> Value {
    json!({"schedulingStats": {"evictions": [{"reason": reason, "underlyingCause": cause, "count": count}]}})
}

#[test]
fn a_life_is_counted_step_by_step() {
    let nothing = json!({});
    let queued = workload(&[], &nothing);
    let reserved = workload(&[("QuotaReserved", "True", "QuotaReserved", 5)], &nothing);
    let admitted = workload(
        &[
            ("QuotaReserved", "True", "QuotaReserved", 5),
            ("Admitted", "True", "Admitted", 9),
        ],
        &nothing,
    );
    let at_once = [Change::Reserved, Change::Admitted];
    assert_eq!(between(&queued, &reserved), at_once[..1]);
    assert_eq!(between(&reserved, &admitted), at_once[1..]);
    assert_eq!(between(&queued, &admitted), at_once);
    assert_eq!(between(&admitted, &admitted), []);
    let ready = workload(
        &[
            ("QuotaReserved", "True", "QuotaReserved", 5),
            ("Admitted", "True", "Admitted", 9),
            ("PodsReady", "True", "Started", 12),
        ],
        &nothing,
    );
    assert_eq!(between(&admitted, &ready), [Change::Ready]);
    let finished = workload(&[("Finished", "True", "Succeeded", 20)], &nothing);
    assert_eq!(between(&queued, &finished), [Change::Finished]);
}

#[test]
fn evictions_are_counted_with_their_cause() {
    let running = [
        ("QuotaReserved", "True", "QuotaReserved", 5),
        ("Admitted", "True", "Admitted", 5),
    ];
    let before = workload(&running, &json!({}));
    let told = |reason| {
        let mut conditions = running.to_vec();
        conditions.push(("Evicted", "True", reason, 30));
        conditions
    };
    let cases = [
        (
            workload(
                &told("PodsReadyTimeout"),
                &stats("PodsReadyTimeout", "WaitForStart", 1),
            ),
            evicted("PodsReadyTimeout", "WaitForStart", true),
        ),
        (
            workload(&told("DeactivatedDueToRequeuingLimitExceeded"), &json!({})),
            evicted("Deactivated", "RequeuingLimitExceeded", true),
        ),
        (
            workload(&told("Preempted"), &json!({})),
            evicted("Preempted", "", true),
        ),
    ];
    for (after, want) in cases {
        assert_eq!(between(&before, &after), [want]);
    }
    // Told again: the count grows, and it is not the first time.
    let first = workload(&told("Preempted"), &stats("Preempted", "", 1));
    let mut again = told("Preempted");
    again[2].3 = 60;
    let again = workload(&again, &stats("Preempted", "", 2));
    assert_eq!(between(&first, &again), [evicted("Preempted", "", false)]);
}

#[test]
fn quota_given_back_is_measured_from_the_eviction() {
    let evicted = [
        ("QuotaReserved", "True", "QuotaReserved", 5),
        ("Evicted", "True", "DeactivatedDueToAdmissionCheck", 30),
    ];
    let before = workload(&evicted, &json!({}));
    let mut gone = evicted;
    gone[0] = ("QuotaReserved", "False", "Pending", 33);
    let after = workload(&gone, &json!({}));
    assert_eq!(
        between(&before, &after),
        [Change::Released {
            reason: "Deactivated".to_owned(),
            evicted: jiff::Timestamp::from_second(30).unwrap(),
        }]
    );
}
