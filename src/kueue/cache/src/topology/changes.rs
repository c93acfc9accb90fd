//! In what two states of a node differ, as far as anybody here depends on it. A heartbeat, a pulled image or a new field manager is no change.

use k8s_openapi::api::core::v1::{Node, NodeCondition};

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a part of a node of its own"
)]
pub struct NodeChanges {
    /// What pods can have of it.
    pub allocatable: bool,
    /// Where it stands.
    pub labels: bool,
    /// Whom it keeps away, and since when.
    pub taints: bool,
    /// How it is.
    pub conditions: bool,
    /// What else is noted about it.
    pub annotations: bool,
}

/// Compares two states of a node.
#[must_use]
pub fn node_changes(before: &Node, after: &Node) -> NodeChanges {
    let allocatable = |node: &Node| {
        node.status
            .as_ref()
            .and_then(|status| status.allocatable.clone())
    };
    let taints = |node: &Node| node.spec.as_ref().and_then(|spec| spec.taints.clone());
    NodeChanges {
        allocatable: allocatable(before) != allocatable(after),
        labels: before.metadata.labels != after.metadata.labels,
        taints: taints(before) != taints(after),
        conditions: conditions(before) != conditions(after),
        annotations: before.metadata.annotations != after.metadata.annotations,
    }
}

/// The conditions without the time of the last heartbeat.
fn conditions(node: &Node) -> Vec<NodeCondition> {
    let all = node
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    let still = all.map(|condition| NodeCondition {
        last_heartbeat_time: None,
        ..condition.clone()
    });
    still.collect()
}
