//! What a Workload shows about the job it was made for: queued and why, reserved, admitted, evicted, preempted, given back.

use super::{add, attempt, fell_into, found_by_listing};
use crate::{
    attempt::{Attempt, Details, JobName},
    entry::ObjectEntry,
    json,
    objects::Step,
    place::Place,
    timeline::Timeline,
};
use course::FactName;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) fn derive(timeline: &mut Timeline, entry: &ObjectEntry, step: &Step, deleted: bool) {
    if deleted {
        timeline.reservations.release(&entry.uid);
    } else {
        timeline.reservations.set(&entry.uid, &step.after);
    }
    let Some((job, job_uid)) = owner(entry, &step.after) else {
        return;
    };
    timeline.owners.insert(entry.uid.clone(), job_uid.clone());
    let reservation = reservation(timeline, entry, &step.after);
    let gap = fell_into(timeline, entry);
    let attempt = attempt(timeline, job, &job_uid);
    attempt.touched.extend(gap);
    if deleted {
        return;
    }
    if !attempt.workload_uids.contains(&entry.uid) {
        attempt.workload_uids.push(entry.uid.clone());
        attempt.workloads.push(entry.name.clone());
        let local_queue = json::text(&step.after, "spec.queueName").map(str::to_owned);
        let details = Details {
            workload: Some(entry.name.clone()),
            local_queue,
            ..Details::default()
        };
        add(attempt, FactName::Managed, step.place, details);
    }
    if found_by_listing(entry) {
        missed(attempt, step);
    }
    transitions(attempt, step, &reservation);
}

/// The job that the Workload stands for, by its controlling owner.
fn owner(entry: &ObjectEntry, workload: &Value) -> Option<(JobName, String)> {
    let owner = json::items(workload, "metadata.ownerReferences")
        .iter()
        .find(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true))?;
    let job = JobName {
        kind: json::text(owner, "kind")?.to_owned(),
        namespace: entry.namespace.clone().unwrap_or_default(),
        name: json::text(owner, "name")?.to_owned(),
    };
    Some((job, json::text(owner, "uid")?.to_owned()))
}

fn reservation(timeline: &Timeline, entry: &ObjectEntry, workload: &Value) -> Details {
    let queue = json::text(workload, "status.admission.clusterQueue").map(str::to_owned);
    let mut flavors: Vec<String> = json::items(workload, "status.admission.podSetAssignments")
        .iter()
        .filter_map(|set| set.get("flavors").and_then(Value::as_object))
        .flat_map(|flavors| {
            flavors
                .values()
                .filter_map(Value::as_str)
                .map(str::to_owned)
        })
        .collect();
    flavors.sort();
    flavors.dedup();
    let cluster_queue = queue
        .as_deref()
        .and_then(|name| timeline.object("ClusterQueue", None, name));
    let borrowed = timeline
        .reservations
        .borrowed(&entry.uid, cluster_queue.map(|object| object.as_ref()));
    Details {
        cluster_queue: queue,
        flavors,
        borrowed,
        workload: Some(entry.name.clone()),
        ..Details::default()
    }
}

/// A condition before and after: (was true, is true, the condition itself).
struct Turn<'a> {
    was: bool,
    is: bool,
    now: Option<&'a Value>,
    before: Option<&'a Value>,
}

fn turn<'a>(step: &'a Step, kind: &str) -> Turn<'a> {
    let before = step
        .before
        .as_deref()
        .and_then(|object| json::condition(object, kind));
    let now = json::condition(&step.after, kind);
    let truth = |condition: Option<&Value>| {
        condition.and_then(|value| json::text(value, "status")) == Some("True")
    };
    Turn {
        was: truth(before),
        is: truth(now),
        now,
        before,
    }
}

fn why(condition: Option<&Value>) -> Details {
    let text = |path: &str| {
        condition
            .and_then(|value| json::text(value, path))
            .map(str::to_owned)
    };
    Details {
        reason: text("reason"),
        message: text("message"),
        ..Details::default()
    }
}

fn transitions(attempt: &mut Attempt, step: &Step, reservation: &Details) {
    let evicted = turn(step, "Evicted");
    let preempted = turn(step, "Preempted");
    if preempted.is && (!preempted.was || again(&preempted)) {
        let mut details = why(preempted.now);
        details.by = uids(details.message.as_deref().unwrap_or_default());
        add(attempt, FactName::Preempted, step.place, details);
    }
    if evicted.is && (!evicted.was || again(&evicted)) {
        let mut details = why(evicted.now);
        details.by = uids(details.message.as_deref().unwrap_or_default());
        add(attempt, FactName::Evicted, step.place, details);
    }
    let active =
        |object: &Value| json::at(object, "spec.active").and_then(Value::as_bool) != Some(false);
    if step.before.as_deref().is_none_or(active) && !active(&step.after) {
        add(attempt, FactName::Deactivated, step.place, why(evicted.now));
    }
    quota(attempt, step, reservation);
    let admitted = turn(step, "Admitted");
    if admitted.is && (!admitted.was || again(&admitted)) {
        add(attempt, FactName::Admitted, step.place, reservation.clone());
    }
}

fn quota(attempt: &mut Attempt, step: &Step, reservation: &Details) {
    let quota = turn(step, "QuotaReserved");
    if quota.was && (!quota.is || again(&quota)) {
        let reason = json::condition(&step.after, "Requeued")
            .or_else(|| json::condition(&step.after, "Evicted"));
        add(attempt, FactName::Requeued, step.place, why(reason));
    }
    if quota.is {
        if !quota.was || again(&quota) {
            add(
                attempt,
                FactName::QuotaReserved,
                step.place,
                reservation.clone(),
            );
        }
        return;
    }
    let said = why(quota.now);
    let before = why(quota.before);
    let decided = said
        .reason
        .as_deref()
        .is_some_and(|reason| reason != "PendingEvaluation");
    if decided && (said.reason != before.reason || said.message != before.message || quota.was) {
        add(attempt, FactName::Queued, step.place, said);
    }
}

/// True before and after, but of another transition: in between it was False and that was not seen.
fn again(turn: &Turn<'_>) -> bool {
    let when = |condition: Option<&Value>| {
        condition
            .and_then(|value| json::text(value, "lastTransitionTime"))
            .map(str::to_owned)
    };
    turn.was && turn.is && when(turn.before) != when(turn.now)
}

/// The uids that a preemption message names: `… (UID: a, JobUID: b) …`.
fn uids(message: &str) -> Vec<String> {
    message
        .split("UID: ")
        .skip(1)
        .filter_map(|rest| rest.split([',', ')', ' ']).next())
        .filter(|uid| !uid.is_empty() && *uid != "UNKNOWN")
        .map(str::to_owned)
        .collect()
}

/// After a gap: the Workload counts its evictions itself. Those that were not seen are added as inferred facts,
/// except the one that its conditions still show.
fn missed(attempt: &mut Attempt, step: &Step) {
    let workload = step.after.as_ref();
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for eviction in json::items(workload, "status.schedulingStats.evictions") {
        let count = eviction.get("count").and_then(Value::as_u64).unwrap_or(0);
        let reason = json::text(eviction, "reason")
            .unwrap_or_default()
            .to_owned();
        *counted.entry(reason).or_default() += usize::try_from(count).unwrap_or(usize::MAX);
    }
    let shown = turn(step, "Evicted");
    let still_shown = (shown.is && (!shown.was || again(&shown)))
        .then(|| why(shown.now).reason)
        .flatten();
    for (reason, count) in counted {
        let of_reason = |found: &str| found.starts_with(&reason);
        let seen = attempt
            .facts
            .iter()
            .filter(|fact| {
                fact.name == FactName::Evicted
                    && fact.details.reason.as_deref().is_some_and(of_reason)
            })
            .count();
        let shown = usize::from(still_shown.as_deref().is_some_and(of_reason));
        for _ in seen + shown..count {
            infer(attempt, workload, &reason, step.place);
        }
    }
}

/// One eviction that was missed, with as much as the rewritten conditions still tell ("Previously: …").
fn infer(attempt: &mut Attempt, workload: &Value, reason: &str, place: Place) {
    let preempted = reason == "Preempted";
    let told = json::condition(workload, "Evicted").filter(|_| preempted);
    let message = told
        .and_then(|condition| json::text(condition, "message"))
        .map(str::to_owned);
    let by = uids(message.as_deref().unwrap_or_default());
    if preempted {
        let kind =
            json::condition(workload, "Preempted").and_then(|value| json::text(value, "reason"));
        let kind = kind
            .filter(|kind| *kind != "QuotaReserved")
            .map(str::to_owned);
        let details = Details {
            reason: kind,
            message: message.clone(),
            by: by.clone(),
            ..Details::default()
        };
        inferred(attempt, FactName::Preempted, place, details);
    }
    let details = Details {
        reason: Some(reason.to_owned()),
        message,
        by,
        ..Details::default()
    };
    inferred(attempt, FactName::Evicted, place, details);
}

fn inferred(attempt: &mut Attempt, name: FactName, place: Place, details: Details) {
    add(attempt, name, place, details);
    if let Some(last) = attempt.facts.last_mut() {
        last.inferred = true;
    }
}
