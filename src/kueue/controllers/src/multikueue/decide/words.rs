//! Whose Workload it is, and how answers go into its status. Reference section 4.17, numbers 2 and 9.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jobs::multikueue::{self, Adapter, gvk};
use kueue_api::Time;
use kueue_api::names::annotations;
use kueue_api::v1beta2::{
    AdmissionCheckState, DelayedTopologyRequestState, GatePosition, Workload, WorkloadStatus,
};
use kueue_api::workload::checks::set_state;

use super::Answer;

/// The adapter, of those of the managed kinds, and the name of the job that a Workload was made for.
///
/// # Errors
/// When nothing made it that could be handed over; in the words of the check.
pub fn owner<'a>(
    workload: &'a Workload,
    kinds: &BTreeSet<&'static str>,
) -> Result<(&'static Adapter, &'a str), String> {
    let managed = |adapter: &&Adapter| kinds.contains(adapter.kind);
    let meta = &workload.metadata;
    let note = |key| {
        let notes = meta.annotations.as_ref()?;
        notes.get(key).map(String::as_str)
    };
    if let Some(noted) = note(annotations::JOB_OWNER_GVK)
        && let Some(name) = note(annotations::JOB_OWNER_NAME).filter(|name| !name.is_empty())
        && let Some(adapter) = multikueue::ADAPTERS
            .iter()
            .find(|one| gvk(&one.api_version(), one.kind) == noted)
            .filter(managed)
    {
        return Ok((adapter, name));
    }
    let owners = meta.owner_references.as_deref().unwrap_or_default();
    let controller = owners.iter().find(|owner| owner.controller == Some(true));
    let Some(owner) = controller.or(owners.first()) else {
        return Err("No multikueue adapter found".to_owned());
    };
    match multikueue::of(&owner.api_version, &owner.kind).filter(managed) {
        Some(adapter) => Ok((adapter, &owner.name)),
        None => {
            let kind = gvk(&owner.api_version, &owner.kind);
            Err(format!(
                "No multikueue adapter found for owner kind {kind:?}"
            ))
        }
    }
}

/// The status with an answer to a check.
#[must_use]
pub fn answered(
    mut status: WorkloadStatus,
    check: &str,
    answer: &Answer,
    now: Timestamp,
) -> WorkloadStatus {
    let known = status.admission_checks.iter().find(|one| one.name == check);
    let state = AdmissionCheckState {
        name: check.to_owned(),
        state: answer.state,
        message: answer.message.clone(),
        last_transition_time: Some(Time(now)),
        ..known.cloned().unwrap_or_default()
    };
    set_state(&mut status.admission_checks, state, now);
    if let Some(cluster) = &answer.cluster {
        status.cluster_name = Some(cluster.clone());
        status.nominated_cluster_names.clear();
    }
    if answer.placed {
        let sets = status.admission.iter_mut();
        for set in sets.flat_map(|admission| &mut admission.pod_set_assignments) {
            if set.delayed_topology_request == Some(DelayedTopologyRequestState::Pending) {
                set.delayed_topology_request = Some(DelayedTopologyRequestState::Ready);
            }
        }
    }
    status
}

/// The status of a copy with its gate before preemption open.
#[must_use]
pub fn opened(mut status: WorkloadStatus, gate: &str, now: Timestamp) -> WorkloadStatus {
    for state in &mut status.preemption_gates {
        if state.name == gate {
            state.position = GatePosition::Open;
            state.last_transition_time = Some(Time(now));
        }
    }
    status
}
