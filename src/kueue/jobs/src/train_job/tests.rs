//! `TrainJob`s and their runtimes as values.

use std::sync::Arc;

use kueue_api::features::Features;
use serde_json::{Value, json};

use super::{TRAIN_JOB, without_own_patch};
use crate::job::{Change, GenericJob};
use crate::pod_set_info::PodSetInfo;

fn step(name: &str, ancestor: &str, container: &str) -> Value {
    let labels = json!({"trainer.kubeflow.org/trainjob-ancestor-step": ancestor});
    let resources = json!({"requests": {"cpu": "1", "memory": "1Gi"}});
    let pod = json!({"spec": {"containers": [{"name": container, "resources": resources}]}});
    json!({"name": name, "template": {"metadata": {"labels": labels}, "spec": {"template": pod}}})
}

fn runtime(policy: &Value) -> Value {
    let steps = [
        step(
            "dataset-initializer",
            "dataset-initializer",
            "dataset-initializer",
        ),
        step("node", "trainer", "node"),
    ];
    json!({"spec": {"mlPolicy": policy, "template": {"spec": {"replicatedJobs": steps}}}})
}

fn job(spec: &Value, runtime: Value) -> Box<dyn GenericJob> {
    let mut object = json!({
        "metadata": {"name": "t", "namespace": "reef"},
        "spec": {"runtimeRef": {"name": "torch"}, "suspend": true},
    });
    crate::merge::apply(&mut object["spec"], spec);
    let mut job = (TRAIN_JOB.read)(object).unwrap();
    job.set_runtime(Arc::new(runtime));
    job
}

fn counts(spec: &Value, policy: &Value) -> Vec<(String, i32)> {
    let sets = job(spec, runtime(policy)).pod_sets().unwrap();
    let named = sets.into_iter().map(|set| (set.name, set.count));
    named.collect()
}

#[test]
fn the_number_of_nodes_is_that_of_the_job_else_of_the_runtime() {
    let cases = [
        ("neither", json!({}), Value::Null, 1),
        (
            "the runtime's",
            json!({}),
            json!({"numNodes": 4, "torch": {}}),
            4,
        ),
        (
            "the job's",
            json!({"trainer": {"numNodes": 2}}),
            json!({"numNodes": 4, "torch": {}}),
            2,
        ),
        (
            "the launcher is one of them",
            json!({"trainer": {"numNodes": 3}}),
            json!({"mpi": {"runLauncherAsNode": true}}),
            2,
        ),
    ];
    for (name, spec, policy, nodes) in cases {
        let want = [
            ("dataset-initializer".to_owned(), 1),
            ("node".to_owned(), nodes),
        ];
        assert_eq!(counts(&spec, &policy), want, "{name}");
    }
}

#[test]
fn the_job_says_what_a_node_needs() {
    let spec =
        json!({"trainer": {"image": "mine", "resourcesPerNode": {"requests": {"cpu": "8"}}}});
    let sets = job(&spec, runtime(&json!({"torch": {}})))
        .pod_sets()
        .unwrap();
    let container = &sets[1].template.spec.as_ref().unwrap().containers[0];
    assert_eq!(container.image.as_deref(), Some("mine"));
    let requests = container.resources.clone().unwrap().requests.unwrap();
    assert_eq!(
        (requests["cpu"].0.as_str(), requests["memory"].0.as_str()),
        ("8", "1Gi")
    );
}

#[test]
fn patches_of_others_change_the_templates() {
    let template = |spec: Value| json!({"spec": {"template": {"spec": spec}}});
    let patch = json!([
        {"name": "node", "template": template(json!({"nodeSelector": {"disk": "ssd"}, "containers": [{"name": "node", "image": "x"}]}))},
        {"name": "evaluate", "template": template(json!({"containers": [{"name": "c"}]}))},
    ]);
    let patches = json!([{"manager": "me", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": patch}}}}]);
    let sets = job(&json!({"runtimePatches": patches}), runtime(&Value::Null))
        .pod_sets()
        .unwrap();
    let names: Vec<_> = sets.iter().map(|set| set.name.as_str()).collect();
    assert_eq!(names, ["dataset-initializer", "evaluate", "node"]);
    let spec = sets[2].template.spec.as_ref().unwrap();
    assert_eq!(spec.node_selector.as_ref().unwrap()["disk"], "ssd");
    assert!(spec.containers[0].resources.is_some(), "joined by name");
}

#[test]
fn what_an_admission_adds_is_a_patch_of_ours() {
    let mut job = job(&json!({}), runtime(&Value::Null));
    job.default_own(&Features::default());
    job.default_own(&Features::default());
    let before = job.to_value().unwrap();
    assert_eq!(
        before["spec"]["runtimePatches"].as_array().unwrap().len(),
        1
    );
    let info = |name: &str| PodSetInfo {
        name: name.to_owned(),
        node_selector: [("zone".to_owned(), "a".to_owned())].into(),
        ..PodSetInfo::default()
    };
    assert!(job.run_with(&[info("node")]).is_err(), "one is missing");
    job.run_with(&[info("dataset-initializer"), info("node")])
        .unwrap();
    assert!(!job.is_suspended());
    let sets = job.pod_sets().unwrap();
    let spec = sets[1].template.spec.as_ref().unwrap();
    assert_eq!(spec.node_selector.as_ref().unwrap()["zone"], "a");

    let Some(Change::Object(first)) = job.stop_step(Some(&[])) else {
        panic!("it runs");
    };
    assert_eq!(
        first,
        json!({"spec": {"suspend": true}}),
        "its pods end first"
    );
    let mut stopped = job.to_value().unwrap();
    crate::merge::apply(&mut stopped, &first);
    let job = job.again(stopped.clone()).unwrap();
    let Some(Change::Object(second)) = job.stop_step(Some(&[])) else {
        panic!("not brought back");
    };
    crate::merge::apply(&mut stopped, &second);
    assert_eq!(stopped, before);
    assert!(job.again(stopped).unwrap().stop_step(Some(&[])).is_none());
}

#[test]
fn without_a_runtime_nobody_knows_what_it_runs() {
    let job = json!({"metadata": {"name": "t", "namespace": "reef"}, "spec": {"runtimeRef": {"kind": "TrainingRuntime", "name": "torch"}}});
    let job = (TRAIN_JOB.read)(job).unwrap();
    assert!(job.lacks_runtime() && job.pod_sets().is_err() && !job.pods_ready());
    let of = job.runtime_ref().unwrap();
    assert_eq!(
        (of.namespace.as_deref(), of.name.as_str()),
        (Some("reef"), "torch")
    );
}

#[test]
fn states_of_its_parts_are_those_of_its_job_set() {
    let mut object = json!({"spec": {"runtimeRef": {"name": "torch"}}});
    object["status"] = json!({"jobsStatus": [
        {"name": "dataset-initializer", "succeeded": 1, "ready": 0, "active": 0},
        {"name": "node", "ready": 1, "succeeded": 0, "active": 1},
    ]});
    let mut job = (TRAIN_JOB.read)(object).unwrap();
    job.set_runtime(Arc::new(runtime(&json!({"torch": {}}))));
    assert!(job.pods_ready() && job.is_active());
    let given = job.reclaimable_pods().unwrap();
    assert_eq!(
        (given[0].name.as_str(), given[0].count),
        ("dataset-initializer", 1)
    );
}

#[test]
fn a_copy_goes_without_our_patch() {
    let mut spec = json!({"runtimePatches": [{"manager": "kueue.x-k8s.io/manager"}]});
    without_own_patch(&mut spec);
    assert_eq!(spec, json!({}));
}
