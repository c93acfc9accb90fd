//! Which pods of a job that grows may start.

use std::sync::Arc;

use jobs::slices::{self, ungate};
use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::{gates, labels};
use kueue_api::v1beta2::Workload;
use kueue_api::workload::slices as marks;
use serde_json::json;

use super::File;
use crate::corpus::{Case, each, parse};
use crate::verdict::{Skip, Verdict};

pub(super) const FILES: &[File] = &[
    ("TestReconcile", reconcile),
    ("TestRecordPodSchedulingGateRemovalSeconds", reconcile),
    ("TestShouldUngate", may_start),
];

/// One pass over the chain. Where the table names no podset, its test puts all pods into the first one.
fn reconcile(case: Case<'_>) -> Verdict {
    if case.want["wantErr"].is_string() {
        let why = "expectations: ours writes what it read, and reads what it wrote";
        return Verdict::Skipped(Skip::Internal(why));
    }
    let mut pods: Vec<Pod> = each(&case.input["pods"]);
    let mut wanted: Vec<Pod> = each(&case.want["wantPods"]);
    if case.input["skipDefaultPodSetLabels"] != true {
        pods.iter_mut().chain(&mut wanted).for_each(in_main);
    }
    let all: Vec<Workload> = each(&case.input["workloads"]);
    let chain = all
        .into_iter()
        .filter(|one| marks::is_marked(&one.metadata));
    let chain: Vec<_> = chain.map(Arc::new).collect();
    let open = slices::open(&chain);
    if let Some(slice) = slices::active(&open) {
        for release in ungate(slice, &pods.clone()) {
            let named = |pod: &&mut Pod| pod.metadata.name.as_ref() == Some(&release.pod);
            let pod = pods.iter_mut().find(named).unwrap();
            let spec = pod.spec.get_or_insert_default();
            jobs::pods::ungate(spec, gates::ELASTIC_JOB);
        }
    }
    let by_name = |list: &mut Vec<Pod>| list.sort_by_key(|pod| pod.metadata.name.clone());
    [&mut pods, &mut wanted].into_iter().for_each(by_name);
    Verdict::same(&pods, &json!(wanted))
}

fn in_main(pod: &mut Pod) {
    let own = pod.metadata.labels.get_or_insert_default();
    own.entry(labels::POD_SET.to_owned())
        .or_insert_with(|| "main".to_owned());
}

/// Asked of a slice alone: whether any pod of it may start.
fn may_start(case: Case<'_>) -> Verdict {
    let slice: Workload = parse(&case.input["workload"]);
    let pod: Pod = parse(&json!({
        "metadata": {"name": "pod", "labels": {labels::POD_SET: "main"}},
        "spec": {"containers": [], "schedulingGates": [{"name": gates::ELASTIC_JOB}]},
    }));
    let got = marks::is_marked(&slice.metadata) && !ungate(&slice, [&pod]).is_empty();
    Verdict::equal("may start", &got, &(case.want["want"] == true))
}
