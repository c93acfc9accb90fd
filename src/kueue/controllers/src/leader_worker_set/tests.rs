//! One pass over a `LeaderWorkerSet`, case by case.

use std::sync::Arc;

use jobs::serving::leader_worker_set::{LeaderWorkerSet, workload};
use jobs::{Priority, construct};
use k8s_openapi::api::core::v1::Pod;
use kueue_api::v1beta2::{PriorityClassRef, Workload};
use serde_json::json;

use super::decide::{Act, View, pass};
use crate::tests::job_rules;

fn set(queue: &str, replicas: i32) -> LeaderWorkerSet {
    let template = json!({"spec": {"containers": [{"name": "c"}]}});
    serde_json::from_value(json!({
        "metadata": {"name": "llm", "namespace": "reef", "uid": "u", "labels": {"kueue.x-k8s.io/queue-name": queue}},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}},
    }))
    .unwrap()
}

fn own(group: i32) -> Arc<Workload> {
    let options = construct::Options::default();
    Arc::new(workload(&set("lq", 2), group, Priority::default(), &options).unwrap())
}

fn acts(
    set: Option<&LeaderWorkerSet>,
    workloads: &[Arc<Workload>],
    pods: &[Arc<Pod>],
    priority: Option<&Priority>,
) -> Vec<String> {
    let acts = pass(&View {
        set,
        workloads,
        makers: &[],
        pods,
        priority,
        rules: &job_rules(),
    });
    let group = |workload: &Workload| {
        let notes = workload.metadata.annotations.clone().unwrap();
        notes["kueue.x-k8s.io/component-workload-index"].clone()
    };
    let name = |act: Act| match act {
        Act::Tell { reason, .. } => reason.to_owned(),
        Act::Create(made) => format!("create {}", group(&made)),
        Act::Change(workload, patch) => format!("change {} {patch}", group(&workload)),
        Act::Delete(workload) => format!("delete {}", group(&workload)),
        Act::Pod(_, patch) => format!("pod {patch}"),
    };
    acts.unwrap().into_iter().map(name).collect()
}

#[test]
fn there_is_a_workload_for_each_group() {
    let plain = Priority::default();
    let both = [own(0), own(1)];
    let cases = [
        (
            "new",
            set("lq", 2),
            &both[..0],
            vec!["create 0", "CreatedWorkload", "create 1", "CreatedWorkload"],
        ),
        ("all there", set("lq", 2), &both[..], vec![]),
        (
            "scaled up",
            set("lq", 3),
            &both,
            vec!["create 2", "CreatedWorkload"],
        ),
        ("scaled down", set("lq", 1), &both, vec!["delete 1"]),
        (
            "sent elsewhere",
            set("other", 1),
            &both[..1],
            vec![r#"change 0 {"spec":{"queueName":"other"}}"#],
        ),
    ];
    for (name, set, workloads, want) in cases {
        assert_eq!(
            acts(Some(&set), workloads, &[], Some(&plain)),
            want,
            "{name}"
        );
    }
}

#[test]
fn a_manager_makes_the_workloads_of_a_copy() {
    let mut copy = set("lq", 2);
    let labels = copy.metadata.labels.as_mut().unwrap();
    labels.insert("kueue.x-k8s.io/multikueue-origin".into(), "m".into());
    assert!(acts(Some(&copy), &[], &[], Some(&Priority::default())).is_empty());
}

#[test]
fn workloads_follow_the_priority_class() {
    let mut urgent = set("lq", 1);
    let labels = urgent.metadata.labels.as_mut().unwrap();
    labels.insert("kueue.x-k8s.io/priority-class".into(), "urgent".into());
    let one = [own(0)];
    assert_eq!(
        acts(Some(&urgent), &one, &[], None),
        ["WorkloadPriorityClassNotFound"]
    );
    let priority = Priority {
        class: Some(PriorityClassRef::workload("urgent")),
        value: 9,
    };
    let got = acts(Some(&urgent), &one, &[], Some(&priority));
    assert!(got[0].contains("\"priority\":9"), "{got:?}");
    assert_eq!(got[1], "UpdatedWorkload");
}

#[test]
fn pods_of_a_set_that_is_gone_are_let_go() {
    let pod = json!({
        "metadata": {"name": "llm-0", "namespace": "reef"},
        "spec": {"containers": [], "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]},
    });
    let pod = Arc::new(serde_json::from_value(pod).unwrap());
    let got = acts(None, &[], &[pod], None);
    assert_eq!(got, [r#"pod {"spec":{"schedulingGates":null}}"#]);
}
