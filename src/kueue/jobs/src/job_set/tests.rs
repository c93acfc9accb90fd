//! A `JobSet` of two parts: its podsets, its start and its way back.

use kueue_api::features::Features;
use kueue_api::names::annotations;
use serde_json::{Value, json};

use super::JobSet;
use crate::PodSetInfo;
use crate::job::{Change, GenericJob};

fn part(name: &str, replicas: i32, completions: i32, parallelism: i32) -> Value {
    json!({"name": name, "replicas": replicas, "template": {"spec": {
        "completions": completions, "parallelism": parallelism,
        "template": {"spec": {"containers": [{"name": "c", "novel": {"kept": true}}]}},
    }}})
}

fn object(parts: &[Value]) -> Value {
    json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": "entrainement", "namespace": "equipe-langage", "uid": "u"},
        "spec": {"suspend": true, "network": {}, "replicatedJobs": parts},
    })
}

fn job(parts: &[Value]) -> Box<dyn GenericJob> {
    JobSet::read(object(parts)).unwrap()
}

#[test]
fn a_podset_counts_the_pods_that_run_at_once() {
    for (name, parts, want) in [
        ("as many as parallelism", vec![part("a", 2, 4, 2)], vec![4]),
        ("completions are fewer", vec![part("a", 3, 1, 8)], vec![3]),
        (
            "several parts",
            vec![part("a", 1, 1, 1), part("b", 2, 3, 3)],
            vec![1, 6],
        ),
        ("none", vec![], vec![]),
    ] {
        let got: Vec<i32> = job(&parts)
            .pod_sets()
            .unwrap()
            .iter()
            .map(|set| set.count)
            .collect();
        assert_eq!(got, want, "{name}");
    }
}

#[test]
fn ranks_are_numbered_within_each_replica() {
    let sets = job(&[part("A", 2, 4, 2)]).pod_sets().unwrap();
    let request = sets[0].topology_request.clone().unwrap();
    assert_eq!(sets[0].name, "a");
    assert_eq!(request.sub_group_count, Some(2));
    assert_eq!(
        request.sub_group_index_label.as_deref(),
        Some("jobset.sigs.k8s.io/job-index")
    );
}

#[test]
fn it_starts_with_what_admission_says_and_comes_back_as_it_was() {
    let parts = [part("a", 1, 1, 1), part("b", 1, 1, 1)];
    let mut running = job(&parts);
    let originals: Vec<_> = running
        .pod_sets()
        .unwrap()
        .iter()
        .map(PodSetInfo::of_pod_set)
        .collect();
    let mut infos = originals.clone();
    infos[1]
        .node_selector
        .insert("gpu".to_owned(), "a100".to_owned());
    infos[1]
        .annotations
        .insert(annotations::WORKLOAD.to_owned(), "w".to_owned());
    running.run_with(&infos).unwrap();
    let value = running.to_value().unwrap();
    assert_eq!(value["spec"]["suspend"], false);
    let template = &value["spec"]["replicatedJobs"][1]["template"]["spec"]["template"];
    assert_eq!(template["spec"]["nodeSelector"]["gpu"], "a100");
    assert_eq!(template["spec"]["containers"][0]["name"], "c");
    let Some(Change::Object(patch)) = running.stop_step(Some(&originals)) else {
        panic!("a running job has to be stopped");
    };
    let mut back = value;
    crate::merge::apply(&mut back, &patch);
    assert_eq!(back["spec"]["suspend"], true);
    let selector = back.pointer("/spec/replicatedJobs/1/template/spec/template/spec/nodeSelector");
    assert_eq!(selector, None);
    assert!(
        JobSet::read(back)
            .unwrap()
            .stop_step(Some(&originals))
            .is_none()
    );
}

#[test]
fn what_succeeded_is_given_back() {
    let mut value = object(&[part("a", 1, 2, 2), part("b", 2, 6, 3)]);
    value["status"] = json!({"replicatedJobsStatus": [
        {"name": "a", "succeeded": 1, "active": 0}, {"name": "b", "succeeded": 1, "active": 1, "ready": 1},
    ]});
    let job = JobSet::read(value).unwrap();
    let got: Vec<_> = job
        .reclaimable_pods()
        .unwrap()
        .into_iter()
        .map(|pods| (pods.name, pods.count))
        .collect();
    assert_eq!(got, [("a".to_owned(), 2), ("b".to_owned(), 3)]);
    assert!(job.is_active() && job.pods_ready());
}

#[test]
fn groups_of_three_are_refused_at_each_template() {
    let mut parts = [part("a", 1, 1, 1), part("b", 1, 1, 1), part("c", 1, 1, 1)];
    for part in &mut parts {
        part["template"]["spec"]["template"]["metadata"] = json!({"annotations": {
            annotations::POD_SET_GROUP_NAME: "ensemble",
            annotations::POD_SET_REQUIRED_TOPOLOGY: "cassiopee.example/baie",
        }});
    }
    let problems = job(&parts).problems(&Features::default());
    let fields: Vec<_> = problems
        .iter()
        .map(|problem| problem.field.as_str())
        .collect();
    assert_eq!(fields.len(), 3, "{problems:?}");
    assert_eq!(
        fields[2],
        "spec.replicatedJobs[2].template.spec.template.metadata.annotations[kueue.x-k8s.io/podset-group-name]"
    );
}
