//! Priorities: classes, boosts, and what comes of both.

use k8s_openapi::api::scheduling::v1::PriorityClass;
use kueue_api::v1beta2::{PriorityClassRef, Workload, WorkloadPriorityClass};
use kueue_api::workload::priority;
use serde_json::{Value, json};

use super::File;
use crate::corpus::{Case, each, parse, read};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[
    ("TestDefaultWorkloadPriorityClassExist", default_exists),
    ("TestEffectivePriority", effective),
    ("TestGetPriorityFromPriorityClass", of_pod_class),
    (
        "TestGetPriorityFromWorkloadPriorityClass",
        of_workload_class,
    ),
    ("TestParseEffectivePriority", parsed),
    ("TestPriority", base),
    ("TestPriorityBoost", boost),
];

const GATE: &str = "PriorityBoost";

fn workload(case: Case<'_>) -> Workload {
    parse(&case.input["workload"])
}

fn base(case: Case<'_>) -> Verdict {
    Verdict::equal(
        "priority",
        &workload(case).priority(),
        &read(&case.want["want"]),
    )
}

fn effective(case: Case<'_>) -> Verdict {
    let got = priority::effective(&workload(case), case.gate(GATE));
    Verdict::equal("priority", &got, &read(&case.want["wantPriority"]))
}

/// The reference also says whether the boost could be read; on its own that is `boost`.
fn parsed(case: Case<'_>) -> Verdict {
    let object = workload(case);
    let got = (
        priority::effective(&object, case.gate(GATE)),
        priority::boost(&object, case.gate(GATE)).is_err(),
    );
    let want = (
        read(&case.want["wantPriority"]),
        case.want["wantErr"] == true,
    );
    Verdict::equal("priority, and whether it cannot be read", &got, &want)
}

fn boost(case: Case<'_>) -> Verdict {
    let got = priority::boost(&workload(case), case.gate(GATE));
    let got = (got.is_err(), got.unwrap_or_default());
    let want = (case.want["wantErr"] == true, read(&case.want["wantBoost"]));
    Verdict::equal("boost", &got, &want)
}

fn default_exists(case: Case<'_>) -> Verdict {
    let classes: Vec<WorkloadPriorityClass> =
        each(&case.input["workloadPriorityClassList"]["items"]);
    let name = kueue_api::names::DEFAULT_WORKLOAD_PRIORITY_CLASS;
    let got = classes.iter().any(|class| class.name() == name);
    Verdict::equal("exists", &got, &(case.want["wantExist"] == true))
}

/// What a class that was looked for and one that was found make of it; a missing one has the text of the API server.
fn outcome(case: Case<'_>, found: Option<(PriorityClassRef, i32)>) -> Verdict {
    let missing = case.want["wantErr"].is_string();
    let (class, value) = found.unzip();
    Verdict::all([
        Verdict::equal(
            "missing",
            &class.is_none(),
            &(missing || case.want["wantPriorityClassRef"].is_null()),
        ),
        Verdict::same(&json!(class), &case.want["wantPriorityClassRef"]),
        Verdict::equal(
            "value",
            &value.unwrap_or_default(),
            &read(&case.want["wantPriorityClassValue"]),
        ),
    ])
}

fn of_pod_class(case: Case<'_>) -> Verdict {
    let classes: Vec<PriorityClass> = each(&case.input["priorityClassList"]["items"]);
    let found = match case.input["priorityClassName"].as_str() {
        Some(name) => classes
            .iter()
            .find(|class| class.metadata.name.as_deref() == Some(name)),
        None => priority::default_class(&classes),
    };
    let of = |class: &PriorityClass| {
        let name = class.metadata.name.clone().unwrap_or_default();
        (
            PriorityClassRef::pod(&name),
            class.value.unwrap_or_default(),
        )
    };
    outcome(case, found.map(of))
}

fn of_workload_class(case: Case<'_>) -> Verdict {
    let classes: Vec<WorkloadPriorityClass> =
        each(&case.input["workloadPriorityClassList"]["items"]);
    let name: Value = case.input["workloadPriorityClassName"].clone();
    let found = classes.iter().find(|class| name == class.name());
    outcome(
        case,
        found.map(|class| (PriorityClassRef::workload(class.name()), class.value)),
    )
}
