//! Workloads without quota: what keeps them from being tried is told, and forgotten when it is gone. Reference section 4.10.

use cache::Words;
use kueue_api::Condition;
use kueue_api::conditions::{find, reasons, workload as types};
use kueue_api::v1beta2::{StopPolicy, WorkloadStatus};
use kueue_api::workload::{checks, phase};

use super::{Step, View, changed, draft, gates, write};

/// Checks that want to be asked again say when.
pub(super) fn as_checks_ask(view: &View<'_>) -> Option<Step> {
    let at = checks::latest_retry(view.workload).filter(|at| *at > view.now)?;
    let status = draft(view).not_before(at, false).done();
    let known = view.workload.status.as_ref();
    let known = known.and_then(|status| status.requeue_state.as_ref());
    (known != status.requeue_state.as_ref()).then(|| write(status, Vec::new()))
}

fn put_off_for(view: &View<'_>, reason: &str) -> bool {
    let requeued = find(view.workload.conditions(), types::REQUEUED);
    requeued.is_some_and(|found| found.status == "False" && found.reason == reason)
}

pub(super) fn local_queue_restarted(view: &View<'_>) -> Option<Step> {
    let runs = view.local_queue?.spec.stop_policy() == StopPolicy::None;
    if !runs || !put_off_for(view, reasons::LOCAL_QUEUE_STOPPED) {
        return None;
    }
    let text = "The LocalQueue was restarted after being stopped";
    let status = draft(view).retried(reasons::LOCAL_QUEUE_RESTARTED, text);
    changed(view, status.done())
}

pub(super) fn cluster_queue_restarted(view: &View<'_>) -> Option<Step> {
    let runs = view.cluster_queue?.spec.stop_policy() == StopPolicy::None;
    if !runs || !put_off_for(view, reasons::CLUSTER_QUEUE_STOPPED) {
        return None;
    }
    let text = "The ClusterQueue was restarted after being stopped";
    let status = draft(view).retried(reasons::CLUSTER_QUEUE_RESTARTED, text);
    changed(view, status.done())
}

/// What the conditions of a Workload that is not admitted should say, if it is something new.
pub(super) fn conditions(view: &View<'_>) -> Option<WorkloadStatus> {
    if view.workload.is_admitted() || view.obstacles.assumed && !reserved(view) {
        return None;
    }
    let mut draft = draft(view);
    if !reserved(view)
        && let Some((reason, message)) = told(view)
    {
        let words = view.rules.words;
        draft = draft.saying(
            types::QUOTA_RESERVED,
            false,
            words.reason(&reason),
            &message,
        );
    }
    let status = draft.synced(view.rules.words).done();
    let before = view.workload.status.as_ref();
    let new = before.map_or(!status.conditions.is_empty(), |before| *before != status);
    new.then_some(status)
}

fn reserved(view: &View<'_>) -> bool {
    view.workload.has_quota_reservation()
}

/// Why it has no quota; nothing if there is nothing to say about that.
fn told(view: &View<'_>) -> Option<(String, String)> {
    let told = find(view.workload.conditions(), types::QUOTA_RESERVED);
    let queue = view.obstacles.queue.as_ref();
    if view.rules.words == Words::Legacy {
        return queue.map(|found| (found.reason.to_owned(), found.message.clone()));
    }
    let kept = |kept: &Condition| (kept.reason.clone(), kept.message.clone());
    if !view.workload.is_active() {
        let text = "The workload is deactivated";
        return Some((reasons::DEACTIVATED.to_owned(), text.to_owned()));
    }
    if phase::is_on_hold(view.workload) {
        return told.map(kept);
    }
    if let Some(gates) = gates::gated_by(view) {
        return Some((reasons::ADMISSION_GATED.to_owned(), gates::message(gates)));
    }
    if queue.is_none()
        && let Some(operator) = broken_selector(view)
    {
        let text = format!(
            "invalid namespace selector: {operator:?} is not a valid label selector operator"
        );
        return Some((reasons::MISCONFIGURED.to_owned(), text));
    }
    let equal = view.obstacles.equal.as_ref();
    let equal = equal.filter(|_| asks_for_equals(view, told));
    if let Some(found) = queue.or(view.obstacles.own.as_ref()).or(equal) {
        return Some((found.reason.to_owned(), found.message.clone()));
    }
    match told {
        Some(told) if is_of_a_cycle(told) => Some(kept(told)),
        None if view.rules.words != Words::Explicit => None,
        _ => Some((
            reasons::PENDING_EVALUATION.to_owned(),
            "Workload is pending evaluation in the scheduling queue".to_owned(),
        )),
    }
}

/// An operator that nobody knows in the namespace selector of its ClusterQueue. Our webhook lets none pass; others may not be there.
fn broken_selector<'a>(view: &View<'a>) -> Option<&'a str> {
    let selector = view.cluster_queue?.spec.namespace_selector.as_ref()?;
    let mut used = selector.match_expressions.iter().flatten();
    let known = ["In", "NotIn", "Exists", "DoesNotExist"];
    let broken = used.find(|one| !known.contains(&one.operator.as_str()))?;
    Some(&broken.operator)
}

/// Whether the failure of an equal one is worth more than what is told already: not more than what a cycle found out itself.
fn asks_for_equals(view: &View<'_>, told: Option<&Condition>) -> bool {
    match told.map(|told| told.reason.as_str()) {
        None => view.rules.words == Words::Explicit,
        Some(reason) => matches!(
            reason,
            "" | reasons::DEACTIVATED
                | reasons::PENDING_EVALUATION
                | reasons::SUSPENDED
                | reasons::PENDING
        ),
    }
}

/// What a cycle said stays until the next one; queues and the like are looked at here again and again.
fn is_of_a_cycle(told: &Condition) -> bool {
    matches!(
        told.reason.as_str(),
        reasons::WAITING_FOR_QUOTA
            | reasons::NO_MATCHING_FLAVOR
            | reasons::EXCEEDS_MAX_QUOTA
            | reasons::TOPOLOGY_PLACEMENT_FAILED
            | reasons::WAITING_FOR_PREEMPTED_WORKLOADS
            | reasons::WAITING_FOR_PODS_READY
            | reasons::PENDING_EVALUATION
    )
}
