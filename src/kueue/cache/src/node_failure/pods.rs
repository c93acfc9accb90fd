//! What pods have to do with a node: they run there, wait to, or never can.

use k8s_openapi::api::core::v1 as core;
use kueue_api::names::gates;
use scheduler::topology::HOSTNAME;

use crate::topology::asks_for_topology;

/// Namespace and name.
pub(super) fn names(pod: &core::Pod) -> (String, String) {
    let metadata = &pod.metadata;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    (text(&metadata.namespace), text(&metadata.name))
}

/// Whether it was told to run on the node.
pub(super) fn is_bound(pod: &core::Pod, node: &str) -> bool {
    let selector = pod
        .spec
        .as_ref()
        .and_then(|spec| spec.node_selector.as_ref());
    let host = selector.and_then(|selector| selector.get(HOSTNAME));
    asks_for_topology(pod) && host.is_some_and(|host| host == node)
}

fn phase(pod: &core::Pod) -> &str {
    let phase = pod
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    phase.unwrap_or_default()
}

/// Whether it waits for the node and is not held back by anything else.
pub(super) fn is_stranded(pod: &core::Pod, node: &str) -> bool {
    let spec = pod.spec.as_ref();
    let runs = spec
        .and_then(|spec| spec.node_name.as_deref())
        .is_some_and(|name| !name.is_empty());
    let mut held = spec
        .iter()
        .flat_map(|spec| spec.scheduling_gates.iter().flatten());
    let gated = held.any(|gate| gate.name == gates::TOPOLOGY);
    is_bound(pod, node) && !runs && !gated && phase(pod) == "Pending"
}

/// Whether it runs on the node and goes on doing so.
pub(super) fn is_working(pod: &core::Pod, node: &str) -> bool {
    let on = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
    let ended = matches!(phase(pod), "Succeeded" | "Failed");
    on == Some(node) && pod.metadata.deletion_timestamp.is_none() && !ended
}
