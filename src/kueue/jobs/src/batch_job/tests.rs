//! Jobs in and out: podsets, start, stop, end.

use kueue_api::v1beta2::ReclaimablePod;
use serde_json::{Value, json};

use super::BatchJob;
use crate::job::{Change, GenericJob};
use crate::pod_set_info::PodSetInfo;

fn job(patch: Value) -> BatchJob {
    let mut value = json!({
        "metadata": {"name": "chiffres", "namespace": "equipe-vision"},
        "spec": {
            "suspend": true, "parallelism": 3, "completions": 3,
            "template": {
                "metadata": {"labels": {"job-name": "chiffres", "batch.kubernetes.io/job-name": "chiffres", "controller-uid": "u"}},
                "spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}
            }
        }
    });
    merge(&mut value, patch);
    BatchJob(serde_json::from_value(value).unwrap())
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

fn apply(job: &BatchJob, change: &Change) -> BatchJob {
    let mut value = job.to_value().unwrap();
    let (Change::Object(patch) | Change::Status(patch)) = change;
    fn rfc7386(into: &mut Value, patch: &Value) {
        let Value::Object(patch) = patch else {
            *into = patch.clone();
            return;
        };
        if !into.is_object() {
            *into = json!({});
        }
        for (key, value) in patch {
            if value.is_null() {
                into.as_object_mut().unwrap().remove(key);
            } else {
                rfc7386(&mut into[key.as_str()], value);
            }
        }
    }
    rfc7386(&mut value, patch);
    BatchJob(serde_json::from_value(value).unwrap())
}

fn info() -> PodSetInfo {
    PodSetInfo {
        name: "main".to_owned(),
        count: 3,
        labels: [("kueue.x-k8s.io/podset".to_owned(), "main".to_owned())].into(),
        node_selector: [("gpu".to_owned(), "a100".to_owned())].into(),
        tolerations: serde_json::from_value(json!([{"key": "gpu", "operator": "Exists"}])).unwrap(),
        ..PodSetInfo::default()
    }
}

#[test]
fn a_podset_leaves_out_the_controllers_own_labels() {
    let sets = job(json!({})).pod_sets().unwrap();
    let labels: Vec<_> = sets[0]
        .template
        .metadata
        .as_ref()
        .unwrap()
        .labels
        .as_ref()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        (sets[0].count, labels),
        (3, vec!["batch.kubernetes.io/job-name"])
    );
}

#[test]
fn the_count_is_what_can_run_at_once() {
    let cases = [
        ("as many as completions", json!({}), 3),
        (
            "more parallelism than work",
            json!({"spec": {"parallelism": 9}}),
            3,
        ),
        (
            "work queue",
            json!({"spec": {"completions": null, "parallelism": 4}}),
            4,
        ),
        (
            "defaults",
            json!({"spec": {"completions": null, "parallelism": null}}),
            1,
        ),
    ];
    for (name, patch, want) in cases {
        assert_eq!(job(patch).pod_sets().unwrap()[0].count, want, "{name}");
    }
}

#[test]
fn starting_and_stopping_gives_the_template_back() {
    let before = job(json!({}));
    let original = PodSetInfo::of_pod_set(&before.pod_sets().unwrap()[0]);
    let mut job = before.clone();
    job.run_with(&[info()]).unwrap();
    let spec = job.0.spec.as_ref().unwrap();
    assert_eq!(spec.suspend, Some(false));
    assert_eq!(
        spec.template
            .spec
            .as_ref()
            .unwrap()
            .node_selector
            .as_ref()
            .unwrap()["gpu"],
        "a100"
    );
    job.0.status.get_or_insert_default().start_time =
        Some(serde_json::from_value(json!("2026-11-30T20:00:00Z")).unwrap());

    let infos = [original];
    let mut steps = Vec::new();
    while let Some(step) = job.stop_step(Some(&infos)) {
        assert!(
            !job.is_suspended(),
            "a job that is being stopped is not suspended"
        );
        job = apply(&job, &step);
        steps.push(matches!(step, Change::Status(_)));
    }
    assert_eq!(
        steps,
        [false, true, false],
        "suspend, forget the start, restore"
    );
    assert!(job.is_suspended());
    assert_eq!(job.0.spec, before.0.spec);
}

#[test]
fn a_conflicting_template_cannot_start() {
    let mut job = job(json!({"spec": {"template": {"spec": {"nodeSelector": {"gpu": "v100"}}}}}));
    let error = job.run_with(&[info()]).unwrap_err().to_string();
    assert!(
        error.contains("conflict for nodeSelector") && error.contains("v100"),
        "{error}"
    );
}

#[test]
fn partial_admission_runs_fewer_pods_and_gets_its_count_back() {
    let mut job =
        job(json!({"metadata": {"annotations": {"kueue.x-k8s.io/job-min-parallelism": "1"}}}));
    let original = PodSetInfo::of_pod_set(&job.pod_sets().unwrap()[0]);
    job.run_with(&[PodSetInfo { count: 2, ..info() }]).unwrap();
    assert_eq!(job.0.spec.as_ref().unwrap().parallelism, Some(2));
    while let Some(step) = job.stop_step(Some(std::slice::from_ref(&original))) {
        job = apply(&job, &step);
    }
    assert_eq!(job.0.spec.as_ref().unwrap().parallelism, Some(3));
}

#[test]
fn reclaimable_pods_are_those_with_nothing_left_to_do() {
    let reclaim = |count| {
        vec![ReclaimablePod {
            name: "main".to_owned(),
            count,
        }]
    };
    let cases = [
        ("nothing done", json!({}), vec![]),
        (
            "one done of three",
            json!({"status": {"succeeded": 1}}),
            reclaim(1),
        ),
        (
            "more work than pods",
            json!({"spec": {"completions": 9}, "status": {"succeeded": 1}}),
            vec![],
        ),
        (
            "failed indexes count too",
            json!({"spec": {"completionMode": "Indexed"}, "status": {"completedIndexes": "0", "failedIndexes": "0-1"}}),
            reclaim(2),
        ),
        (
            "one at a time",
            json!({"spec": {"parallelism": 1}, "status": {"succeeded": 2}}),
            vec![],
        ),
    ];
    for (name, patch, want) in cases {
        assert_eq!(job(patch).reclaimable_pods(), Some(want), "{name}");
    }
}

#[test]
fn ends_are_told_apart() {
    let ended = |type_: &str| {
        job(json!({"status": {"conditions": [{"type": type_, "status": "True", "message": "m"}]}}))
            .finished()
    };
    assert!(ended("Complete").unwrap().success);
    assert!(!ended("Failed").unwrap().success);
    assert_eq!(ended("FailureTarget"), None, "not over yet");
}

#[test]
fn pods_are_ready_when_all_run_or_are_done() {
    let cases = [
        ("none", json!({}), false),
        ("two of three", json!({"status": {"ready": 2}}), false),
        (
            "two run, one is done",
            json!({"status": {"ready": 2, "succeeded": 1}}),
            true,
        ),
        (
            "one is not yet counted",
            json!({"status": {"ready": 2, "uncountedTerminatedPods": {"succeeded": ["p"]}}}),
            true,
        ),
    ];
    for (name, patch, want) in cases {
        assert_eq!(job(patch).pods_ready(), want, "{name}");
    }
}
