//! Admission checks of a Workload: which ones its flavors ask for, and when the last of them may be tried again. Reference 4.12.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use crate::names::MULTIKUEUE_CONTROLLER;
use crate::v1beta2::{AdmissionCheck, AdmissionCheckState, CheckState, ClusterQueue, Workload};

/// The checks a Workload needs in a ClusterQueue: those of its flavors, or, before it has any, those that every flavor asks for.
#[must_use]
pub fn required(workload: &Workload, queue: &ClusterQueue) -> BTreeSet<String> {
    let groups = &queue.spec.resource_groups;
    let flavors = groups.iter().flat_map(|group| &group.flavors);
    let all: BTreeSet<&str> = flavors.map(|flavor| flavor.name.as_str()).collect();
    let status = workload.status.as_ref();
    let admission = status.and_then(|status| status.admission.as_ref());
    let assigned: Option<BTreeSet<&str>> = admission.map(|admission| {
        let sets = admission.pod_set_assignments.iter();
        sets.flat_map(|set| set.flavors.values().map(String::as_str))
            .collect()
    });
    let strategy = queue.spec.admission_checks_strategy.iter();
    let rules = strategy.flat_map(|strategy| &strategy.admission_checks);
    let needed = rules.filter(|rule| {
        let listed: BTreeSet<&str> = rule.on_flavors.iter().map(String::as_str).collect();
        let on = if listed.is_empty() { &all } else { &listed };
        match &assigned {
            Some(assigned) => !assigned.is_disjoint(on),
            None => on.is_superset(&all),
        }
    });
    needed.map(|rule| rule.name.clone()).collect()
}

/// The states of checks that a controller is to answer.
pub fn of_controller<'a>(
    states: &'a [AdmissionCheckState],
    checks: &'a [impl Borrow<AdmissionCheck>],
    controller: &'a str,
) -> impl Iterator<Item = &'a AdmissionCheckState> {
    states.iter().filter(move |state| {
        let mut checks = checks.iter().map(Borrow::borrow);
        checks.any(|check: &AdmissionCheck| {
            check.spec.controller_name == controller && check.name() == state.name
        })
    })
}

/// Whether a ClusterQueue sends its Workloads to other clusters.
#[must_use]
pub fn leads_elsewhere<'a>(
    queue: &ClusterQueue,
    checks: impl IntoIterator<Item = &'a AdmissionCheck>,
) -> bool {
    let rules = queue.spec.admission_checks();
    let mut checks = checks.into_iter();
    checks.any(|check| {
        check.spec.controller_name == MULTIKUEUE_CONTROLLER
            && rules.iter().any(|rule| rule.name == check.name())
    })
}

/// The latest time at which a check that said Retry wants to be asked again.
#[must_use]
pub fn latest_retry(workload: &Workload) -> Option<Timestamp> {
    let states = workload
        .status
        .iter()
        .flat_map(|status| &status.admission_checks);
    let retries = states.filter(|state| state.state == CheckState::Retry);
    let at = |state: &AdmissionCheckState| {
        let since = state.last_transition_time.as_ref()?.0;
        let seconds = SignedDuration::from_secs(state.requeue_after_seconds?.into());
        since.checked_add(seconds).ok()
    };
    retries.filter_map(at).max()
}

/// Whether a MultiKueue dispatcher has nothing to propose: the check is not pending, or a cluster is still named although the Workload is
/// on its way out of it. Elastic Workloads name theirs on purpose.
#[must_use]
pub fn nomination_is_idle(
    check: Option<&AdmissionCheckState>,
    workload: &Workload,
    elastic: bool,
) -> bool {
    let pending = check.is_some_and(|check| check.state == CheckState::Pending);
    let status = workload.status.as_ref();
    let named = status.is_some_and(|status| status.cluster_name.is_some());
    !pending || (named && !elastic)
}

/// Takes in what a controller says about its check. The time of the last change of state is that of the answer, or `now`.
pub fn set_state(
    states: &mut Vec<AdmissionCheckState>,
    answer: AdmissionCheckState,
    now: Timestamp,
) {
    let since = answer
        .last_transition_time
        .clone()
        .or(Some(crate::Time(now)));
    let Some(known) = states.iter_mut().find(|state| state.name == answer.name) else {
        states.push(AdmissionCheckState {
            last_transition_time: since,
            ..answer
        });
        return;
    };
    if known.state != answer.state {
        known.state = answer.state;
        known.last_transition_time = since;
    }
    known.message = answer.message;
    known.pod_set_updates = answer.pod_set_updates;
    known.requeue_after_seconds = answer.requeue_after_seconds;
}
