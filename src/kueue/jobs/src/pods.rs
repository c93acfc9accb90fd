//! Single pods: their scheduling gates, the group they belong to, the role they play in it. For integrations that look after pods
//! themselves, and for whoever lets pods go to their places. Reference 4.14 and 5.4.

pub mod admission;
mod compose;
mod error;
mod job;
mod matching;
mod members;
mod order;
mod replacement;
mod role;
mod start;

use k8s_openapi::api::core::v1::{Container, Pod, PodSchedulingGate, PodSpec};
use kueue_api::names::POD_GROUP_NAME;
use serde_json::{Value, json};

pub use compose::{Composed, MAX_ROLES};
pub use error::GroupError;
pub use job::{POD, Pods, Switches, is_of_group};
pub use matching::{Match, SortedOut};
pub use members::{
    has_finalizer, is_fast, is_gated, is_managed, is_serving, is_stopped, is_unretriable,
    parent_framework, role_of, total_count,
};
pub use replacement::waiting_for_replacement;
pub use role::role;

/// Whether a gate holds a pod back.
#[must_use]
pub fn has_gate(spec: &PodSpec, gate: &str) -> bool {
    let mut gates = spec.scheduling_gates.iter().flatten();
    gates.any(|own| own.name == gate)
}

/// Puts a gate before a pod. False if it is there already.
pub fn gate(spec: &mut PodSpec, gate: &str) -> bool {
    if has_gate(spec, gate) {
        return false;
    }
    let name = gate.to_owned();
    let gates = spec.scheduling_gates.get_or_insert_default();
    gates.push(PodSchedulingGate { name });
    true
}

/// Takes a gate away. False if it is not there.
pub fn ungate(spec: &mut PodSpec, gate: &str) -> bool {
    let found = has_gate(spec, gate);
    if let Some(gates) = spec.scheduling_gates.as_mut() {
        gates.retain(|own| own.name != gate);
    }
    spec.scheduling_gates.take_if(|gates| gates.is_empty());
    found
}

/// Whether a pod has come to its end, well or not.
#[must_use]
pub fn is_terminated(pod: &Pod) -> bool {
    let phase = pod
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Failed" | "Succeeded"))
}

/// The group a pod belongs to; `annotated` is the gate `WorkloadIdentifierAnnotations`, under which an annotation counts before the label.
#[must_use]
pub fn group_name(pod: &Pod, annotated: bool) -> Option<&str> {
    let notes = pod.metadata.annotations.as_ref().filter(|_| annotated);
    let noted = notes.and_then(|all| all.get(POD_GROUP_NAME));
    let labels = pod.metadata.labels.as_ref();
    let named = noted
        .filter(|name| !name.is_empty())
        .or_else(|| labels.and_then(|all| all.get(POD_GROUP_NAME)));
    named.map(String::as_str).filter(|name| !name.is_empty())
}

/// Why a label is no number that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    #[error("label not found: no label {0:?}")]
    Missing(String),
    #[error("incorrect label value {0:?}: invalid unsigned integer")]
    NotANumber(String),
    #[error("incorrect label value {value:?}: validation error: value should be less than {bound}")]
    TooLarge { value: String, bound: u64 },
}

/// The index of a pod by a label, below a bound.
pub fn index(pod: &Pod, label: &str, bound: u64) -> Result<u64, IndexError> {
    let labels = pod.metadata.labels.as_ref();
    let value = labels
        .and_then(|all| all.get(label))
        .ok_or_else(|| IndexError::Missing(label.to_owned()))?;
    let number: u64 = value
        .parse()
        .map_err(|_| IndexError::NotANumber(value.clone()))?;
    if number < bound {
        Ok(number)
    } else {
        let value = value.clone();
        Err(IndexError::TooLarge { value, bound })
    }
}

/// What of a pod decides how it can be placed. The role of a pod in its group is the hash of this, so the form is that of the
/// reference: `null` for what is not set.
#[must_use]
pub fn shape(spec: &PodSpec) -> Value {
    let mut shape = json!({
        "initContainers": containers(spec.init_containers.iter().flatten()),
        "containers": containers(spec.containers.iter()),
        "nodeSelector": spec.node_selector,
        "affinity": spec.affinity,
        "tolerations": spec.tolerations,
        "runtimeClassName": spec.runtime_class_name,
        "priority": spec.priority,
        "topologySpreadConstraints": spec.topology_spread_constraints,
        "overhead": spec.overhead,
        "resourceClaims": spec.resource_claims,
    });
    // Only where it is set, so that the roles of other pods stay what they were before there was such a field.
    if let Some(resources) = &spec.resources {
        shape["resources"] = json!(resources.requests);
    }
    shape
}

fn containers<'a>(containers: impl Iterator<Item = &'a Container>) -> Option<Vec<Value>> {
    let shape = |container: &Container| {
        let resources = container.resources.as_ref();
        let requests = resources.and_then(|own| own.requests.as_ref());
        json!({"resources": {"requests": requests}, "ports": container.ports})
    };
    let shapes: Vec<_> = containers.map(shape).collect();
    (!shapes.is_empty()).then_some(shapes)
}

#[cfg(test)]
mod tests;
