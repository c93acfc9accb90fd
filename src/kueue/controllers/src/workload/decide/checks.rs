//! Admission checks: which ones are listed, and what follows from their answers. Reference section 4.12.

use cache::{EventKind, Eviction};
use kueue_api::conditions::reasons;
use kueue_api::v1beta2::{AdmissionCheckState, CheckState};
use kueue_api::workload::checks::required;

use super::{Step, View, changed, draft, event, evict, write};

/// The list holds what the ClusterQueue asks for and nothing else.
pub(super) fn listed(view: &View<'_>) -> Option<Step> {
    let names = required(view.workload, view.cluster_queue?);
    let known = view
        .workload
        .status
        .iter()
        .flat_map(|s| &s.admission_checks);
    if known.map(|state| &state.name).eq(&names) {
        return None;
    }
    changed(view, draft(view).checked_by(&names).done())
}

/// A check that rejects ends the Workload; one that wants another try only makes it leave.
pub(super) fn answered(view: &View<'_>) -> Option<Step> {
    if view.workload.is_evicted() {
        return None;
    }
    let rejected = said(view, CheckState::Rejected);
    if !rejected.is_empty() {
        let message = message(&rejected, CheckState::Rejected);
        let status = draft(view).targeted(reasons::ADMISSION_CHECK, &message);
        let note = format!("Deactivated due to {message}");
        let told = event(EventKind::Warning, "AdmissionCheckRejected", note);
        return Some(write(status.done(), vec![told]));
    }
    let retry = said(view, CheckState::Retry);
    if retry.is_empty() {
        return None;
    }
    let message = format!("Evicted due to {}", message(&retry, CheckState::Retry));
    let eviction = Eviction::new(reasons::ADMISSION_CHECK, &message);
    Some(evict(eviction, draft(view)))
}

/// The checks that gave this answer, by name.
fn said<'a>(view: &View<'a>, state: CheckState) -> Vec<&'a AdmissionCheckState> {
    let all = view
        .workload
        .status
        .iter()
        .flat_map(|s| &s.admission_checks);
    let mut said: Vec<_> = all.filter(|check| check.state == state).collect();
    said.sort_by(|one, other| one.name.cmp(&other.name));
    said
}

fn message(checks: &[&AdmissionCheckState], state: CheckState) -> String {
    let one = |check: &&AdmissionCheckState| match check.message.as_str() {
        "" => format!("{:?}", check.name),
        message => format!("{:?} ({message})", check.name),
    };
    let noun = if checks.len() > 1 {
        "AdmissionChecks"
    } else {
        "AdmissionCheck"
    };
    let each: Vec<_> = checks.iter().map(one).collect();
    format!("{noun} in {state} state: {}", each.join("; "))
}
