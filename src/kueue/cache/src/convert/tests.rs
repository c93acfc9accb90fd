use k8s_openapi::api::core::v1 as core;
use kueue_api::v1beta2::Workload;
use scheduler::{Defect, Test};
use serde_json::{Value, json};

use super::{pods, selectors, workload};
use crate::{Options, PodsReadyTimestamp};

fn spec(value: Value) -> core::PodSpec {
    serde_json::from_value(value).unwrap()
}

/// `cpu=1500 memory=…` of one pod.
fn requests(value: Value) -> String {
    let asked = pods::requests(&spec(value), "spec", &Options::default()).unwrap();
    asked
        .iter()
        .map(|(resource, amount)| format!("{resource}={amount:?}"))
        .collect::<Vec<_>>()
        .join(" ")
}

fn container(requests: &Value, limits: &Value) -> Value {
    json!({"name": "c", "resources": {"requests": requests, "limits": limits}})
}

#[test]
fn a_pod_asks_for_what_kubernetes_says_it_does() {
    let cpu = |amount: &str| container(&json!({"cpu": amount}), &json!(null));
    let sidecar = |amount: &str| json!({"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": amount}}});
    let cases = [
        ("nothing", json!({"containers": [{"name": "c"}]}), ""),
        (
            "containers add up",
            json!({"containers": [cpu("1"), cpu("500m")]}),
            "cpu=1500",
        ),
        (
            "an init container that is larger",
            json!({"containers": [cpu("1")], "initContainers": [cpu("3"), cpu("2")]}),
            "cpu=3000",
        ),
        (
            "an init container that is smaller",
            json!({"containers": [cpu("4")], "initContainers": [cpu("3")]}),
            "cpu=4000",
        ),
        (
            "a sidecar runs along",
            json!({"containers": [cpu("1")], "initContainers": [sidecar("2")]}),
            "cpu=3000",
        ),
        (
            "an init container beside a sidecar",
            json!({"containers": [cpu("1")], "initContainers": [sidecar("2"), cpu("5")]}),
            "cpu=7000",
        ),
        (
            "an init container before a sidecar",
            json!({"containers": [cpu("1")], "initContainers": [cpu("5"), sidecar("2")]}),
            "cpu=5000",
        ),
        (
            "limits stand in for requests",
            json!({"containers": [container(&json!({"cpu": "1"}), &json!({"cpu": "2", "memory": "1Ki"}))]}),
            "cpu=1000 memory=1024",
        ),
        (
            "overhead",
            json!({"containers": [cpu("1")], "overhead": {"cpu": "250m", "memory": "1"}}),
            "cpu=1250 memory=1",
        ),
        (
            "requests of the pod as a whole",
            json!({"containers": [cpu("1")], "resources": {"requests": {"cpu": "3"}}}),
            "cpu=3000",
        ),
        (
            "parts of a unit add up before they are rounded",
            json!({"containers": [cpu("0.4m"), cpu("0.4m")]}),
            "cpu=1",
        ),
    ];
    for (name, pod, expected) in cases {
        assert_eq!(requests(pod), expected, "{name}");
    }
}

#[test]
fn excluded_resources_are_not_counted() {
    let options = Options {
        exclude_resource_prefixes: vec!["networking.example.com/".to_owned()],
        ..Options::default()
    };
    let pod = spec(
        json!({"containers": [container(&json!({"cpu": "1", "networking.example.com/vpc": "1"}), &json!(null))]}),
    );
    let asked = pods::requests(&pod, "spec", &options).unwrap();
    assert_eq!(asked.iter().count(), 1);
}

fn converted(value: Value, options: &Options) -> scheduler::Workload {
    let object: Workload = serde_json::from_value(value).unwrap();
    workload(&object, options)
}

#[test]
fn what_cannot_be_read_or_exceeds_its_limits_is_a_defect_that_names_the_field() {
    let of = |container: Value| {
        let set =
            json!({"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}});
        converted(
            json!({"metadata": {"name": "w"}, "spec": {"podSets": [set]}}),
            &Options::default(),
        )
        .defect
    };
    assert_eq!(
        of(container(&json!({"cpu": "1"}), &json!({"cpu": "1"}))),
        None
    );
    let Some(Defect::Malformed(text)) = of(container(&json!({"cpu": "lots"}), &json!(null))) else {
        panic!("it was read")
    };
    assert!(text.starts_with("spec.podSets[0].template.spec.containers[0].resources.requests[cpu]: \"lots\" is not a quantity"), "{text}");
    let above = of(container(
        &json!({"cpu": "2", "memory": "2"}),
        &json!({"cpu": "1", "memory": "1"}),
    ));
    let text = "spec.podSets[0].template.spec.containers[0]: Invalid value: [\"cpu\",\"memory\"]: requests must not exceed its limits";
    assert_eq!(
        above,
        Some(Defect::RequestsAboveLimits(vec![text.to_owned()]))
    );
}

#[test]
fn the_place_in_the_queue_follows_the_reason_of_an_eviction() {
    let evicted = |reason: &str| {
        let condition = json!({"type": "Evicted", "status": "True", "reason": reason, "message": "", "lastTransitionTime": "2030-01-01T00:00:02Z"});
        json!({"metadata": {"name": "w", "creationTimestamp": "2030-01-01T00:00:01Z"}, "status": {"conditions": [condition]}})
    };
    let by_creation = Options {
        pods_ready_timestamp: PodsReadyTimestamp::Creation,
        ..Options::default()
    };
    let cases = [
        (
            "PodsReadyTimeout",
            Options::default(),
            "2030-01-01T00:00:02Z",
        ),
        ("PodsReadyTimeout", by_creation, "2030-01-01T00:00:01Z"),
        ("AdmissionCheck", Options::default(), "2030-01-01T00:00:02Z"),
        ("Preempted", Options::default(), "2030-01-01T00:00:01Z"),
    ];
    for (reason, options, expected) in cases {
        assert_eq!(
            converted(evicted(reason), &options).queued.to_string(),
            expected,
            "{reason}"
        );
    }
}

#[test]
fn pods_given_back_no_longer_count_unless_switched_off() {
    let object = json!({
        "metadata": {"name": "w"},
        "spec": {"podSets": [{"name": "main", "count": 5, "template": {"spec": {"containers": []}}}]},
        "status": {"reclaimablePods": [{"name": "main", "count": 2}, {"name": "other", "count": 9}]},
    });
    let mut options = Options::default();
    assert_eq!(converted(object.clone(), &options).pod_sets[0].count, 3);
    options.features.reclaimable_pods = false;
    assert_eq!(converted(object, &options).pod_sets[0].count, 5);
}

#[test]
fn operators_nobody_knows_match_nothing() {
    let selector = serde_json::from_value(json!({"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "c", "operator": "Near", "values": ["d"]}]})).unwrap();
    let tests: Vec<_> = selectors::selector(&selector)
        .requirements
        .into_iter()
        .map(|requirement| requirement.test)
        .collect();
    assert_eq!(tests, [Test::In(vec!["b".to_owned()]), Test::Never]);
    let toleration = |value: Value| selectors::toleration(&serde_json::from_value(value).unwrap());
    assert_eq!(toleration(json!({"key": "a", "operator": "Near"})), None);
    assert_eq!(toleration(json!({"key": "a", "effect": "NoNothing"})), None);
    assert!(toleration(json!({"operator": "Exists"})).is_some());
}
