//! What a single pod says about itself: its role, the size of its group, whether it may still run.

use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::{POD_FINALIZER, annotations as keys, gates, labels};

use super::{GroupError, group_name, has_gate, is_terminated, role};

/// An annotation, if it is there; it may be empty.
pub(super) fn note<'a>(pod: &'a Pod, key: &str) -> Option<&'a str> {
    let notes = pod.metadata.annotations.as_ref()?;
    notes.get(key).map(String::as_str)
}

/// A label, if it is there; it may be empty.
pub(super) fn label<'a>(pod: &'a Pod, key: &str) -> Option<&'a str> {
    let all = pod.metadata.labels.as_ref()?;
    all.get(key).map(String::as_str)
}

pub(super) fn phase(pod: &Pod) -> Option<&str> {
    pod.status.as_ref()?.phase.as_deref()
}

pub(super) fn name(pod: &Pod) -> &str {
    pod.metadata.name.as_deref().unwrap_or_default()
}

/// Whether Kueue looks after the pod.
#[must_use]
pub fn is_managed(pod: &Pod) -> bool {
    label(pod, labels::MANAGED) == Some(labels::MANAGED_VALUE)
}

/// Whether the pod keeps our finalizer.
#[must_use]
pub fn has_finalizer(pod: &Pod) -> bool {
    let mut finalizers = pod.metadata.finalizers.iter().flatten();
    finalizers.any(|name| name == POD_FINALIZER)
}

/// Whether the pod waits for admission.
#[must_use]
pub fn is_gated(pod: &Pod) -> bool {
    let spec = pod.spec.as_ref();
    spec.is_some_and(|spec| has_gate(spec, gates::ADMISSION))
}

/// Whether the pod does not run: not yet, or not any more.
#[must_use]
pub fn is_stopped(pod: &Pod) -> bool {
    is_terminated(pod) || is_gated(pod)
}

/// Whether nothing takes the place of the pod when it fails.
#[must_use]
pub fn is_unretriable(pod: &Pod) -> bool {
    note(pod, keys::RETRIABLE_IN_GROUP) == Some("false")
}

/// Whether the pod's group is admitted from its first pod on.
#[must_use]
pub fn is_fast(pod: &Pod) -> bool {
    note(pod, keys::POD_GROUP_FAST_ADMISSION) == Some("true")
}

/// Whether the pod's group serves, and so never finishes.
#[must_use]
pub fn is_serving(pod: &Pod) -> bool {
    note(pod, keys::POD_GROUP_SERVING) == Some("true")
}

/// Framework of the parent that has the pod held back; it may be empty.
#[must_use]
pub fn parent_framework(pod: &Pod) -> Option<&str> {
    note(pod, keys::POD_SUSPENDING_PARENT)
}

/// The role of a pod in its group: what was noted when it was created, else what its spec says.
#[must_use]
pub fn role_of(pod: &Pod) -> String {
    note(pod, keys::ROLE_HASH).map_or_else(
        || role(pod.spec.as_ref().unwrap_or(&Default::default())),
        str::to_owned,
    )
}

/// How many pods the pod's group has; `annotated` as in [`group_name`].
pub fn total_count(pod: &Pod, annotated: bool) -> Result<i32, GroupError> {
    if group_name(pod, annotated).is_none() {
        return Err(GroupError::NoGroup { annotated });
    }
    let text = note(pod, keys::POD_GROUP_TOTAL_COUNT).ok_or(GroupError::NoTotal)?;
    let number = text
        .parse()
        .map_err(|_| GroupError::TotalNotANumber(text.to_owned()))?;
    if number < 1 {
        return Err(GroupError::TotalTooSmall(text.to_owned()));
    }
    Ok(number)
}

/// Whether the pod can still run, runs, or has done its work. A pod that was deleted before it had a node never will.
pub(super) fn counts(pod: &Pod) -> bool {
    let placed = pod
        .spec
        .as_ref()
        .and_then(|spec| spec.node_name.as_deref())
        .is_some_and(|node| !node.is_empty());
    if pod.metadata.deletion_timestamp.is_some() && !placed {
        return false;
    }
    phase(pod) != Some("Failed")
}

/// Whether the pod is ready, by its condition.
pub(super) fn is_ready(pod: &Pod) -> bool {
    let conditions = pod
        .status
        .iter()
        .flat_map(|status| &status.conditions)
        .flatten();
    let mut ready = conditions.filter(|condition| condition.type_ == "Ready");
    ready
        .next()
        .is_some_and(|condition| condition.status == "True")
}
