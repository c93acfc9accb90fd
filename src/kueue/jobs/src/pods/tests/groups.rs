//! Groups: who counts, who is too many, who may go, and when it is over.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::{POD_FINALIZER, POD_GROUP_NAME, annotations};
use kueue_api::v1beta2::Workload;
use serde_json::{Value, json};

use crate::job::GenericJob;
use crate::pods::{GroupError, Match, Pods, SortedOut, Switches};

const NOW: Timestamp = Timestamp::constant(1_787_400_000, 0);

/// A pod of the group; `more` is laid over it.
fn pod(name: &str, more: &Value) -> Arc<Pod> {
    let mut pod = json!({
        "metadata": {
            "name": name, "namespace": "ns", "uid": name, "finalizers": [POD_FINALIZER],
            "labels": {POD_GROUP_NAME: "group", "kueue.x-k8s.io/queue-name": "queue"},
            "annotations": {
                annotations::POD_GROUP_TOTAL_COUNT: "2", annotations::ROLE_HASH: "role",
            },
        },
        "spec": {"nodeName": "node", "containers": [{"name": "c"}]},
        "status": {"phase": "Running"},
    });
    crate::merge::apply(&mut pod, more);
    Arc::new(serde_json::from_value(pod).unwrap())
}

fn group(pods: &[Arc<Pod>]) -> Pods {
    Pods::group(pods.to_vec(), Switches::default(), NOW).unwrap()
}

fn workload(count: i32) -> Workload {
    serde_json::from_value(json!({
        "metadata": {
            "name": "group", "namespace": "ns",
            "annotations": {annotations::IS_GROUP_WORKLOAD: "true"},
        },
        "spec": {"queueName": "queue", "podSets": [
            {"name": "role", "count": count, "template": {"spec": {"containers": []}}},
        ]},
    }))
    .unwrap()
}

fn sorted(pods: &[Arc<Pod>]) -> SortedOut {
    match group(pods).look_at(&workload(2)).unwrap() {
        Match::Ours(sorted) => *sorted,
        other => panic!("{other:?}"),
    }
}

fn names(pods: &[Arc<Pod>]) -> Vec<&str> {
    pods.iter()
        .map(|pod| pod.metadata.name.as_deref().unwrap())
        .collect()
}

fn gated() -> Value {
    json!({"spec": {"nodeName": null, "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}, "status": {"phase": "Pending"}})
}

fn failed() -> Value {
    json!({"status": {"phase": "Failed"}})
}

fn serving(more: &Value) -> Value {
    let mut value = json!({"metadata": {"annotations": {annotations::POD_GROUP_SERVING: "true"}}});
    crate::merge::apply(&mut value, more);
    value
}

fn going(phase: &str) -> Value {
    json!({
        "metadata": {"deletionTimestamp": NOW.to_string(), "deletionGracePeriodSeconds": 30},
        "status": {"phase": phase},
    })
}

#[test]
fn a_gated_pod_beyond_the_count_is_too_many() {
    let pods = [
        pod("a", &gated()),
        pod("b", &json!({})),
        pod("c", &json!({})),
    ];
    let got = sorted(&pods);
    assert_eq!(names(&got.excess), ["a"]);
    assert_eq!(names(got.kept.all()), ["b", "c"]);
    assert_eq!(got.absent, 0);
}

#[test]
fn a_failed_pod_goes_once_another_has_its_place() {
    let alone = sorted(&[pod("a", &failed()), pod("b", &json!({}))]);
    assert!(alone.replaced.is_empty());
    assert_eq!(alone.absent, 1);
    let replaced = sorted(&[
        pod("a", &failed()),
        pod("b", &json!({})),
        pod("c", &gated()),
    ]);
    assert_eq!(names(&replaced.replaced), ["a"]);
    assert_eq!(replaced.absent, 0);
}

/// Public case 022: a serving pod that ended on its way out is neither active nor kept for anybody.
#[test]
fn a_serving_pod_that_left_makes_room_at_once() {
    let left = pod("a", &serving(&going("Succeeded")));
    let got = sorted(&[left.clone(), pod("b", &serving(&json!({})))]);
    assert_eq!(names(&got.replaced), ["a"]);
    assert!(got.excess.is_empty());
    let fresh = pod("c", &serving(&gated()));
    let got = sorted(&[left, pod("b", &serving(&json!({}))), fresh]);
    assert_eq!(names(&got.replaced), ["a"]);
    assert!(got.excess.is_empty(), "the replacement stays");
    assert_eq!(names(got.kept.all()), ["b", "c"]);
}

/// Whoever replaces a serving pod that is still stopping stays; the one that stops is only let go, and its quota kept until it has.
#[test]
fn a_serving_pod_that_stops_gives_way_to_its_replacement() {
    let stopping = pod("a", &serving(&going("Running")));
    let pods = [
        stopping,
        pod("b", &serving(&going("Running"))),
        pod("c", &serving(&gated())),
    ];
    let got = sorted(&pods);
    assert_eq!(got.excess.len(), 1);
    assert!(got.excess[0].metadata.deletion_timestamp.is_some());
    assert!(names(got.kept.all()).contains(&"c"));
    let later = Pods::group(
        pods.to_vec(),
        Switches::default(),
        NOW + SignedDuration::from_secs(31),
    );
    let both_lost = match later.unwrap().look_at(&workload(2)).unwrap() {
        Match::Ours(sorted) => !sorted.kept.is_active(),
        other => panic!("{other:?}"),
    };
    assert!(got.kept.is_active());
    assert!(both_lost, "pods past their grace hold nothing");
}

#[test]
fn a_workload_of_somebody_else_is_not_taken() {
    let mut foreign = workload(2);
    foreign.metadata.annotations = None;
    let pods = [pod("a", &json!({})), pod("b", &json!({}))];
    assert!(matches!(
        group(&pods).look_at(&foreign).unwrap(),
        Match::Foreign
    ));
    let mut small = workload(2);
    small.spec.pod_sets[0].name = "other".to_owned();
    assert!(matches!(
        group(&pods).look_at(&small).unwrap(),
        Match::Different
    ));
}

#[test]
fn a_group_finishes_by_success_or_for_good() {
    let done = json!({"status": {"phase": "Succeeded"}});
    let over = |pods: &[Arc<Pod>]| group(pods).finished().map(|end| end.message);
    assert_eq!(over(&[pod("a", &done), pod("b", &failed())]), None);
    assert_eq!(
        over(&[pod("a", &done), pod("b", &done), pod("c", &failed())]).as_deref(),
        Some("Pods succeeded: 2/2.")
    );
    let mut never = failed();
    never["metadata"] = json!({"annotations": {annotations::RETRIABLE_IN_GROUP: "false"}});
    assert_eq!(
        over(&[pod("a", &done), pod("b", &never)]).as_deref(),
        Some("Pods succeeded: 1/2.")
    );
    assert_eq!(over(&[pod("a", &json!({})), pod("b", &never)]), None);
    assert_eq!(
        over(&[pod("a", &serving(&done)), pod("b", &serving(&done))]),
        None
    );
}

#[test]
fn a_group_is_composed_when_all_are_there_and_agree() {
    let one = [pod("a", &gated())];
    let error = group(&one).compose().unwrap_err();
    assert_eq!(error, GroupError::TooFew("group".to_owned()));
    assert_eq!(
        error.to_string(),
        "'group' group has fewer runnable pods than expected"
    );
    let other = json!({"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "other"}}});
    let error = group(&[pod("a", &gated()), pod("b", &other)])
        .compose()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "pods 'a' and 'b' has different queue names: queue!=other"
    );
    let mut fast = gated();
    fast["metadata"] = json!({"annotations": {annotations::POD_GROUP_FAST_ADMISSION: "true"}});
    let composed = group(&[pod("a", &fast)]).compose().unwrap();
    let sets = composed.pods.pod_sets().unwrap();
    assert_eq!(
        (sets.len(), sets[0].count),
        (1, 2),
        "one podset for the whole group"
    );
}
