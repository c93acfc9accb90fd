//! An assignment in the form of the corpus, and the flexible comparison of what was looked at.

use scheduler::{Assignment, Attempt, Mode, PodSetAssignment, messages};
use serde_json::{Map, Value, json};

use crate::compare::{differences, lean};
use crate::corpus::read;

pub(super) fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::NoFit => "NoFit",
        Mode::Preempt => "Preempt",
        Mode::Fit => "Fit",
    }
}

/// Compares an assignment with `wantAssignment`.
pub(super) fn compare(got: &Assignment, want: &Value) -> Result<(), String> {
    let pod_sets: Vec<Value> = read(&want["podSets"]);
    let mut want = want.clone();
    for pod_set in want["podSets"].as_array_mut().into_iter().flatten() {
        pod_set["status"]["reasons"] = json!(sorted(&pod_set["status"]["reasons"]));
        pod_set
            .as_object_mut()
            .unwrap()
            .remove("flavorAssignmentAttempts");
    }
    let used = got.usage.iter();
    let used: Map<String, Value> = used
        .map(|(of, amount)| (of.to_string(), json!(amount.value())))
        .collect();
    let shown = json!({
        "borrowing": got.borrowing,
        "noFitReason": got.no_fit_reason().map(messages::no_fit_reason),
        "usage": {"quota": {"assigned": used}},
        "podSets": got.pod_sets.iter().map(pod_set).collect::<Vec<_>>(),
    });
    // The reference's tests do not say what an assignment would use that does not exist.
    let mut shown = lean(&shown);
    if got.mode() == Mode::NoFit && want["usage"].is_null() {
        shown.as_object_mut().unwrap().remove("usage");
    }
    let found = differences(&shown, &lean(&want));
    if !found.is_empty() {
        return Err(found.join("\n"));
    }
    let mut attempts = got.pod_sets.iter().zip(&pod_sets);
    attempts.try_for_each(|(got, want)| {
        compare_attempts(
            &got.attempts,
            &read::<Vec<Value>>(&want["flavorAssignmentAttempts"]),
        )
    })
}

fn pod_set(got: &PodSetAssignment) -> Value {
    let flavors = got.flavors.iter().map(|(resource, choice)| {
        let tried = choice.tried.0.map_or(-1, |index| i64::try_from(index).unwrap());
        let choice = json!({"name": choice.flavor.as_str(), "mode": mode(choice.mode), "triedFlavorIdx": tried});
        (resource.to_string(), choice)
    });
    let flavors: Map<String, Value> = flavors.collect();
    let requests = got.requests.iter().map(|(resource, amount)| {
        let text = amount.to_quantity(resource).to_string();
        (resource.to_string(), json!(text))
    });
    let requests: Map<String, Value> = requests.collect();
    let mut reasons: Vec<_> = got.blockers.iter().map(messages::blocker).collect();
    reasons.sort();
    json!({
        "name": got.name.as_str(),
        "count": got.count,
        "flavors": flavors,
        "requests": requests,
        "status": {"reasons": reasons},
    })
}

fn attempt(attempt: &Attempt) -> Value {
    let mut reasons: Vec<_> = attempt.blockers.iter().map(messages::blocker).collect();
    reasons.sort();
    reasons.dedup();
    lean(&json!({
        "flavor": attempt.flavor.as_str(),
        "mode": mode(attempt.mode),
        "borrow": attempt.borrow,
        "preemptionPossibility": attempt.possibility.map(|possibility| format!("{possibility:?}")),
        "noFitReason": attempt.no_fit.map(messages::no_fit_reason),
        "reasons": reasons,
    }))
}

fn sorted(values: &Value) -> Vec<String> {
    let mut all: Vec<String> = read(values);
    all.sort();
    all
}

/// With a fit, everything tried must be wanted; without one, everything wanted must have been tried.
fn compare_attempts(got: &[Attempt], wanted: &[Value]) -> Result<(), String> {
    if wanted.is_empty() {
        return Ok(());
    }
    let fits = got.iter().any(|attempt| attempt.mode == Mode::Fit);
    let got: Vec<_> = got.iter().map(attempt).collect();
    let strangers: Vec<_> = if fits {
        let known = |one: &&Value| {
            wanted.contains(one)
                || wanted
                    .iter()
                    .any(|want| want["flavor"] == one["flavor"] && only_lacks(want))
        };
        got.iter().filter(|one| !known(one)).collect()
    } else {
        wanted.iter().filter(|one| !got.contains(one)).collect()
    };
    if strangers.is_empty() {
        return Ok(());
    }
    Err(format!(
        "attempts: {strangers:?}\n  decided:  {got:?}\n  expected: {wanted:?}"
    ))
}

fn only_lacks(want: &Value) -> bool {
    let reasons = sorted(&want["reasons"]);
    reasons
        .iter()
        .any(|reason| reason.contains("does not provide resource"))
}
