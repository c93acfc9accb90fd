//! Single pods: gates, groups, roles.

use jobs::pods;
use k8s_openapi::api::core::v1::{Pod, PodSpec};
use kueue_api::workload::phase;
use serde_json::{Value, json};

use super::File;
use crate::corpus::{Case, now, parse, read};
use crate::verdict::{Skip, Verdict};

pub(super) const FILES: &[File] = &[
    ("TestGate", gate),
    ("TestGenerateRoleHash", role),
    ("TestGetPodGroupName", group_name),
    ("TestHasGate", has_gate),
    ("TestIsTerminated", is_terminated),
    ("TestReadUIntFromLabel", index),
    ("TestRecordPodSchedulingGateRemovalSeconds", gate_seconds),
    (
        "TestRecordPodSchedulingGateRemovalSecondsReplicaRole",
        gate_role,
    ),
    ("TestSpecShape", shape),
    ("TestUngate", ungate),
];

fn name(case: Case<'_>) -> String {
    read(&case.input["gateName"])
}

fn changed(case: Case<'_>, change: fn(&mut PodSpec, &str) -> bool) -> Verdict {
    let mut pod: Pod = parse(&case.input["pod"]);
    let got = change(pod.spec.get_or_insert_default(), &name(case));
    let mut want: Pod = parse(&case.want["wantPod"]);
    // The order of gates means nothing.
    for pod in [&mut pod, &mut want] {
        let gates = pod
            .spec
            .iter_mut()
            .flat_map(|spec| &mut spec.scheduling_gates);
        gates.for_each(|gates| gates.sort_by(|one, other| one.name.cmp(&other.name)));
    }
    Verdict::all([
        Verdict::equal("changed", &got, &(case.want["want"] == true)),
        Verdict::same(&pod, &json!(want)),
    ])
}

fn gate(case: Case<'_>) -> Verdict {
    changed(case, pods::gate)
}

fn ungate(case: Case<'_>) -> Verdict {
    changed(case, pods::ungate)
}

fn has_gate(case: Case<'_>) -> Verdict {
    let pod: Pod = parse(&case.input["pod"]);
    let got = pods::has_gate(&pod.spec.unwrap_or_default(), &name(case));
    Verdict::equal("there", &got, &(case.want["want"] == true))
}

fn role(case: Case<'_>) -> Verdict {
    let got = pods::role(&parse(&case.input["podSpec"]));
    let base: String = read(&case.common["baseHash"]);
    let same = case.want["wantBaseHash"] == true;
    Verdict::equal(&format!("{got} is {base}"), &(got == base), &same)
}

fn shape(case: Case<'_>) -> Verdict {
    let got = pods::shape(&parse(&case.input["podSpec"]));
    let present = case.want["wantPresent"] == true;
    Verdict::all([
        Verdict::equal("present", &got.get("resources").is_some(), &present),
        Verdict::same(
            got.get("resources").unwrap_or(&Value::Null),
            &case.want["wantResources"],
        ),
    ])
}

fn group_name(case: Case<'_>) -> Verdict {
    let pod: Pod = parse(&case.input["pod"]);
    let got = pods::group_name(&pod, case.gate("WorkloadIdentifierAnnotations"));
    Verdict::equal(
        "group",
        &got.unwrap_or_default().to_owned(),
        &read(&case.want["want"]),
    )
}

fn is_terminated(case: Case<'_>) -> Verdict {
    let got = pods::is_terminated(&parse(&case.input["pod"]));
    Verdict::equal("at its end", &got, &(case.want["wantTerminated"] == true))
}

fn index(case: Case<'_>) -> Verdict {
    let pod: Pod = parse(&case.input["obj"]);
    let label: String = read(&case.input["label"]);
    let got = pods::index(&pod, &label, read(&case.input["max"]));
    match (got, case.want["wantErr"].as_str()) {
        (Ok(got), None) => Verdict::equal("index", &got, &read(&case.want["wantVal"])),
        (Err(error), Some(text)) if error.to_string().contains(text) => Verdict::Passed,
        (got, want) => Verdict::Failed(format!("decided: {got:?}, expected: {want:?}")),
    }
}

fn gate_seconds(case: Case<'_>) -> Verdict {
    let object = parse(&case.input["setup"]["wl"]);
    let got = phase::since_admission(&object, now()).map(|since| since.as_secs_f64());
    let want = case.want["wantSeconds"].as_f64();
    Verdict::equal("seconds", &got, &Some(want.unwrap_or_default()))
}

fn gate_role(_: Case<'_>) -> Verdict {
    let why = "a label of a metric, set by code that the data does not hold";
    Verdict::Skipped(Skip::Internal(why))
}
