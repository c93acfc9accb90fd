//! What the webhooks do with pods.

use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::{POD_FINALIZER, annotations, gates, labels};
use serde_json::{Value, json};

use crate::admission::Surroundings;
use crate::pods::{Switches, admission};

fn defaulted(pod: &Value, around: Surroundings) -> Option<Pod> {
    let mut pod: Pod = serde_json::from_value(pod.clone()).unwrap();
    admission::default(&mut pod, around, &Switches::default()).then_some(pod)
}

fn managed() -> Surroundings {
    Surroundings {
        namespace_managed: true,
        ..Surroundings::default()
    }
}

#[test]
fn only_pods_that_are_ours_are_held_back() {
    let queued =
        json!({"metadata": {"labels": {labels::QUEUE_NAME: "queue"}}, "spec": {"containers": []}});
    let plain = json!({"metadata": {}, "spec": {"containers": []}});
    let child = Surroundings {
        owner_managed: true,
        ancestor_managed: true,
        ..managed()
    };
    let everything = Surroundings {
        manage_without_queue_name: true,
        ..managed()
    };
    for (name, pod, around, held) in [
        ("with a queue", &queued, managed(), true),
        (
            "in a namespace that is not managed",
            &queued,
            Surroundings::default(),
            false,
        ),
        ("of a managed job", &queued, child, false),
        ("without a queue", &plain, managed(), false),
        ("where everything is managed", &plain, everything, true),
    ] {
        assert_eq!(defaulted(pod, around).is_some(), held, "{name}");
    }
}

#[test]
fn a_pod_that_is_ours_is_marked() {
    let queued =
        json!({"metadata": {"labels": {labels::QUEUE_NAME: "queue"}}, "spec": {"containers": []}});
    let pod = defaulted(&queued, managed()).unwrap();
    assert_eq!(
        pod.metadata.labels.as_ref().unwrap()[labels::MANAGED],
        "true"
    );
    assert_eq!(
        pod.metadata.finalizers,
        Some(vec![POD_FINALIZER.to_owned()])
    );
    assert_eq!(
        pod.metadata.annotations.unwrap()[annotations::ROLE_HASH].len(),
        8
    );
    let held: Vec<_> = pod.spec.unwrap().scheduling_gates.unwrap();
    let held: Vec<_> = held.iter().map(|gate| gate.name.as_str()).collect();
    assert_eq!(held, [gates::ADMISSION, gates::TOPOLOGY]);
}

#[test]
fn a_pod_that_its_parent_has_held_back_is_not_ours_to_mark() {
    let pod = json!({
        "metadata": {"annotations": {annotations::POD_SUSPENDING_PARENT: "statefulset"}},
        "spec": {"containers": []},
    });
    let pod = defaulted(&pod, Surroundings::default()).unwrap();
    assert!(pod.metadata.finalizers.is_none() && pod.metadata.labels.is_none());
    assert!(crate::pods::is_gated(&pod));
}
