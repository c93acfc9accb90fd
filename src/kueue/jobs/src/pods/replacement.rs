//! The condition that says whether a group waits for pods in place of those that failed. Reference sections 4.10 and 5.4.

use jiff::Timestamp;
use kueue_api::Condition;
use kueue_api::conditions::{condition, find, workload as types};
use kueue_api::v1beta2::Workload;
use kueue_api::workload::phase;

/// The condition as it is to be, if it says something else now.
#[must_use]
pub fn waiting_for_replacement(
    workload: &Workload,
    absent: i32,
    now: Timestamp,
) -> Option<Condition> {
    let type_ = types::WAITING_FOR_REPLACEMENT_PODS;
    let known = find(workload.conditions(), type_);
    let is = |status: &str| known.is_some_and(|known| known.status == status);
    let new = |status, reason: &str, message: &str| {
        let generation = workload.metadata.generation;
        Some(condition(type_, status, reason, message, generation, now))
    };
    if absent <= 0 {
        let over = known.is_some() && !is("False");
        return over
            .then(|| new(false, "PodsReady", "No pods need replacement"))
            .flatten();
    }
    match phase::evicted(workload) {
        Some(evicted) => {
            let said = known.is_some_and(|known| {
                known.reason == evicted.reason && known.message == evicted.message
            });
            (!said || !is("True"))
                .then(|| new(true, &evicted.reason, &evicted.message))
                .flatten()
        }
        None => (!is("True"))
            .then(|| new(true, "PodsFailed", "Some Failed pods need replacement"))
            .flatten(),
    }
}
