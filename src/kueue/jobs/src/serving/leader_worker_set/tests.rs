//! `LeaderWorkerSet`s as values.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kueue_api::features::Features;
use serde_json::{Value, json};

use super::{
    LeaderWorkerSet, default, is_abandoned, join, let_go, pod_sets, validate_create,
    validate_update, workload, workload_name,
};
use crate::admission::Surroundings;
use crate::construct::{Options, Priority};

const AROUND: Surroundings = Surroundings {
    namespace_managed: true,
    has_default_queue: false,
    has_default_priority_class: false,
    owner_managed: false,
    ancestor_managed: false,
    manage_without_queue_name: false,
};

fn template(cpu: &str) -> Value {
    json!({"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}})
}

/// A set of two groups of three pods, one of which leads.
fn value() -> Value {
    json!({
        "metadata": {"name": "llm", "namespace": "reef", "uid": "u", "labels": {"kueue.x-k8s.io/queue-name": "lq", "kueue.x-k8s.io/priority-class": "high"}},
        "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 3, "leaderTemplate": template("1"), "workerTemplate": template("2")}},
    })
}

fn read(value: Value) -> LeaderWorkerSet {
    serde_json::from_value(value).unwrap()
}

#[test]
fn each_group_has_a_leader_and_its_workers() {
    let sets = pod_sets(&read(value()), true).unwrap();
    let told: Vec<_> = sets
        .iter()
        .map(|set| {
            let request = set.topology_request.as_ref();
            let label = request.and_then(|request| request.pod_index_label.as_deref());
            (set.name.as_str(), set.count, label)
        })
        .collect();
    let index = Some("leaderworkerset.sigs.k8s.io/worker-index");
    assert_eq!(told, [("leader", 1, None), ("worker", 2, index)]);
    let mut alike = value();
    alike["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = Value::Null;
    let sets = pod_sets(&read(alike), true).unwrap();
    assert_eq!((sets.len(), sets[0].count), (1, 3), "all of them are alike");
}

#[test]
fn keys_of_one_revision_are_not_part_of_what_is_asked_for() {
    let mut set = value();
    let own = json!({"leaderworkerset.sigs.k8s.io/name": "llm", "leaderworkerset.sigs.k8s.io/template-revision-hash": "x", "app": "llm"});
    set["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"] = json!({"labels": own});
    let sets = pod_sets(&read(set), true).unwrap();
    let kept = sets[1].template.metadata.clone().unwrap().labels.unwrap();
    assert_eq!(
        kept.keys().collect::<Vec<_>>(),
        ["app", "leaderworkerset.sigs.k8s.io/name"]
    );
}

#[test]
fn a_workload_says_whose_group_it_is() {
    let set = read(value());
    let made = workload(&set, 1, Priority::default(), &Options::default()).unwrap();
    assert_eq!(made.name(), workload_name(&set, "1", 253));
    assert!(made.name().starts_with("leaderworkerset-llm-1-"));
    let notes = made.metadata.annotations.unwrap();
    assert_eq!(notes["kueue.x-k8s.io/component-workload-index"], "1");
    assert_eq!(notes["kueue.x-k8s.io/job-owner-name"], "llm");
    assert_eq!(made.spec.queue_name.as_deref(), Some("lq"));
}

#[test]
fn while_more_groups_than_wanted_are_rolled_out_those_have_workloads_too() {
    let with = |surge: Value, status: Value| {
        let mut set = value();
        set["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]["maxSurge"] = surge;
        set["status"] = status;
        read(set).groups()
    };
    let rolling = json!({"replicas": 3, "updatedReplicas": 1});
    assert_eq!(with(json!(1), rolling.clone()), 3);
    assert_eq!(with(json!(0), rolling.clone()), 2, "no surge");
    assert_eq!(with(json!("50%"), rolling), 2, "a share is none");
    let done = json!({"replicas": 3, "updatedReplicas": 2});
    assert_eq!(with(json!(1), done), 2, "rolled out, scaled down");
}

#[test]
fn templates_say_whose_pods_they_are_and_where_they_queue() {
    let mut set = read(value());
    default(&mut set, AROUND, &Features::default());
    let templates = &set.spec.leader_worker_template;
    let worker = templates.worker_template.metadata.clone().unwrap();
    let leader = templates.leader_template.clone().unwrap().metadata.unwrap();
    for meta in [&worker, &leader] {
        let labels = meta.labels.as_ref().unwrap();
        assert_eq!(labels["kueue.x-k8s.io/queue-name"], "lq");
        assert_eq!(labels["kueue.x-k8s.io/priority-class"], "high");
        let notes = meta.annotations.as_ref().unwrap();
        let parent = "leaderworkerset.x-k8s.io/leaderworkerset";
        assert_eq!(notes["kueue.x-k8s.io/pod-suspending-parent"], parent);
    }
    let offset = "kueue.x-k8s.io/pod-index-offset";
    assert_eq!(worker.annotations.unwrap()[offset], "1");
    assert!(!leader.annotations.unwrap().contains_key(offset));
}

type Change = fn(&mut Value);

#[test]
fn what_was_admitted_stays_as_it_is() {
    let changed = |change: Change| {
        let mut new = value();
        change(&mut new);
        let features = Features::default();
        let found = validate_update(&read(value()), &read(new), AROUND, &features);
        found
            .into_iter()
            .map(|fault| fault.field)
            .collect::<Vec<_>>()
    };
    let at = "spec.leaderWorkerTemplate";
    let cases: [(&str, Change, Vec<String>); 5] = [
        ("nothing", |_| {}, vec![]),
        (
            "more groups",
            |set| set["spec"]["replicas"] = json!(5),
            vec![],
        ),
        (
            "larger groups",
            |set| set["spec"]["leaderWorkerTemplate"]["size"] = json!(4),
            vec![format!("{at}.size")],
        ),
        (
            "no leader",
            |set| set["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = Value::Null,
            vec![format!("{at}.leaderTemplate")],
        ),
        (
            "other requests",
            |set| set["spec"]["leaderWorkerTemplate"]["workerTemplate"] = template("9"),
            vec![format!(
                "{at}.workerTemplate.spec.containers[0].resources.requests"
            )],
        ),
    ];
    for (name, change, want) in cases {
        assert_eq!(changed(change), want, "{name}");
    }
}

#[test]
fn nobody_can_want_a_negative_number_of_groups() {
    let mut set = value();
    set["spec"]["replicas"] = json!(-1);
    let found = validate_create(&read(set), &Features::default());
    assert_eq!(found[0].field, "spec.replicas");
}

fn pod(labels: &Value, notes: &Value) -> Pod {
    let meta =
        json!({"name": "llm-0", "namespace": "reef", "labels": labels, "annotations": notes});
    let gates = json!([{"name": "kueue.x-k8s.io/admission"}]);
    serde_json::from_value(
        json!({"metadata": meta, "spec": {"containers": [], "schedulingGates": gates}}),
    )
    .unwrap()
}

#[test]
fn a_pod_joins_its_group_once_it_says_which() {
    let set = read(value());
    let mut early = pod(&json!({}), &json!({}));
    let before = early.clone();
    join(&mut early, &set, 253, true);
    assert_eq!(early, before, "too early");
    let group = json!({"leaderworkerset.sigs.k8s.io/group-index": "1"});
    for (notes, role) in [
        (json!({}), "leader"),
        (
            json!({"leaderworkerset.sigs.k8s.io/leader-name": "llm-1"}),
            "worker",
        ),
    ] {
        let mut pod = pod(&group, &notes);
        join(&mut pod, &set, 253, true);
        let notes = pod.metadata.annotations.unwrap();
        assert_eq!(notes["kueue.x-k8s.io/role-hash"], role);
        assert_eq!(notes["kueue.x-k8s.io/pod-group-total-count"], "3");
        let name = workload_name(&set, "1", 253);
        assert_eq!(notes["kueue.x-k8s.io/pod-group-name"], name);
        let labels = pod.metadata.labels.unwrap();
        assert_eq!(labels["kueue.x-k8s.io/queue-name"], "lq");
    }
}

#[test]
fn a_pod_that_nobody_will_admit_is_let_go() {
    let set = read(value());
    let maker = |current: &str, update: &str| -> StatefulSet {
        let status = json!({"replicas": 1, "currentRevision": current, "updateRevision": update});
        let spec = json!({"selector": {}, "template": {}, "serviceName": ""});
        serde_json::from_value(json!({"metadata": {}, "spec": spec, "status": status})).unwrap()
    };
    let old = pod(&json!({"controller-revision-hash": "a"}), &json!({}));
    assert!(is_abandoned(&old, None, Some(&maker("a", "a"))));
    assert!(is_abandoned(&old, Some(&set), None));
    assert!(is_abandoned(&old, Some(&set), Some(&maker("a", "b"))));
    assert!(!is_abandoned(&old, Some(&set), Some(&maker("a", "a"))));
    let mut pod = old;
    assert!(let_go(&mut pod));
    assert_eq!(pod.spec.unwrap().scheduling_gates, None);
}
