//! What a batch/v1 Job itself shows: created, unsuspended, ended, deleted.

use super::{add, attempt, fell_into};
use crate::{
    attempt::{Details, JobName},
    entry::ObjectEntry,
    json,
    objects::Step,
    timeline::Timeline,
};
use course::{FactName, JobResult};
use serde_json::Value;

pub(super) fn derive(timeline: &mut Timeline, entry: &ObjectEntry, step: &Step, deleted: bool) {
    let job = JobName {
        kind: entry.kind.clone(),
        namespace: entry.namespace.clone().unwrap_or_default(),
        name: entry.name.clone(),
    };
    let gap = fell_into(timeline, entry);
    let attempt = attempt(timeline, job, &entry.uid);
    attempt.touched.extend(gap);
    if !attempt.has(FactName::Submitted) {
        add(attempt, FactName::Submitted, step.place, Details::default());
    }
    let now_suspended = suspended(&step.after);
    let was_suspended = step.before.as_ref().is_some_and(|before| suspended(before));
    let never_started = !attempt.has(FactName::Started);
    let unsuspended = was_suspended && !now_suspended;
    // Outside Kueue, or first seen when it already ran: its pods say that it started.
    let runs = !now_suspended && never_started && has_pods(&step.after);
    if unsuspended || runs {
        add(attempt, FactName::Started, step.place, Details::default());
    }
    if !attempt.has(FactName::Finished)
        && let Some((result, condition)) = ended(&step.after)
    {
        let details = Details {
            result: Some(result),
            reason: json::text(condition, "reason").map(str::to_owned),
            message: json::text(condition, "message").map(str::to_owned),
            ..Details::default()
        };
        add(attempt, FactName::Finished, step.place, details);
    }
    if deleted && !attempt.has(FactName::Deleted) {
        add(attempt, FactName::Deleted, step.place, Details::default());
    }
}

fn suspended(job: &Value) -> bool {
    json::at(job, "spec.suspend").and_then(Value::as_bool) == Some(true)
}

fn has_pods(job: &Value) -> bool {
    ["active", "succeeded", "failed"].iter().any(|key| {
        json::at(job, "status")
            .and_then(|status| status.get(*key))
            .and_then(Value::as_i64)
            .unwrap_or(0)
            > 0
    })
}

fn ended(job: &Value) -> Option<(JobResult, &Value)> {
    [
        ("Complete", JobResult::Succeeded),
        ("Failed", JobResult::Failed),
    ]
    .into_iter()
    .find_map(|(kind, result)| {
        json::is_true(job, kind)
            .then(|| json::condition(job, kind).map(|condition| (result, condition)))?
    })
}
