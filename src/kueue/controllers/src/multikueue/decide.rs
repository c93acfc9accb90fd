//! What becomes of a Workload that other clusters may run: where it is offered, which cluster keeps it, how its end and its eviction come
//! back. A function of the Workload here, of what each reachable worker cluster holds of it, and of the time; the plan leaves nothing to
//! choose. Reference section 4.17, "Manager-side workload flow"; the numbers in comments are those of its list.

mod gates;
mod place;
mod terms;
mod words;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use jobs::multikueue::{Hand, Write};
use kueue_api::Condition;
use kueue_api::conditions::{MAX_CONDITION_MESSAGE, find, reasons, truncate, workload as types};
use kueue_api::v1beta2::{AdmissionCheckState, CheckState, WorkloadSpec};
use kueue_api::workload::checks::nomination_is_idle;

pub use place::{Round, next_round, offer};
pub use terms::{Act, Answer, Dispatcher, Plan, Remote, Rules, Siblings, Tone, Trouble, View};
pub use words::{answered, opened, owner};

/// How soon the state of a copy is asked for again when the job here was still suspended.
const DEFERRED: Duration = Duration::from_secs(2);

/// The answer to a Workload that nobody can hand over.
#[must_use]
pub fn refuse(check: &AdmissionCheckState, why: &str) -> Plan {
    Plan::answer(CheckState::Rejected, why, check.state)
}

/// Decides.
#[must_use]
pub fn plan(view: View<'_>) -> Plan {
    if view.leaving {
        // 3. Clusters that cannot be reached are cleaned once they can.
        return Plan::of(view.remotes.into_keys().map(Act::Remove).collect());
    }
    if let Some(why) = view.jobs.first().and_then(|job| view.adapter.refusal(job)) {
        // 2.
        let why = format!("The owner is not managed by Kueue: {why}");
        return refuse(view.check, &why);
    }
    if view.workload.is_finished() || !view.workload.has_quota_reservation() {
        // 5.
        let wait = (!view.lost.is_empty()).then_some(view.rules.worker_lost_timeout);
        let acts = view.remotes.into_keys().map(Act::Remove).collect();
        return Plan {
            after: wait,
            ..Plan::of(acts)
        };
    }
    over(&view)
        .or_else(|| evicted(&view))
        .unwrap_or_else(|| standing(view))
}

/// 6. It is over in a cluster.
fn over(view: &View<'_>) -> Option<Plan> {
    let (end, cluster) = earliest(&view.remotes, types::FINISHED)?;
    if end.reason == reasons::OUT_OF_SYNC {
        if view.check.state != CheckState::Ready {
            return Some(Plan::default());
        }
        let message = format!(
            "Remote workload on worker cluster {cluster:?} is out of sync with its user job, resetting for re-dispatch"
        );
        let mut plan = Plan::answer(CheckState::Retry, &message, view.check.state);
        if let Some(Act::Answer(answer)) = plan.acts.first_mut() {
            answer.event = Some(Tone::Warning);
        }
        return Some(plan);
    }
    let (reason, message) = (end.reason.clone(), end.message.clone());
    let mut plan = together(view, cluster);
    if plan.trouble.is_none() {
        plan.after = None;
        plan.acts.push(Act::Finish { reason, message });
    }
    Some(plan)
}

/// 7. It was evicted in a cluster.
fn evicted(view: &View<'_>) -> Option<Plan> {
    let (_, cluster) = earliest(&view.remotes, types::EVICTED)?;
    if view.workload.is_evicted() {
        return Some(together(view, cluster));
    }
    if view.check.state != CheckState::Ready {
        return None;
    }
    let status = view.workload.status.as_ref();
    let named = status.and_then(|status| status.cluster_name.as_deref());
    let message = format!(
        "Workload evicted on worker cluster: {:?}, resetting for re-admission. Previously: {:?}",
        named.unwrap_or(cluster),
        view.check.state.to_string()
    );
    Some(Plan::of(vec![Act::Answer(Answer {
        state: CheckState::Retry,
        message,
        cluster: None,
        placed: false,
        event: Some(Tone::Normal),
    })]))
}

/// Brings the job here and its copy in a cluster together.
fn together(view: &View<'_>, cluster: &str) -> Plan {
    let hand = Hand {
        workload: view.workload.name(),
        origin: &view.rules.origin,
        annotated: view.rules.annotated,
    };
    let there = view
        .remotes
        .get(cluster)
        .map(|remote| remote.jobs.as_slice());
    let now = kueue_api::Time(view.now);
    let now = serde_json::to_value(now).unwrap_or_default();
    let now = now.as_str().unwrap_or_default();
    match view
        .adapter
        .sync(view.jobs, there.unwrap_or_default(), hand, now)
    {
        Ok(sync) => {
            let acts = sync.writes.into_iter().map(|write| match write {
                Write::Create(object) => Act::CreateJob(cluster.to_owned(), object),
                Write::Change { name, patch } => Act::ChangeJob(cluster.to_owned(), name, patch),
                Write::Status { name, status } => Act::JobStatus(name, status),
            });
            Plan {
                after: sync.deferred.then_some(DEFERRED),
                ..Plan::of(acts.collect())
            }
        }
        Err(foreign) => Plan {
            trouble: Some(foreign.into()),
            ..Plan::default()
        },
    }
}

/// 8 to 12. It neither ended nor was evicted anywhere.
fn standing(mut view: View<'_>) -> Plan {
    let mut acts = in_step(&mut view);
    let rest = match earliest(&view.remotes, types::ADMITTED).map(|(_, name)| name.to_owned()) {
        Some(cluster) => kept(&mut view, &cluster),
        None if view.check.state == CheckState::Ready => lost(&view),
        None => offered(&view),
    };
    acts.extend(rest.acts);
    Plan { acts, ..rest }
}

/// 8. Copies that say something else are brought into step where that is allowed, and go otherwise.
fn in_step(view: &mut View<'_>) -> Vec<Act> {
    let mut acts = Vec::new();
    for (cluster, remote) in &mut view.remotes {
        let Some(copy) = remote.workload.as_mut() else {
            continue;
        };
        if same(&view.workload.spec, &copy.spec) {
            continue;
        }
        if kueue_api::workload::priority::changed(view.workload, copy, view.rules.boost) {
            copy.spec.priority_class_ref = view.workload.spec.priority_class_ref.clone();
            copy.spec.priority = view.workload.spec.priority;
            acts.push(Act::Respecify(cluster.clone(), Box::new(copy.spec.clone())));
        } else {
            acts.push(Act::Remove(cluster.clone()));
            *remote = Remote::default();
        }
    }
    acts
}

/// Whether two specifications ask for the same; gates before preemption are each cluster's own.
fn same(here: &WorkloadSpec, there: &WorkloadSpec) -> bool {
    let lean = |spec: &WorkloadSpec| WorkloadSpec {
        preemption_gates: Vec::new(),
        ..spec.clone()
    };
    lean(here) == lean(there)
}

/// 9. A cluster admitted it: that one keeps it, the others let it go.
fn kept(view: &mut View<'_>, cluster: &str) -> Plan {
    let others = view
        .remotes
        .iter()
        .filter(|(name, remote)| name.as_str() != cluster && remote.workload.is_some());
    let mut acts: Vec<Act> = others.map(|(name, _)| Act::Remove(name.clone())).collect();
    let evicted = find(view.workload.conditions(), types::EVICTED);
    if let Some(evicted) = evicted.filter(|one| one.status == "True") {
        let words = format!("Evicted on manager: {}", evicted.message);
        let words = truncate(&words, MAX_CONDITION_MESSAGE);
        acts.push(Act::Deactivate(cluster.to_owned(), words));
        return Plan::of(acts);
    }
    let sync = together(view, cluster);
    acts.extend(sync.acts);
    if sync.trouble.is_some() {
        return Plan { acts, ..sync };
    }
    let (answer, trouble) = place::admitted(view, cluster);
    acts.extend(answer.map(Act::Answer));
    Plan {
        trouble,
        ..Plan::of(acts).after(sync.after.unwrap_or(view.rules.worker_lost_timeout))
    }
}

/// 9. It was admitted somewhere and is not any more.
fn lost(view: &View<'_>) -> Plan {
    let status = view.workload.status.as_ref();
    let named = status.and_then(|status| status.cluster_name.as_deref());
    let retry = |words: &str| Plan::answer(CheckState::Retry, words, view.check.state);
    let Some(cluster) = named else {
        return retry(
            "Admission check is Ready but no admitting cluster is recorded; this is unexpected, please report it",
        );
    };
    let Some(since) = view.lost.get(cluster) else {
        return retry("Admitting remote no longer exists");
    };
    let patience = view.rules.worker_lost_timeout;
    match left(patience, since.unwrap_or(view.now), view.now) {
        Some(left) => Plan::default().after(left),
        None => retry("Admitting remote lost"),
    }
}

/// What is left of a time that began at `since`; nothing once it has passed.
fn left(time: Duration, since: Timestamp, now: Timestamp) -> Option<Duration> {
    let passed = Duration::try_from(now.duration_since(since)).unwrap_or_default();
    time.checked_sub(passed).filter(|left| !left.is_zero())
}

/// 10 to 12. Nobody admitted it yet.
fn offered(view: &View<'_>) -> Plan {
    let (gate, wait) = gates::next(view);
    let mut plan = if nomination_is_idle(Some(view.check), view.workload, false) {
        Plan::default()
    } else {
        offer(view)
    };
    if let Some(cluster) = gate {
        plan.acts.insert(0, Act::OpenGate(cluster));
    }
    plan.after = [plan.after, wait].into_iter().flatten().min();
    plan
}

/// The cluster in which a condition has been true for longest, the first by name among equals.
fn earliest<'a>(
    remotes: &'a BTreeMap<String, Remote>,
    type_: &str,
) -> Option<(&'a Condition, &'a str)> {
    let held = remotes.iter().filter_map(|(name, remote)| {
        let condition = find(remote.workload.as_ref()?.conditions(), type_)?;
        (condition.status == "True").then_some((condition, name.as_str()))
    });
    held.min_by_key(|(condition, _)| condition.last_transition_time.0)
}

/// Names of the clusters that are to be there, as a set.
fn names(list: &[String]) -> BTreeSet<&str> {
    list.iter().map(String::as_str).collect()
}
