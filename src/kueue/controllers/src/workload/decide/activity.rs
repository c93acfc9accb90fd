//! Deactivation and its end, and the end of what kept an evicted Workload from being tried again. Reference sections 4.9 and 4.13.

use std::time::Duration;

use cache::Eviction;
use jiff::SignedDuration;
use kueue_api::conditions::{find, is_true, reasons, workload as types};
use kueue_api::workload::phase::Phase;

use super::{Step, View, changed, draft, evict, write};

pub(super) fn activity(view: &View<'_>) -> Option<Step> {
    if view.workload.is_active() {
        active(view)
    } else {
        inactive(view)
    }
}

fn active(view: &View<'_>) -> Option<Step> {
    if is_true(view.workload.conditions(), types::DEACTIVATION_TARGET) {
        return Some(Step::Deactivate);
    }
    // Whoever holds quota and need not leave has nothing to wait for: a check that wants another try is heard at once.
    let holds = view.workload.has_quota_reservation() && !view.workload.is_evicted();
    match backoff(view).filter(|_| !holds) {
        Some(left) if !left.is_zero() => return Some(Step::Rest(Some(left))),
        Some(_) if Phase::of(view.workload) == Phase::Pending => {
            return changed(view, draft(view).no_backoff().done());
        }
        _ => {}
    }
    let put_off = find(view.workload.conditions(), types::REQUEUED);
    let put_off = put_off.filter(|requeued| requeued.status == "False")?;
    let (reason, message) = match put_off.reason.as_str() {
        // Whether by a person or by Kueue: whoever reactivates it wants it to run.
        by if by.starts_with(reasons::DEACTIVATED) => {
            (reasons::REACTIVATED, "The workload was reactivated")
        }
        reasons::PODS_READY_TIMEOUT | reasons::ADMISSION_CHECK => (
            reasons::BACKOFF_FINISHED,
            "The workload backoff was finished",
        ),
        _ => return None,
    };
    changed(view, draft(view).requeued(reason, message).done())
}

/// How long it still has to wait, if it has or had to.
fn backoff(view: &View<'_>) -> Option<Duration> {
    let status = view.workload.status.as_ref()?;
    let at = status.requeue_state.as_ref()?.requeue_at.as_ref()?.0;
    let left = at.duration_since(view.now).max(SignedDuration::ZERO);
    Duration::try_from(left).ok()
}

/// It is told to leave once, and what was remembered about its tries is forgotten.
fn inactive(view: &View<'_>) -> Option<Step> {
    let told = is_true(view.workload.conditions(), types::EVICTED);
    if !told {
        let eviction = Eviction::deactivation(view.workload);
        return Some(evict(eviction, draft(view)));
    }
    let status = view.workload.status.as_ref();
    let remembers = status.is_some_and(|status| status.requeue_state.is_some());
    remembers.then(|| write(draft(view).without_requeue_state().done(), Vec::new()))
}
