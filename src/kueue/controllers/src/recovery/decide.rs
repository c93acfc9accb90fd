//! Whether a pod is ended by force, and what is written about it before.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, Pod};
use kueue_api::names::annotations::SAFE_TO_FORCEFULLY_DELETE;
use serde_json::{Value, json};

/// The reason of the condition and of the event.
pub const REASON: &str = "KueueForcefullyDeleted";
const CONDITION: &str = "KueueFailureRecovery";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// How long a pod may take to end.
const PATIENCE: Duration = Duration::from_mins(1);

/// What becomes of a pod.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// It is left alone.
    Rest,
    /// It may still end by itself.
    Wait(Duration),
    /// This merge patch is written, its status, and then it goes.
    End { status: Value, message: String },
}

/// Whether a pod is to end, and may be ended by force.
#[must_use]
pub fn is_eligible(pod: &Pod) -> bool {
    let notes = pod.metadata.annotations.as_ref();
    let safe = notes.and_then(|notes| notes.get(SAFE_TO_FORCEFULLY_DELETE));
    pod.metadata.deletion_timestamp.is_some() && safe.is_some_and(|value| value == "true")
}

/// Whether nobody hears from a node.
#[must_use]
pub fn is_unreachable(node: &Node) -> bool {
    let spec = node.spec.as_ref();
    let mut taints = spec
        .and_then(|spec| spec.taints.as_ref())
        .into_iter()
        .flatten();
    taints.any(|taint| taint.key == UNREACHABLE)
}

/// Decides. A node that is not there has no pods: their garbage collector sees to them.
#[must_use]
pub fn turn(pod: &Pod, node: impl FnOnce(&str) -> Option<Arc<Node>>, now: Timestamp) -> Turn {
    let since = pod.metadata.deletion_timestamp.as_ref();
    let Some(since) = since.filter(|_| is_eligible(pod)) else {
        return Turn::Rest;
    };
    let passed = Duration::try_from(now.duration_since(since.0)).unwrap_or_default();
    if let Some(left) = PATIENCE.checked_sub(passed).filter(|left| !left.is_zero()) {
        return Turn::Wait(left);
    }
    let spec = pod.spec.as_ref();
    let name = spec
        .and_then(|spec| spec.node_name.as_deref())
        .unwrap_or_default();
    if !node(name).is_some_and(|node| is_unreachable(&node)) {
        return Turn::Rest;
    }
    let message = message(pod, name);
    let status = json!({ "status": status(pod, &message, now) });
    Turn::End { status, message }
}

fn message(pod: &Pod, node: &str) -> String {
    let grace = pod
        .metadata
        .deletion_grace_period_seconds
        .unwrap_or_default();
    let grace = Duration::from_secs(u64::try_from(grace).unwrap_or_default());
    let seconds = grace.saturating_add(PATIENCE).as_secs();
    format!(
        "Pod forcefully terminated after {}m{}s grace period due to unreachable node `{node}` (triggered by `{SAFE_TO_FORCEFULLY_DELETE}` annotation)",
        seconds / 60,
        seconds % 60
    )
}

fn status(pod: &Pod, message: &str, now: Timestamp) -> Value {
    let known = pod
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_ref());
    let mut conditions: Vec<Value> = known.into_iter().flatten().map(|one| json!(one)).collect();
    conditions.push(json!({
        "type": CONDITION, "status": "True", "reason": REASON, "message": message,
        "lastTransitionTime": kueue_api::Time(now),
    }));
    let mut status = json!({ "conditions": conditions });
    if !jobs::pods::is_terminated(pod) {
        status["phase"] = json!("Failed");
    }
    status
}
