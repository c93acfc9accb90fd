//! Every metric of the reference is there with its type and labels, or the list says why not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kueue_api::v1beta2::Workload;
use serde_json::json;
use telemetry::metrics::{Registry, render};

use super::{Around, Custom, CustomLabels, Metrics, Options};
use crate::role::{CurrentRole, Role};

/// Name, type, labels besides `replica_role`; section 6 of the reference. What follows a `!` is why it is not there.
const COUNTED: &str = "
admission_attempts_total counter result
admission_attempt_duration_seconds histogram result
workload_creation_latency_seconds histogram job_kind
pod_scheduling_gate_removal_seconds histogram name,cluster_queue,is_group
quota_reserved_workloads_total counter cluster_queue,priority_class
quota_reserved_wait_time_seconds histogram cluster_queue,priority_class
admitted_workloads_total counter cluster_queue,priority_class
admission_wait_time_seconds histogram cluster_queue,priority_class
admission_checks_wait_time_seconds histogram cluster_queue,priority_class
ready_wait_time_seconds histogram cluster_queue,priority_class
admitted_until_ready_wait_time_seconds histogram cluster_queue,priority_class
finished_workloads_total counter cluster_queue,priority_class
execution_time_seconds histogram cluster_queue,priority_class
evicted_workloads_total counter cluster_queue,reason,underlying_cause,priority_class
evicted_workloads_once_total counter cluster_queue,reason,underlying_cause,priority_class
pods_ready_to_evicted_time_seconds histogram cluster_queue,reason,underlying_cause
workload_eviction_latency_seconds histogram cluster_queue,reason
preempted_workloads_total counter preempting_cluster_queue,reason
preemption_target_recomputations_total counter cluster_queue,result
local_queue_quota_reserved_workloads_total counter name,namespace,priority_class
local_queue_quota_reserved_wait_time_seconds histogram name,namespace,priority_class
local_queue_admitted_workloads_total counter name,namespace,priority_class
local_queue_admission_wait_time_seconds histogram name,namespace,priority_class
local_queue_admission_checks_wait_time_seconds histogram name,namespace,priority_class
local_queue_ready_wait_time_seconds histogram name,namespace,priority_class
local_queue_admitted_until_ready_wait_time_seconds histogram name,namespace,priority_class
local_queue_finished_workloads_total counter name,namespace,priority_class
local_queue_execution_time_seconds histogram name,namespace,priority_class
local_queue_evicted_workloads_total counter name,namespace,reason,underlying_cause,priority_class
cohort_subtree_admitted_workloads_total counter cohort,priority_class
multikueue_workloads_dispatched_total counter cluster_queue,cluster
multikueue_workloads_admitted_total counter cluster_queue,cluster
replaced_workload_slices_total ! the reference counts it and never shows it
";

fn workload(conditions: &serde_json::Value, more: &serde_json::Value) -> Workload {
    let mut status = json!({"conditions": conditions, "admission": {"clusterQueue": "cq", "podSetAssignments": []}});
    for (name, value) in more.as_object().into_iter().flatten() {
        status[name] = value.clone();
    }
    serde_json::from_value(json!({
        "metadata": {"name": "w", "namespace": "n", "creationTimestamp": "2026-11-30T20:00:00Z", "labels": {"team": "vision"}},
        "spec": {"queueName": "lq"},
        "status": status,
    }))
    .unwrap()
}

fn condition(type_: &str, at: &str) -> serde_json::Value {
    json!({"type": type_, "status": "True", "reason": "R", "message": "", "lastTransitionTime": at})
}

/// One of everything happened.
fn a_full_life(options: Options) -> String {
    let mut registry = Registry::default();
    let role = CurrentRole::new(Role::Standalone);
    let metrics = Metrics::register(&mut registry, role, options);
    let queue = json!({"metadata": {"name": "lq", "namespace": "n", "labels": {"team": "sound"}}, "spec": {"clusterQueue": "cq"}});
    let around = Around {
        cluster_queue: None,
        local_queue: Some(Arc::new(serde_json::from_value(queue).unwrap())),
        cohorts: vec![("root".to_owned(), None)],
    };
    let reserved = condition("QuotaReserved", "2026-11-30T20:00:10Z");
    let admitted = condition("Admitted", "2026-11-30T20:00:20Z");
    let ready = condition("PodsReady", "2026-11-30T20:00:30Z");
    let evicted = condition("Evicted", "2026-11-30T20:00:40Z");
    let none = json!({});
    let life = [
        workload(&json!([]), &none),
        workload(&json!([reserved]), &none),
        workload(&json!([reserved, admitted]), &none),
        workload(&json!([reserved, admitted, ready]), &none),
        workload(
            &json!([reserved, admitted, ready, evicted]),
            &json!({"schedulingStats": {"evictions": [{"reason": "Preempted", "underlyingCause": "", "count": 1}]}}),
        ),
        workload(
            &json!([evicted]),
            &json!({"schedulingStats": {"evictions": [{"reason": "Preempted", "underlyingCause": "", "count": 1}]}}),
        ),
        workload(
            &json!([condition("Finished", "2026-11-30T20:01:00Z"), admitted]),
            &none,
        ),
    ];
    let now = "2026-11-30T20:01:00Z".parse().unwrap();
    for pair in life.windows(2) {
        metrics.changed(&pair[0], &pair[1], &around, now);
    }
    metrics.cycle(true, std::time::Duration::from_millis(3));
    metrics.preempted("cq", "InClusterQueue", &around);
    metrics.recomputed("cq", "new_targets", &around);
    metrics.dispatched("cq", "north");
    metrics.admitted_elsewhere("cq", "north");
    metrics.gate_removed("kueue.x-k8s.io/topology", &life[2], &around, now);
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "n", "generation": 1, "creationTimestamp": "2026-11-30T20:00:00Z"}, "spec": {"template": {"spec": {"containers": []}}}});
    let kind = jobs::kind::of_framework("batch/job").unwrap();
    let job = (kind.read)(job).unwrap();
    metrics.workload_created(&*job, around.local_queue.as_deref(), now);
    render(&registry)
}

/// Type and labels of every metric that has a sample.
fn found(text: &str) -> BTreeMap<String, (String, BTreeSet<String>)> {
    let mut types = BTreeMap::new();
    let mut found = BTreeMap::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            types.insert(name.to_owned(), kind.to_owned());
        } else if let Some((sample, rest)) = line.split_once('{') {
            let base = sample
                .trim_end_matches("_total")
                .trim_end_matches("_bucket");
            let base = base.trim_end_matches("_sum").trim_end_matches("_count");
            let kind = types[base].clone();
            let name = if kind == "counter" {
                format!("{base}_total")
            } else {
                base.to_owned()
            };
            let labels = rest.split_once('}').unwrap().0.split(',');
            let labels = labels.filter_map(|pair| Some(pair.split_once('=')?.0.to_owned()));
            let labels = labels.filter(|name| name != "le").collect();
            found.insert(name, (kind, labels));
        }
    }
    found
}

#[test]
fn every_counter_and_histogram_of_the_reference_is_there() {
    let found = found(&a_full_life(Options::default()));
    let mut wanted = BTreeSet::new();
    for line in COUNTED.lines().filter(|line| !line.is_empty()) {
        let name = line.split(' ').next().unwrap();
        if line.contains('!') {
            assert!(
                !found.contains_key(&format!("kueue_{name}")),
                "{name} is there now"
            );
            continue;
        }
        let [_, kind, labels] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let name = format!("kueue_{name}");
        let mut labels: BTreeSet<String> = labels.split(',').map(str::to_owned).collect();
        labels.insert("replica_role".to_owned());
        assert_eq!(found.get(&name), Some(&(kind.to_owned(), labels)), "{name}");
        wanted.insert(name);
    }
    let more: Vec<_> = found
        .keys()
        .filter(|name| !wanted.contains(*name))
        .collect();
    assert!(more.is_empty(), "not in the reference: {more:?}");
}

#[test]
fn what_is_switched_off_is_not_there() {
    let options = Options {
        with_local_queues: false,
        with_cohorts: false,
        with_creation_latency: false,
        ..Options::default()
    };
    let text = a_full_life(options);
    for part in ["local_queue", "cohort", "creation_latency"] {
        assert!(!text.contains(part), "{part}");
    }
}

#[test]
fn labels_of_ones_own_come_from_the_object_of_the_metric() {
    let custom = |label, tracked: &[&str]| Custom {
        label,
        key: "team".to_owned(),
        annotation: false,
        tracked: tracked.iter().map(|&value| value.to_owned()).collect(),
    };
    let options = Options {
        custom: CustomLabels {
            workloads: vec![custom("custom_w", &["other"])],
            local_queues: vec![custom("custom_lq", &[])],
            ..CustomLabels::default()
        },
        ..Options::default()
    };
    let text = a_full_life(options);
    let line = |name: &str| {
        text.lines()
            .find(|line| line.starts_with(name))
            .unwrap()
            .to_owned()
    };
    let admitted = line("kueue_local_queue_admitted_workloads_total");
    assert!(admitted.contains("custom_lq=\"sound\""), "{admitted}");
    assert!(
        admitted.contains("custom_w=\"kueue.x-k8s.io/_UNTRACKED_VALUE_\""),
        "{admitted}"
    );
    let reserved = line("kueue_local_queue_quota_reserved_workloads_total");
    assert!(!reserved.contains("custom_w"), "{reserved}");
}

/// A replica that only looks on counts nothing.
#[test]
fn a_follower_does_not_count() {
    let mut registry = Registry::default();
    let role = CurrentRole::new(Role::Follower);
    let metrics = Metrics::register(&mut registry, role, Options::default());
    let before = workload(&json!([]), &json!({}));
    let after = workload(
        &json!([condition("Admitted", "2026-11-30T20:00:20Z")]),
        &json!({}),
    );
    metrics.changed(
        &before,
        &after,
        &Around::default(),
        "2026-11-30T20:01:00Z".parse().unwrap(),
    );
    assert!(!render(&registry).contains("cluster_queue="));
}
