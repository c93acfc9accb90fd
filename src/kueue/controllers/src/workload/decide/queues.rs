//! What follows for Workloads that hold quota when a queue is stopped or goes, and when their time is up. Reference section 4.13.

use std::time::Duration;

use cache::{EventKind, Eviction};
use kueue_api::conditions::{find, is_true, reasons, workload as types};
use kueue_api::v1beta2::StopPolicy;

use super::{Step, View, draft, event, evict, remaining, write};

/// A queue as far as this depends on it.
struct Queue<'a> {
    kind: &'static str,
    name: &'a str,
    /// Its stop policy; none if it is missing or going.
    stop: Option<StopPolicy>,
    drained: (&'static str, &'static str),
}

/// Drained queues lose everybody, stopped ones those that are not admitted yet.
pub(super) fn stopped(view: &View<'_>) -> Option<Step> {
    let all = [local_queue(view), cluster_queue(view)];
    all.iter().find_map(|queue| {
        if view.workload.is_admitted() {
            drained(view, queue)
        } else {
            unheld(view, queue)
        }
    })
}

fn local_queue<'a>(view: &View<'a>) -> Queue<'a> {
    let there = view.local_queue;
    let there = there.filter(|queue| queue.metadata.deletion_timestamp.is_none());
    Queue {
        kind: "LocalQueue",
        name: view.workload.spec.queue_name(),
        stop: there.map(|queue| queue.spec.stop_policy()),
        drained: (reasons::LOCAL_QUEUE_STOPPED, "The LocalQueue is stopped"),
    }
}

fn cluster_queue<'a>(view: &View<'a>) -> Queue<'a> {
    let there = view.cluster_queue;
    let there = there.filter(|queue| queue.metadata.deletion_timestamp.is_none());
    Queue {
        kind: "ClusterQueue",
        name: view.cluster_queue_name,
        stop: there.map(|queue| queue.spec.stop_policy()),
        drained: (
            reasons::CLUSTER_QUEUE_STOPPED,
            "The ClusterQueue is stopped",
        ),
    }
}

fn drained(view: &View<'_>, queue: &Queue<'_>) -> Option<Step> {
    let leaves = queue.stop == Some(StopPolicy::HoldAndDrain) && !view.workload.is_evicted();
    let (reason, message) = queue.drained;
    leaves.then(|| evict(Eviction::new(reason, message), draft(view)))
}

/// A reservation without admission does not survive its queues.
fn unheld(view: &View<'_>, queue: &Queue<'_>) -> Option<Step> {
    let Queue { kind, name, .. } = queue;
    let (reason, what) = match queue.stop {
        None => (reasons::MISCONFIGURED, "terminating or missing"),
        Some(StopPolicy::None) => return None,
        Some(_) => (reasons::SUSPENDED, "stopped"),
    };
    let message = format!("{kind} {name} is {what}");
    let status = draft(view).cancelled(reason, &message).done();
    Some(write(status, Vec::new()))
}

/// How long it may still run, or the end of it.
pub(super) fn execution_time(view: &View<'_>) -> Result<Option<Duration>, Step> {
    let admitted = find(view.workload.conditions(), types::ADMITTED);
    let admitted = admitted.filter(|condition| condition.status == "True");
    let (Some(seconds), Some(admitted)) =
        (view.workload.spec.maximum_execution_time_seconds, admitted)
    else {
        return Ok(None);
    };
    let status = view.workload.status.as_ref();
    let past = status.and_then(|status| status.accumulated_past_execution_time_seconds);
    let all = seconds.saturating_sub(past.unwrap_or_default());
    let all = Duration::from_secs(u64::try_from(all).unwrap_or_default());
    if let Some(left) = remaining(all, admitted.last_transition_time.0, view.now) {
        return Ok(Some(left));
    }
    if is_true(view.workload.conditions(), types::DEACTIVATION_TARGET) {
        return Ok(None);
    }
    let reason = reasons::MAXIMUM_EXECUTION_TIME_EXCEEDED;
    let status = draft(view).deactivating(reason, "exceeding the maximum execution time");
    let note = format!("The maximum execution time ({seconds}s) exceeded");
    let told = event(EventKind::Warning, reason, note);
    Err(write(status.done(), vec![told]))
}
