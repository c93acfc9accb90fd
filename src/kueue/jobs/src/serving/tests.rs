//! Deployments and `StatefulSet`s as values.

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::core::v1::Pod;
use kueue_api::features::Features;
use serde_json::{Value, json};

use super::{deployment, stateful_set};
use crate::admission::Surroundings;

fn around() -> Surroundings {
    Surroundings {
        namespace_managed: true,
        ..Surroundings::default()
    }
}

fn spec(cpu: &str, replicas: i32) -> Value {
    json!({"replicas": replicas, "selector": {}, "template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}})
}

fn set(queue: Option<&str>, cpu: &str, replicas: i32, status: &Value) -> StatefulSet {
    let labels = queue.map(|queue| json!({"kueue.x-k8s.io/queue-name": queue}));
    let meta = json!({"name": "web", "namespace": "reef", "uid": "u", "labels": labels});
    serde_json::from_value(json!({"metadata": meta, "spec": spec(cpu, replicas), "status": status}))
        .unwrap()
}

#[test]
fn a_deployment_passes_its_queue_on_to_its_pods() {
    let meta = json!({"name": "web", "labels": {"kueue.x-k8s.io/queue-name": "lq", "kueue.x-k8s.io/priority-class": "high"}});
    let value = json!({"metadata": meta, "spec": spec("1", 2)});
    let mut deployment: Deployment = serde_json::from_value(value).unwrap();
    deployment::default(&mut deployment, around());
    let template = deployment.spec.template.metadata.unwrap();
    let labels = template.labels.unwrap();
    assert_eq!(labels["kueue.x-k8s.io/queue-name"], "lq");
    assert_eq!(labels["kueue.x-k8s.io/priority-class"], "high");
    assert_eq!(labels["kueue.x-k8s.io/managed"], "true");
    let notes = template.annotations.unwrap();
    assert_eq!(notes["kueue.x-k8s.io/pod-suspending-parent"], "deployment");
}

#[test]
fn a_stateful_set_keeps_its_size_and_shape_while_it_is_admitted() {
    let fine = |old: StatefulSet, new: StatefulSet| {
        let features = Features::default();
        let found = stateful_set::validate_update(&old, &new, around(), None, &features);
        found
            .into_iter()
            .map(|fault| fault.field)
            .collect::<Vec<_>>()
    };
    let (queue, none) = (Some("lq"), json!({}));
    let cases = [
        ("same", set(queue, "1", 2, &none), vec![]),
        ("larger", set(queue, "1", 3, &none), vec!["spec.replicas"]),
        ("to zero", set(queue, "1", 0, &none), vec![]),
        (
            "other requests",
            set(queue, "2", 2, &none),
            vec!["spec.template.spec.containers[0].resources.requests"],
        ),
        (
            "without a queue",
            set(None, "1", 2, &none),
            vec!["metadata.labels[kueue.x-k8s.io/queue-name]"],
        ),
    ];
    for (name, new, want) in cases {
        assert_eq!(fine(set(queue, "1", 2, &none), new), want, "{name}");
    }
    let again = fine(
        set(queue, "1", 0, &none),
        set(queue, "1", 2, &json!({"replicas": 1})),
    );
    assert_eq!(again, ["spec.replicas"], "pods of before are still there");
}

#[test]
fn its_pods_join_one_group() {
    let owner = json!([{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u", "controller": true}]);
    let pod = json!({"metadata": {"name": "web-0", "namespace": "reef", "ownerReferences": owner}, "spec": {"containers": []}});
    let mut pod: Pod = serde_json::from_value(pod).unwrap();
    let set = set(Some("lq"), "1", 2, &json!({}));
    assert!(stateful_set::join(&mut pod, &set, "w", false, true));
    let notes = pod.metadata.annotations.clone().unwrap();
    assert_eq!(notes["kueue.x-k8s.io/pod-group-name"], "w");
    assert_eq!(notes["kueue.x-k8s.io/pod-group-total-count"], "2");
    assert!(
        !stateful_set::join(&mut pod, &set, "w", false, true),
        "once"
    );
}
