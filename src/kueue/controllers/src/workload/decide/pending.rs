//! Workloads that wait for quota.

use std::time::Duration;

use jiff::SignedDuration;
use kueue_api::conditions::{find, reasons, workload as types};
use kueue_api::v1beta2::StopPolicy;

use super::{QueueView, Step, View, changed, draft};

/// A Workload without reservation: may it be tried again, and what keeps it from being tried at all.
pub(super) fn waiting(view: &View<'_>) -> Option<Step> {
    if let Some(step) = requeue(view) {
        return Some(step);
    }
    let (reason, message) = match &view.obstacle {
        Some(found) => (found.reason, found.message.clone()),
        None if told_of_an_obstacle(view) => (
            reasons::PENDING_EVALUATION,
            "Workload is pending evaluation in the scheduling queue".to_owned(),
        ),
        None => return None,
    };
    changed(view, draft(view).pending(reason, &message).done())
}

/// Whether the condition still speaks of an obstacle of the kind above. What the scheduler wrote is not touched.
fn told_of_an_obstacle(view: &View<'_>) -> bool {
    let told =
        find(view.workload.conditions(), types::QUOTA_RESERVED).filter(|c| c.status == "False");
    told.is_some_and(|c| match c.reason.as_str() {
        reasons::DEACTIVATED => true,
        reasons::MISCONFIGURED | reasons::SUSPENDED => {
            c.message.starts_with("LocalQueue ") || c.message.starts_with("ClusterQueue ")
        }
        _ => false,
    })
}

/// The end of what kept an evicted Workload from being tried again.
fn requeue(view: &View<'_>) -> Option<Step> {
    let told = find(view.workload.conditions(), types::REQUEUED).filter(|c| c.status == "False")?;
    let running = |queue: Option<QueueView>| queue.is_some_and(|q| q.stop == StopPolicy::None);
    let (reason, message) = match told.reason.as_str() {
        reason if reason.starts_with(reasons::DEACTIVATED) => {
            (reasons::REACTIVATED, "The workload was reactivated")
        }
        reasons::CLUSTER_QUEUE_STOPPED if running(view.cluster_queue) => (
            reasons::CLUSTER_QUEUE_RESTARTED,
            "The ClusterQueue was restarted after being stopped",
        ),
        reasons::LOCAL_QUEUE_STOPPED if running(view.local_queue) => (
            reasons::LOCAL_QUEUE_RESTARTED,
            "The LocalQueue was restarted after being stopped",
        ),
        reasons::ADMISSION_CHECK | reasons::PODS_READY_TIMEOUT if backoff_left(view).is_none() => (
            reasons::BACKOFF_FINISHED,
            "The workload backoff was finished",
        ),
        _ => return None,
    };
    changed(view, draft(view).requeued(reason, message).done())
}

pub(super) fn backoff_left(view: &View<'_>) -> Option<Duration> {
    let at = view
        .workload
        .status
        .as_ref()?
        .requeue_state
        .as_ref()?
        .requeue_at
        .as_ref()?
        .0;
    let left = at.duration_since(view.now);
    if left > SignedDuration::ZERO {
        Duration::try_from(left).ok()
    } else {
        None
    }
}
