//! Gates: an annotation that keeps a Workload out of the queues, and gates that keep it from preempting. Reference sections 1.11 and 4.22.

use cache::EventKind;
use kueue_api::conditions::{find, reasons, workload as types};
use kueue_api::names::annotations;
use kueue_api::v1beta2::WorkloadStatus;

use super::{Step, View, draft, event, write};

/// The gates in the status follow those of the spec.
pub(super) fn preemption(view: &View<'_>) -> Option<WorkloadStatus> {
    if !view.rules.preemption_gates {
        return None;
    }
    let gates = &view.workload.spec.preemption_gates;
    let status = draft(view).gated_as(gates).done();
    let before = view.workload.status.iter();
    let before = before.flat_map(|status| &status.preemption_gates);
    (!before.eq(&status.preemption_gates)).then_some(status)
}

/// What the annotation says, while it has an effect.
pub(super) fn gated_by<'a>(view: &View<'a>) -> Option<&'a str> {
    let notes = view.workload.metadata.annotations.as_ref()?;
    let gates = notes.get(annotations::ADMISSION_GATED_BY)?.as_str();
    (view.rules.admission_gates && !gates.is_empty()).then_some(gates)
}

/// What the condition says of a Workload that is gated by these.
pub(super) fn message(gates: &str) -> String {
    format!("Admission is gated by: {gates}")
}

/// The condition says when the gate closes and when it opens.
pub(super) fn admission(view: &View<'_>) -> Option<Step> {
    if !view.rules.admission_gates {
        return None;
    }
    let told = find(view.workload.conditions(), types::QUOTA_RESERVED)
        .is_some_and(|condition| condition.reason == reasons::ADMISSION_GATED);
    let (status, reason, note) = match (gated_by(view), told) {
        (Some(gates), false) => (
            draft(view).cancelled(reasons::ADMISSION_GATED, &message(gates)),
            "AdmissionGated",
            format!("Workload admission is gated by: {gates}"),
        ),
        (None, true) => (
            draft(view).cancelled(
                reasons::PENDING_EVALUATION,
                "AdmissionGatedBy cleared, waiting for quota reservation",
            ),
            "AdmissionGateCleared",
            "Admission gate cleared, workload is now admissible".to_owned(),
        ),
        _ => return None,
    };
    Some(write(
        status.done(),
        vec![event(EventKind::Normal, reason, note)],
    ))
}
