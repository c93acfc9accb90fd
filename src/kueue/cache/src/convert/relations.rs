//! What one workload has to do with others: variants of the same one, slices it grew out of, gates that keep it from preempting.

use std::sync::Arc;

use kueue_api::names::{API_VERSION, annotations};
use kueue_api::v1beta2::{self as api, GatePosition};
use scheduler::WorkloadKey;

/// The UID of the workload of which it is a variant.
pub(super) fn variant_of(object: &api::Workload) -> Option<Arc<str>> {
    let owners = object.metadata.owner_references.iter().flatten();
    let mut parents =
        owners.filter(|owner| owner.kind == "Workload" && owner.api_version == API_VERSION);
    parents.next().map(|owner| owner.uid.as_str().into())
}

/// The slice that it takes the place of.
pub(super) fn replaces(object: &api::Workload) -> Option<WorkloadKey> {
    let all = object.metadata.annotations.as_ref()?;
    let key = all.get(annotations::WORKLOAD_SLICE_REPLACEMENT_FOR)?;
    let (namespace, name) = key.split_once('/')?;
    Some(WorkloadKey::new(namespace, name))
}

/// Whether one of its gates is closed. A gate that only the spec knows is.
pub(super) fn preemption_gated(object: &api::Workload) -> bool {
    let states = object
        .status
        .as_ref()
        .map_or(&[][..], |status| &status.preemption_gates);
    let open = |name: &str| {
        let state = states.iter().rfind(|state| state.name == name);
        state.is_some_and(|state| state.position == GatePosition::Open)
    };
    let mut gates = object.spec.preemption_gates.iter();
    gates.any(|gate| !open(&gate.name))
}
