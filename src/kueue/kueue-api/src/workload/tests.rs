#![expect(
    clippy::needless_pass_by_value,
    reason = "values made in place read better"
)]

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{checks, phase, pods, priority};
use crate::v1beta2::{AdmissionCheckState, CheckState, ClusterQueue, ReclaimablePod, Workload};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// A Workload with these conditions that hold, each since this second.
fn with(conditions: &[(&str, &str, i64)], more: Value) -> Workload {
    let conditions: Vec<_> = conditions
        .iter()
        .map(|(type_, reason, since)| {
            json!({"type": type_, "status": "True", "reason": reason, "message": "", "lastTransitionTime": at(*since).to_string()})
        })
        .collect();
    let mut object = json!({"metadata": {"name": "w"}, "status": {"conditions": conditions}});
    if let Some(fields) = more.as_object() {
        for (name, value) in fields {
            object["status"][name] = value.clone();
        }
    }
    serde_json::from_value(object).unwrap()
}

#[test]
fn an_eviction_ends_when_quota_is_given_back() {
    let held = with(
        &[("QuotaReserved", "", 1)],
        json!({"admission": {"clusterQueue": "cq"}}),
    );
    let evicted = with(&[("Evicted", "Preempted", 10)], json!({}));
    let released = phase::released(&held, &evicted, at(15)).unwrap();
    assert_eq!(
        (
            released.cluster_queue,
            released.reason,
            released.after.as_secs()
        ),
        ("cq", "Preempted", 5)
    );
    assert_eq!(phase::released(&evicted, &evicted, at(15)), None);
    assert_eq!(phase::released(&held, &held, at(15)), None);
    assert_eq!(
        phase::released(&held, &with(&[("Finished", "", 9)], json!({})), at(15)),
        None
    );
}

#[test]
fn execution_time_adds_up_over_admissions() {
    let ran = |past: Value| {
        let conditions = [("Admitted", "", 100), ("Finished", "", 130)];
        phase::execution_time(&with(&conditions, past)).map(|time| time.as_secs())
    };
    assert_eq!(ran(json!({})), Some(30));
    let past = json!({"accumulatedPastExecutionTimeSeconds": 12});
    assert_eq!(ran(past), Some(42));
    assert_eq!(
        phase::execution_time(&with(&[("Admitted", "", 1)], json!({}))),
        None
    );
}

#[test]
fn checks_follow_the_flavors() {
    let rules = json!([{"name": "a", "onFlavors": ["red"]}, {"name": "b"}, {"name": "c", "onFlavors": ["red", "blue"]}, {"name": "d", "onFlavors": ["gone"]}]);
    let queue: ClusterQueue = serde_json::from_value(json!({
        "metadata": {"name": "cq"},
        "spec": {"resourceGroups": [{"flavors": [{"name": "red"}, {"name": "blue"}]}], "admissionChecksStrategy": {"admissionChecks": rules}}
    }))
    .unwrap();
    let needs = |status: Value| {
        let names = checks::required(&with(&[], status), &queue);
        names.into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(needs(json!({})), "b c");
    let on =
        |flavor: &str| json!({"admission": {"podSetAssignments": [{"flavors": {"cpu": flavor}}]}});
    assert_eq!(needs(on("red")), "a b c");
    assert_eq!(needs(on("blue")), "b c");
}

#[test]
fn an_answer_keeps_its_time_while_the_state_stays() {
    let state = |state: CheckState, message: &str| AdmissionCheckState {
        name: "a".to_owned(),
        state,
        message: message.to_owned(),
        ..AdmissionCheckState::default()
    };
    let mut states = Vec::new();
    checks::set_state(&mut states, state(CheckState::Pending, "one"), at(1));
    checks::set_state(&mut states, state(CheckState::Pending, "two"), at(2));
    let shown = |states: &[AdmissionCheckState]| {
        let state = &states[0];
        let since = state
            .last_transition_time
            .as_ref()
            .map(|time| time.0.as_second());
        (state.state, state.message.clone(), since)
    };
    assert_eq!(
        shown(&states),
        (CheckState::Pending, "two".to_owned(), Some(1))
    );
    checks::set_state(&mut states, state(CheckState::Ready, "three"), at(3));
    assert_eq!(
        shown(&states),
        (CheckState::Ready, "three".to_owned(), Some(3))
    );
}

#[test]
fn a_boost_counts_only_while_it_is_a_number_and_switched_on() {
    let boosted = |text: &str| -> Workload {
        let noted = json!({"kueue.x-k8s.io/priority-boost": text});
        serde_json::from_value(json!({"metadata": {"name": "w", "annotations": noted}, "spec": {"priority": i32::MAX}})).unwrap()
    };
    let most = i64::from(i32::MAX);
    assert_eq!(priority::effective(&boosted("5"), true), most + 5);
    assert_eq!(priority::effective(&boosted("5"), false), most);
    assert_eq!(priority::effective(&boosted("five"), true), most);
    assert!(priority::boost(&boosted("five"), true).is_err());
}

#[test]
fn pods_are_given_back_at_most_once() {
    let back = |name: &str, count| ReclaimablePod {
        name: name.to_owned(),
        count,
    };
    let object: Workload = serde_json::from_value(
        json!({"metadata": {"name": "w"}, "spec": {"podSets": [{"name": "a", "count": 2}]}}),
    )
    .unwrap();
    let limited = pods::at_most(&[back("a", 3), back("b", 9)], &object.spec.pod_sets);
    assert_eq!(limited, [back("a", 2), back("b", 9)]);
    assert!(pods::same_given_back(
        &limited,
        &[back("b", 9), back("a", 2)]
    ));
    assert!(!pods::same_given_back(&limited, &[back("a", 2)]));
}
