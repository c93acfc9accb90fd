//! Pods by number.

use std::collections::BTreeMap;

use kueue_api::v1beta2::{ReclaimablePod, Workload};
use kueue_api::workload::pods;
use serde_json::json;

use crate::corpus::{Case, each, parse, read};
use crate::verdict::Verdict;

pub(super) fn counts(case: Case<'_>) -> Verdict {
    let arguments = &case.input["args"];
    let sets = match arguments.get("workload") {
        Some(workload) => parse::<Workload>(workload).spec.pod_sets,
        None => each(&arguments["podSets"]),
    };
    Verdict::same(&pods::counts(&sets), &case.want["want"])
}

pub(super) fn resize(case: Case<'_>) -> Verdict {
    let mut got: Workload = parse(&case.input["args"]["wl"]);
    pods::resize(&mut got, &read(&case.input["args"]["counts"]));
    let want: Workload = parse(&case.want["want"]);
    Verdict::same(&got.spec, &json!(want.spec))
}

pub(super) fn fewer(case: Case<'_>) -> Verdict {
    let own: BTreeMap<String, i32> = read(&case.input["c"]);
    let other: BTreeMap<String, i32> = read(&case.input["args"]["in"]);
    let got = pods::fewer(&own, &other);
    Verdict::equal("fewer", &got, &(case.want["want"] == true))
}

pub(super) fn at_most(case: Case<'_>) -> Verdict {
    let given: Vec<ReclaimablePod> = each(&case.input["reclaimablePods"]);
    let object: Workload = parse(&case.common["wl"]);
    let got = pods::at_most(&given, &object.spec.pod_sets);
    Verdict::same(&got, &case.want["want"])
}

pub(super) fn same_given_back(case: Case<'_>) -> Verdict {
    let list = |name: &str| each::<ReclaimablePod>(&case.input[name]);
    let got = pods::same_given_back(&list("a"), &list("b"));
    Verdict::equal("the same", &got, &(case.want["wantResult"] == true))
}
