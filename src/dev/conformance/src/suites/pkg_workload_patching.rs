//! What is written into a Workload's status, and by whom.

use kueue_api::v1beta2::AdmissionCheckState;
use kueue_api::workload::checks;
use serde_json::{Value, json};

use super::File;
use crate::corpus::{Case, each, now, parse};
use crate::verdict::{Skip, Verdict};

pub(super) const FILES: &[File] = &[
    ("TestPatchAdmissionStatus", client),
    ("TestPatchStatus", client),
    ("TestSetCheckState", set_state),
];

fn client(_: Case<'_>) -> Verdict {
    Verdict::Skipped(Skip::Internal(
        "retries of the reference's client, around a function that the data does not hold",
    ))
}

fn set_state(case: Case<'_>) -> Verdict {
    let mut got: Vec<AdmissionCheckState> = each(&case.input["origStates"]);
    let answer: AdmissionCheckState = parse(&case.input["state"]);
    let timed = answer.last_transition_time.is_some();
    let name = answer.name.clone();
    checks::set_state(&mut got, answer, now());
    let mut want: Vec<Value> = each(&case.want["wantStates"]);
    let mut got: Vec<Value> = got.iter().map(|state| json!(state)).collect();
    // Without a time in the answer it is that of the clock, which the reference does not compare.
    for state in got.iter_mut().chain(&mut want) {
        if !timed && state["name"] == *name {
            state["lastTransitionTime"] = Value::Null;
        }
    }
    Verdict::same(&got, &Value::Array(want))
}
