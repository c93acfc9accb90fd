//! Names, patches and equivalence, as tables.
#![expect(
    clippy::needless_pass_by_value,
    reason = "values made in place read better"
)]

use kueue_api::v1beta2::PodSet;
use serde_json::{Value, json};

use crate::equivalence::same_pod_sets;
use crate::kind::BATCH_JOB;
use crate::naming::workload_name;
use crate::{Priority, construct, merge, workload};

#[test]
fn workload_names_follow_the_reference() {
    // `sha1(Kind\nGroup\nname\nuid)`, first five hex digits: computed with sha1sum.
    assert_eq!(
        workload_name(&BATCH_JOB, "chiffres", "u-1", 253),
        "job-chiffres-d1948"
    );
    let long = workload_name(&BATCH_JOB, &"x".repeat(300), "u-1", 63);
    assert_eq!(long.len(), 63);
    assert!(long.starts_with("job-xxx"));
    let (one, two) = (
        workload_name(&BATCH_JOB, "a", "u-1", 253),
        workload_name(&BATCH_JOB, "a", "u-2", 253),
    );
    assert_ne!(
        one, two,
        "a namesake created later has a Workload of its own"
    );
}

#[test]
fn merge_patches_say_only_what_changes() {
    let cases = [
        ("equal", json!({"a": 1}), json!({"a": 1}), None),
        (
            "changed",
            json!({"a": 1, "b": 2}),
            json!({"a": 1, "b": 3}),
            Some(json!({"b": 3})),
        ),
        (
            "removed",
            json!({"a": {"x": 1, "y": 2}}),
            json!({"a": {"x": 1}}),
            Some(json!({"a": {"y": null}})),
        ),
        (
            "list",
            json!({"a": [1, 2]}),
            json!({"a": [2]}),
            Some(json!({"a": [2]})),
        ),
        (
            "added",
            json!({}),
            json!({"a": {"b": 1}}),
            Some(json!({"a": {"b": 1}})),
        ),
    ];
    for (name, old, new, want) in cases {
        assert_eq!(merge::between(&old, &new), want, "{name}");
    }
}

fn set(spec: Value) -> PodSet {
    let set = json!({"name": "main", "count": 1, "template": {"spec": spec}});
    serde_json::from_value(set).unwrap()
}

#[test]
fn podsets_are_equal_when_they_ask_for_the_same() {
    let asks = |cpu: &str| json!({"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]});
    let mut placed = asks("1");
    placed["nodeSelector"] = json!({"gpu": "a100"});
    placed["tolerations"] = json!([{"key": "gpu", "operator": "Exists"}]);
    let mut empty = asks("1");
    empty["containers"][0]["env"] = json!([]);
    let cases = [
        ("the same", asks("1"), asks("1"), false, true),
        ("another notation", asks("1"), asks("1000m"), false, true),
        ("more", asks("1"), asks("2"), false, false),
        ("empty list and none", asks("1"), empty, false, true),
        (
            "placed, before admission",
            asks("1"),
            placed.clone(),
            false,
            false,
        ),
        ("placed by the admission", asks("1"), placed, true, true),
    ];
    for (name, a, b, admitted, want) in cases {
        assert_eq!(
            same_pod_sets(&[set(a)], &[set(b)], admitted),
            want,
            "{name}"
        );
    }
}

#[test]
fn a_workload_has_one_value_per_variable() {
    let env =
        json!([{"name": "MODE", "value": "a"}, {"name": "X"}, {"name": "MODE", "value": "b"}]);
    let container = json!({"name": "c", "env": env});
    let job = json!({
        "metadata": {"name": "twice", "namespace": "reef", "uid": "5f0c", "labels": {"kueue.x-k8s.io/queue-name": "env", "team": "vision"},
            "annotations": {"provreq.kueue.x-k8s.io/x": "1", "note": "2"}},
        "spec": {"template": {"spec": {"containers": [container], "initContainers": [container]}}}
    });
    let job = (BATCH_JOB.read)(job).unwrap();
    let options = construct::Options {
        label_keys_to_copy: vec!["team".to_owned()],
        ..Default::default()
    };
    let workload = workload(job.as_ref(), Priority::default(), &options).unwrap();
    let text = serde_json::to_string_pretty(&workload).unwrap();
    expect_test::expect_file!["tests/workload.json"].assert_eq(&text);
}
