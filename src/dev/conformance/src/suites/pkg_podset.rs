//! What an admission adds to pod templates, and how they get their own values back.

use std::collections::BTreeMap;

use jobs::PodSetInfo;
use kueue_api::v1beta2::{PodSet, PodSetAssignment, ResourceFlavor};
use serde_json::{Value, json};

use super::File;
use crate::corpus::{Case, each, parse, read};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[
    ("TestAddOrUpdateLabel", label),
    ("TestFromAssignment", of_flavors),
    ("TestMergeRestore", merge_and_restore),
];

fn info(value: &Value) -> PodSetInfo {
    PodSetInfo {
        name: read(&value["name"]),
        count: read(&value["count"]),
        labels: read(&value["labels"]),
        annotations: read(&value["annotations"]),
        node_selector: read(&value["nodeSelector"]),
        tolerations: each(&value["tolerations"]),
        scheduling_gates: each(&value["schedulingGates"]),
        ..PodSetInfo::default()
    }
}

fn shown(info: &PodSetInfo) -> Value {
    json!({
        "name": info.name, "count": info.count, "labels": info.labels, "annotations": info.annotations,
        "nodeSelector": info.node_selector, "tolerations": info.tolerations, "schedulingGates": info.scheduling_gates,
    })
}

fn label(case: Case<'_>) -> Verdict {
    let mut got = info(&case.input["info"]);
    got.set_label(
        &read::<String>(&case.input["k"]),
        &read::<String>(&case.input["v"]),
    );
    Verdict::same(&shown(&got), &case.want["wantInfo"])
}

fn of_flavors(case: Case<'_>) -> Verdict {
    let assignment: PodSetAssignment = parse(&case.input["assignment"]);
    let set: PodSet = parse(&case.input["setup"]["podSet"]);
    let flavors: BTreeMap<_, _> = each::<ResourceFlavor>(&case.input["flavors"])
        .into_iter()
        .map(|flavor| (flavor.name().to_owned(), flavor.spec))
        .collect();
    let by_topology = case.gate("TopologyAwareScheduling");
    match PodSetInfo::of_flavors(&assignment, &set, &flavors, by_topology) {
        Ok(got) => Verdict::same(&shown(&got), &case.want["wantInfo"]),
        Err(error) => Verdict::same(&error.to_string(), &case.want["wantError"]),
    }
}

fn merge_and_restore(case: Case<'_>) -> Verdict {
    let set: PodSet = parse(&case.input["podSet"]);
    let mut added = info(&case.input["info"]);
    added.keeps_slice = !case.gate("ElasticJobsViaWorkloadSlices");
    let mut merged = set.clone();
    let ended = added.merge_into(&mut merged.template);
    if let Err(error) = ended {
        let expected = case.want["wantError"] == true;
        return Verdict::equal(&error.to_string(), &true, &expected);
    }
    let mut restored = merged.template.clone();
    PodSetInfo::of_pod_set(&set).restore_into(&mut restored, &[]);
    Verdict::all([
        Verdict::equal("refused", &false, &(case.want["wantError"] == true)),
        Verdict::same(&merged.template, &case.want["wantPodSet"]["template"]),
        Verdict::equal(
            "restoring changes something",
            &(restored != merged.template),
            &(case.want["wantRestoreChanges"] == true),
        ),
        Verdict::same(&restored, &json!(set.template)),
    ])
}
