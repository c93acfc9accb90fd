//! What one Workload object says: whether it waits, may wait, holds quota or has finished.

use std::sync::Arc;

use kueue_api::conditions::{self, reasons, workload as types};
use kueue_api::names::annotations;
use kueue_api::v1beta2 as api;
use scheduler::ClusterQueueName;

use super::WorkloadState;
use crate::holdings::Holding;
use crate::pending::tracked;
use crate::{Options, Surroundings, convert};

/// What an object says about its workload.
pub(super) fn observe(
    object: &api::Workload,
    options: &Options,
    around: &Surroundings,
) -> WorkloadState {
    let mut info = convert::workload(object, options, around);
    let local_queue = info.local_queue.clone();
    let finished = object.is_finished();
    let admission = object
        .status
        .as_ref()
        .and_then(|status| status.admission.as_ref());
    let admission = admission.filter(|_| object.has_quota_reservation() && !finished);
    let holding = admission.map(|admission| Holding {
        cluster_queue: ClusterQueueName::from(admission.cluster_queue.as_str()),
        local_queue,
        // An admission that nobody can read holds nothing that could be counted.
        usage: convert::held(object, admission, options).unwrap_or_default(),
        places: convert::places_held(object, admission, around).unwrap_or_default(),
        admitted: object.is_admitted(),
    });
    let chances = convert::chances(object, &info);
    let status = object.status.as_ref().filter(|_| !finished).cloned();
    if finished {
        // Thousands of them may lie about; nobody asks any more what they wanted or held.
        info.pod_sets = Vec::new();
        info.reservation = None;
    }
    WorkloadState {
        chances,
        info: Arc::new(info),
        status: status.unwrap_or_default(),
        generation: object.metadata.generation,
        tried: 0,
        eligible: eligible(object, options) && holding.is_none(),
        finished,
        tracked: tracked(object, options),
        active: object.is_active(),
        queued_in: None,
        holding,
        assumed: None,
        last: None,
    }
}

/// Whether a workload may stand in a queue.
fn eligible(object: &api::Workload, options: &Options) -> bool {
    let gates = object
        .metadata
        .annotations
        .as_ref()
        .and_then(|all| all.get(annotations::ADMISSION_GATED_BY));
    let gated = options.features.admission_gated_by && gates.is_some_and(|gates| !gates.is_empty());
    let reserved = conditions::find(object.conditions(), types::QUOTA_RESERVED);
    let on_hold =
        reserved.is_some_and(|found| found.status == "False" && found.reason == reasons::ON_HOLD);
    let replacing = conditions::is_true(object.conditions(), types::WAITING_FOR_REPLACEMENT_PODS);
    !gated
        && !object.is_finished()
        && object.is_active()
        && !object.has_quota_reservation()
        && !on_hold
        && !replacing
}
