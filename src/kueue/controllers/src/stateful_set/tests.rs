//! One pass over a `StatefulSet`, case by case.

use std::sync::Arc;

use jiff::Timestamp;
use jobs::{Priority, construct};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kueue_api::v1beta2::Workload;
use serde_json::{Value, json};

use super::decide::{Act, View, pass};
use crate::tests::job_rules;

fn set(queue: &str, replicas: i32) -> StatefulSet {
    serde_json::from_value(json!({
        "metadata": {"name": "db", "namespace": "reef", "uid": "u", "labels": {"kueue.x-k8s.io/queue-name": queue}},
        "spec": {"replicas": replicas, "selector": {}, "template": {"spec": {"containers": [{"name": "c"}]}}},
    }))
    .unwrap()
}

fn acts(set: &StatefulSet, workload: Option<Workload>, pods: &[Arc<Pod>]) -> Vec<String> {
    let (workload, priority) = (workload.map(Arc::new), Priority::default());
    let acts = pass(&View {
        set,
        workload: workload.as_ref(),
        pods,
        priority: Some(&priority),
        unnamed: false,
        rules: &job_rules(),
        now: Timestamp::UNIX_EPOCH,
    });
    let name = |act: Act| match act {
        Act::Tell { reason, .. } => reason.to_owned(),
        Act::Create(made) => format!("create {}", made.spec.pod_sets[0].count),
        Act::Change(_, patch) => format!("change {patch}"),
        Act::Status(_, status) => status.conditions[0].reason.clone(),
        Act::Pod(_, patch) => format!("pod {}", patch["metadata"]["labels"]),
    };
    acts.unwrap().into_iter().map(name).collect()
}

/// Its own Workload, as it was made, with this state of its reservation.
fn own(status: &str, reason: &str) -> Workload {
    let set = set("lq", 2);
    let options = construct::Options::default();
    let made = jobs::serving::stateful_set::workload(&set, Priority::default(), &options).unwrap();
    let mut value = serde_json::to_value(made).unwrap();
    value["status"] = json!({"conditions": [{"type": "QuotaReserved", "status": status, "reason": reason, "message": "", "lastTransitionTime": "1970-01-01T00:00:00Z"}]});
    serde_json::from_value(value).unwrap()
}

#[test]
fn its_workload_is_made_moved_held_and_let_go() {
    let held = || own("True", "QuotaReserved");
    let cases: [(&str, StatefulSet, Option<Workload>, Vec<&str>); 7] = [
        (
            "new",
            set("lq", 2),
            None,
            vec!["create 2", "CreatedWorkload"],
        ),
        ("new, of no size", set("lq", 0), None, vec![]),
        ("new, without a queue", set("", 2), None, vec![]),
        ("admitted", set("lq", 2), Some(held()), vec![]),
        ("scaled to zero", set("lq", 0), Some(held()), vec!["OnHold"]),
        (
            "scaled up again",
            set("lq", 2),
            Some(own("False", "OnHold")),
            vec!["PendingEvaluation"],
        ),
        (
            "sent elsewhere",
            set("other", 2),
            Some(own("False", "PendingEvaluation")),
            vec![r#"change {"spec":{"queueName":"other"}}"#],
        ),
    ];
    for (name, set, workload, want) in cases {
        assert_eq!(acts(&set, workload, &[]), want, "{name}");
    }
}

#[test]
fn its_pods_follow_it_to_another_queue() {
    let owner = json!([{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u", "controller": true}]);
    let workload = own("True", "QuotaReserved");
    let group = json!({"kueue.x-k8s.io/pod-group-name": workload.name()});
    let pod = |labels: Value| {
        let meta = json!({"name": "db-0", "namespace": "reef", "ownerReferences": owner, "labels": labels, "annotations": group});
        let pod: Pod =
            serde_json::from_value(json!({"metadata": meta, "spec": {"containers": []}})).unwrap();
        Arc::new(pod)
    };
    let queued = |name: &str| json!({"kueue.x-k8s.io/queue-name": name});
    let same = acts(&set("lq", 2), Some(workload.clone()), &[pod(queued("lq"))]);
    assert!(same.is_empty(), "{same:?}");
    let moved = acts(&set("lq", 2), Some(workload), &[pod(queued("old"))]);
    assert_eq!(moved, [format!("pod {}", queued("lq"))]);
}
