//! Names, patches and equivalence, as tables.
#![expect(
    clippy::needless_pass_by_value,
    reason = "values made in place read better"
)]

use std::collections::BTreeMap;

use kueue_api::PodTemplateSpec;
use kueue_api::v1beta2::{PodSet, ResourceFlavorSpec};
use serde_json::{Value, json};

use crate::equivalence::same_pod_sets;
use crate::kind::BATCH_JOB;
use crate::naming::workload_name;
use crate::{PodSetInfo, Priority, construct, merge, workload};

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
    let mut selecting = asks("1");
    selecting["nodeSelector"] = json!({"gpu": "a100"});
    let mut tolerating = asks("1");
    tolerating["tolerations"] = json!([{"key": "gpu", "operator": "Exists"}]);
    let mut empty = asks("1");
    empty["containers"][0]["env"] = json!([]);
    let cases = [
        ("the same", asks("1"), asks("1"), false, true),
        ("another notation", asks("1"), asks("1000m"), false, true),
        ("more", asks("1"), asks("2"), false, false),
        ("empty list and none", asks("1"), empty, false, true),
        (
            "a selector does not count",
            asks("1"),
            selecting,
            false,
            true,
        ),
        (
            "tolerating, before admission",
            asks("1"),
            tolerating.clone(),
            false,
            false,
        ),
        (
            "tolerating by the admission",
            asks("1"),
            tolerating,
            true,
            true,
        ),
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
fn an_admission_adds_what_its_flavors_say() {
    let assignment = |flavors: Value| {
        serde_json::from_value(
            json!({"name": "main", "flavors": flavors, "topologyAssignment": {}}),
        )
        .unwrap()
    };
    let flavors: BTreeMap<String, ResourceFlavorSpec> = serde_json::from_value(json!({
        "red": {"nodeLabels": {"a": "1"}, "tolerations": [{"key": "t", "value": "v"}]},
        "blue": {"nodeLabels": {"b": "2"}}
    }))
    .unwrap();
    let of = |names: Value, by_topology: bool| {
        PodSetInfo::of_flavors(&assignment(names), &set(json!({})), &flavors, by_topology)
    };
    let both = of(json!({"cpu": "red", "gpu": "blue", "memory": "red"}), false).unwrap();
    assert_eq!((both.count, both.node_selector.len()), (1, 2));
    assert_eq!(both.tolerations.len(), 1, "each flavor counts once");
    assert!(both.scheduling_gates.is_empty());
    let gated = of(json!({"cpu": "red"}), true).unwrap();
    assert_eq!(gated.scheduling_gates[0].name, "kueue.x-k8s.io/topology");
    assert_eq!(gated.annotations.len(), 1);
    let missing = of(json!({"cpu": "green"}), false).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "resourceflavors.kueue.x-k8s.io \"green\" not found"
    );
    // The template's own toleration in another spelling is not repeated.
    let mut own = set(json!({"tolerations": [{"key": "t", "operator": "Equal", "value": "v"}]}));
    both.merge_into(&mut own.template).unwrap();
    assert_eq!(own.template.spec.unwrap().tolerations.unwrap().len(), 1);
}

#[test]
fn a_new_slice_replaces_the_names_of_the_old_one() {
    let noted = |name: &str| {
        let notes = [
            ("kueue.x-k8s.io/workload-slice-name", name),
            ("kueue.x-k8s.io/workload", name),
        ];
        notes
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into()
    };
    let info = PodSetInfo {
        annotations: noted("new"),
        ..PodSetInfo::default()
    };
    let mut template = PodTemplateSpec::default();
    template.metadata.get_or_insert_default().annotations = Some(noted("old"));
    let keeping = PodSetInfo {
        keeps_slice: true,
        ..info.clone()
    };
    assert!(keeping.merge_into(&mut template.clone()).is_err());
    info.merge_into(&mut template).unwrap();
    assert_eq!(template.metadata.unwrap().annotations, Some(noted("new")));
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
