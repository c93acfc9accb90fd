//! Admission checks, and what else follows from the names in a Workload.

use kueue_api::v1beta2::{AdmissionCheckState, ClusterQueue, Workload};
use kueue_api::workload::{checks, priority};
use serde_json::{Value, json};

use crate::corpus::{Case, parse, read};
use crate::verdict::Verdict;

pub(super) fn required(case: Case<'_>) -> Verdict {
    let queue = case.input.get("cq").unwrap_or(&case.input["setup"]["cq"]);
    let queue: ClusterQueue = parse(queue);
    let got = checks::required(&parse(&case.input["wl"]), &queue);
    let mut want: Vec<String> = read(&case.want["wantAdmissionChecks"]);
    want.sort_unstable();
    Verdict::same(&got, &json!(want))
}

pub(super) fn latest_retry(case: Case<'_>) -> Verdict {
    let got = checks::latest_retry(&parse(&case.input["setup"]["wl"]));
    Verdict::same(&json!(got), &case.want["wantRetryTime"])
}

pub(super) fn nomination(case: Case<'_>) -> Verdict {
    let check: Option<AdmissionCheckState> = read(&case.input["acs"]);
    let object: Workload = parse(&case.input["wl"]);
    let got = checks::nomination_is_idle(check.as_ref(), &object, case.input["isElastic"] == true);
    Verdict::equal("idle", &got, &(case.want["want"] == true))
}

pub(super) fn priority_changed(case: Case<'_>) -> Verdict {
    let object = |name: &str| parse::<Workload>(&case.input[name]);
    let got = priority::changed(
        &object("oldWorkload"),
        &object("newWorkload"),
        case.gate("PriorityBoost"),
    );
    let want = case.want["wantChanged"] == Value::Bool(true);
    Verdict::equal("changed", &got, &want)
}
