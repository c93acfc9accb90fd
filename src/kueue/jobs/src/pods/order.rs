//! Which pods of a role are kept when there are more than its Workload has room for, and which of those that ended are remembered.

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;

use super::{has_finalizer, is_gated};

fn created(pod: &Pod) -> Option<Timestamp> {
    pod.metadata.creation_timestamp.as_ref().map(|time| time.0)
}

/// Pods that count, those to keep first: with our finalizer, past the gate, older. Of a serving group those that are being deleted
/// come last: they leave anyway, and whoever replaces them is there to stay.
pub(super) fn runnable(pods: &mut [Arc<Pod>], serving: bool) {
    pods.sort_by_key(|pod| {
        (
            serving && pod.metadata.deletion_timestamp.is_some(),
            !has_finalizer(pod),
            is_gated(pod),
            created(pod),
        )
    });
}

/// Pods that ended, those to keep first: with our finalizer, active until later, older.
pub(super) fn ended(pods: &mut [Arc<Pod>], now: Timestamp) {
    pods.sort_by_key(|pod| {
        (
            !has_finalizer(pod),
            Reverse(last_active(pod, now)),
            created(pod),
        )
    });
}

/// When a pod was last known to be active: it failed, or was deleted, whichever came first.
fn last_active(pod: &Pod, now: Timestamp) -> Timestamp {
    let conditions = pod
        .status
        .iter()
        .flat_map(|status| &status.conditions)
        .flatten();
    let mut containers = conditions.filter(|condition| condition.type_ == "ContainersReady");
    let failed = containers.next().filter(|condition| {
        condition.status == "False"
            && matches!(condition.reason.as_deref(), Some("Failed" | "PodFailed"))
    });
    let failed = failed.and_then(|condition| condition.last_transition_time.as_ref());
    let deleted = pod.metadata.deletion_timestamp.as_ref();
    let failed = failed.map_or(now, |time| time.0);
    failed.min(deleted.map_or(now, |time| time.0))
}
