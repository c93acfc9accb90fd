//! Transitions of a Workload's status. What the API server answers to their writes is not the matter of any of them: where a case has the
//! write fail, the error goes to the caller and the status stays.

use cache::{Draft, Words};
use kueue_api::v1beta2::{Workload, WorkloadStatus};
use serde_json::{Value, json};

use crate::corpus::{Case, each, now, parse, read};
use crate::verdict::{Skip, Verdict};

const FAILED_WRITE: Skip = Skip::Internal("how the reference's client passes an error on");

fn words(case: Case<'_>) -> Words {
    match (
        case.gate("UnadmittedWorkloadsObservability"),
        case.gate("UnadmittedWorkloadsExplicitStatus"),
    ) {
        (false, _) => Words::Legacy,
        (true, false) => Words::Granular,
        (true, true) => Words::Explicit,
    }
}

/// Conditions without what is not compared.
fn conditions(status: &WorkloadStatus, dropped: &[&str]) -> Value {
    let mut all = json!(status.conditions);
    for condition in all.as_array_mut().into_iter().flatten() {
        let fields = condition.as_object_mut().unwrap();
        dropped.iter().for_each(|name| {
            fields.remove(*name);
        });
    }
    all
}

pub(super) fn synced(case: Case<'_>) -> Verdict {
    let object: Workload = parse(&case.input["setup"]["wl"]);
    let got = Draft::of(&object, now()).synced(words(case)).done();
    let before = object.status.unwrap_or_default();
    let past = got.accumulated_past_execution_time_seconds.unwrap_or(0);
    let wanted = WorkloadStatus {
        conditions: parse::<WorkloadStatus>(&json!({"conditions": case.want["wantConditions"]}))
            .conditions,
        ..WorkloadStatus::default()
    };
    let wanted_seconds = match read(&case.want["wantAdmittedTime"]) {
        0 => past,
        seconds => seconds,
    };
    let dropped = ["lastTransitionTime", "message"];
    Verdict::all([
        Verdict::same(&conditions(&got, &dropped), &conditions(&wanted, &dropped)),
        Verdict::equal(
            "changed",
            &(got != before),
            &(case.want["wantChange"] == true),
        ),
        // The reference compares them only where it wants some.
        Verdict::equal("seconds", &past, &wanted_seconds),
    ])
}

pub(super) fn reserved(case: Case<'_>) -> Verdict {
    let object: Workload = parse(&case.input["args"]["workload"]);
    let draft = Draft::of(&object, now());
    let got = draft
        .reserved(parse(&case.input["args"]["admission"]))
        .done();
    let want: Workload = parse(&case.want["want"]);
    Verdict::same(&got, &json!(want.status))
}

pub(super) fn condition(case: Case<'_>) -> Verdict {
    if case.input["err"].is_string() {
        return Verdict::Skipped(FAILED_WRITE);
    }
    let mut object: Workload = parse(&case.input["setup"]["workload"]);
    object.status = read(&case.input["oldStatus"]);
    let text = |name: &str| read::<String>(&case.input[name]);
    let got = Draft::of(&object, now()).saying(
        &text("condType"),
        text("condStatus") == "True",
        &text("reason"),
        &text("message"),
    );
    let want: WorkloadStatus = parse(&case.want["wantStatus"]);
    let dropped = ["lastTransitionTime"];
    Verdict::same(
        &conditions(&got.done(), &dropped),
        &conditions(&want, &dropped),
    )
}

pub(super) fn giving_back(case: Case<'_>) -> Verdict {
    if case.input["err"].is_string() {
        return Verdict::Skipped(FAILED_WRITE);
    }
    let mut object: Workload = parse(&case.input["setup"]["workload"]);
    object.status = read(&case.input["oldStatus"]);
    let got = Draft::of(&object, now()).giving_back(each(&case.input["reclaimablePods"]));
    Verdict::same(&got.done(), &case.want["wantStatus"])
}

pub(super) fn not_before(case: Case<'_>) -> Verdict {
    let object: Workload = parse(&case.input["workload"]);
    let until: String = read(&case.input["waitUntil"]);
    let counted = case.input["incrementCount"] == true;
    let draft = Draft::of(&object, now()).not_before(until.parse().unwrap(), counted);
    let before = object.status.and_then(|status| status.requeue_state);
    let after = draft.done().requeue_state;
    let state = after.clone().unwrap_or_default();
    Verdict::all([
        Verdict::same(&json!(state.count), &case.want["wantCount"]),
        Verdict::same(&json!(state.requeue_at), &case.want["wantRequeueAt"]),
        Verdict::equal(
            "changed",
            &(before != after),
            &(case.want["wantUpdated"] == true),
        ),
    ])
}
