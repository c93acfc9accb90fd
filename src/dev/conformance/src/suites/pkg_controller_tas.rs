//! The controllers of topology-aware scheduling, as far as they decide as functions of values.

mod node_failure;
mod watched;

use std::collections::BTreeMap;

use cache::topology::ungate;
use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::gates;
use kueue_api::v1beta2::Workload;
use kueue_api::workload::phase;
use kueue_api::workload::pods::is_over;
use serde_json::{Value, json};

use super::File;
use crate::corpus::{Case, each, now, parse, read};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[
    ("TestReconcile", ungated),
    ("TestNodeFailureReconciler", node_failure::remedied),
    ("TestGetWorkloadStatus", node_failure::health),
    ("TestBelongsToNonTASCache", watched::foreign),
    ("TestIsTAS", watched::asks),
    ("TestNodeHandler_Update", watched::node_changes),
    (
        "TestPodUsageReconcilerUpdatePredicate",
        watched::pod_changes,
    ),
    ("TestPodUsageReconcilerCreate", watched::filter),
    ("TestPodUsageReconcilerDelete", watched::filter),
    ("TestDrainPendingNodes", watched::drain),
    ("TestRecordPodSchedulingGateRemovalSeconds", gate_seconds),
];

/// The pods of a case after the gates of those that may start were taken away.
fn after(case: Case<'_>) -> Vec<Pod> {
    let mut pods: Vec<Pod> = each(&case.input["pods"]);
    for workload in each::<Workload>(&case.input["workloads"]) {
        let placed = ungate(&workload, &pods).unwrap_or_default();
        for placement in placed {
            let name = Some(placement.pod);
            let pod = pods
                .iter_mut()
                .find(|pod| pod.metadata.name == name)
                .unwrap();
            let spec = pod.spec.as_mut().unwrap();
            let selector = spec.node_selector.get_or_insert_default();
            selector.extend(placement.node_selector);
            let held = spec.scheduling_gates.as_mut().unwrap();
            held.retain(|gate| gate.name != gates::TOPOLOGY);
        }
    }
    pods.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    pods
}

/// How long the pods that may start waited for that since their workload was admitted.
fn gate_seconds(case: Case<'_>) -> Verdict {
    let (mut count, mut seconds) = (0, 0.0);
    let pods: Vec<Pod> = each(&case.input["pods"]);
    for workload in each::<Workload>(&case.input["workloads"]) {
        for _ in ungate(&workload, &pods).unwrap_or_default() {
            let waited = phase::since_admission(&workload, now());
            count += i64::from(waited.is_some());
            seconds += waited.map_or(0.0, |waited| waited.as_secs_f64());
        }
    }
    let mut want: Vec<Pod> = each(&case.want["wantPods"]);
    want.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    Verdict::all([
        Verdict::same(&json!(after(case)), &json!(want)),
        Verdict::equal("observed", &count, &read(&case.want["wantMetricsCount"])),
        Verdict::equal("seconds", &seconds, &read(&case.want["wantMetricsSeconds"])),
    ])
}

fn ungated(case: Case<'_>) -> Verdict {
    if !case.input["expectUIDs"].is_null() || !case.want["expectUIDs"].is_null() {
        return Verdict::Skipped(crate::verdict::Skip::Internal(
            "expectations bridge a stale client cache; here the answer to a write is read at once",
        ));
    }
    let pods = after(case);
    if case.input["nodeSelectorAssertMode"] == "Exact" {
        let mut want: Vec<Pod> = each(&case.want["wantPods"]);
        want.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        return Verdict::same(&json!(pods), &json!(want));
    }
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| !is_over(pod)) {
        let selector = pod
            .spec
            .as_ref()
            .and_then(|spec| spec.node_selector.as_ref());
        if let Some(selector) = selector.filter(|selector| !selector.is_empty()) {
            *counts.entry(json!(selector).to_string()).or_default() += 1;
        }
    }
    let want: BTreeMap<String, i64> = each::<Value>(&case.want["wantCounts"])
        .iter()
        .filter(|one| one["nodeSelector"].is_object())
        .map(|one| {
            let selector: BTreeMap<String, String> = parse(&one["nodeSelector"]);
            (json!(selector).to_string(), parse(&one["count"]))
        })
        .collect();
    Verdict::equal("pods by node selector", &counts, &want)
}
