//! The end: Workloads whose job is gone or left them behind, finished ones, and those that are deleted.

use kueue_api::conditions::{find, reasons, workload as types};
use kueue_api::names::{RESOURCE_IN_USE_FINALIZER, labels};
use kueue_api::v1beta2::Workload;

use super::{Owner, Step, View, draft, remaining, write};

/// Those that are deleted, or belong to nobody any more.
pub(super) fn ending(view: &View<'_>) -> Option<Step> {
    let deleting = view.workload.metadata.deletion_timestamp.is_some();
    if deleting {
        return Some(dying(view));
    }
    if view.owner == Owner::Gone {
        return Some(Step::Delete);
    }
    if !(left_behind(view.workload) && view.rules.finish_orphans) {
        return None;
    }
    if view.workload.is_finished() {
        return has_finalizer(view.workload).then_some(Step::DropFinalizer);
    }
    let text = "The workload's owner no longer exists";
    let status = draft(view).finished(reasons::OWNER_NOT_FOUND, text).done();
    Some(write(status, Vec::new()))
}

/// The job's reconciler stops a present owner first; it also lets a finished Workload go.
fn dying(view: &View<'_>) -> Step {
    let owned = owners(view.workload) > 0;
    let free = !owned || view.owner == Owner::Gone || kept_long_enough(view);
    if free && has_finalizer(view.workload) {
        Step::DropFinalizer
    } else {
        Step::Rest(None)
    }
}

fn kept_long_enough(view: &View<'_>) -> bool {
    matches!(finished(view), Some(Step::DeleteExpired))
}

/// A finished one stays as long as asked.
pub(super) fn finished(view: &View<'_>) -> Option<Step> {
    if !view.workload.is_finished() {
        return None;
    }
    let since = find(view.workload.conditions(), types::FINISHED).map(|c| c.last_transition_time.0);
    let Some((keep, since)) = view.rules.keep_finished.zip(since) else {
        return Some(Step::Rest(None));
    };
    Some(match remaining(keep, since, view.now) {
        None => Step::DeleteExpired,
        left => Step::Rest(left),
    })
}

fn owners(workload: &Workload) -> usize {
    let owners = workload.metadata.owner_references.as_ref();
    owners.map_or(0, Vec::len)
}

/// Whether it was made for a job that nobody knows any more.
fn left_behind(workload: &Workload) -> bool {
    let labelled = workload.metadata.labels.as_ref();
    let made_for = labelled.and_then(|labels| labels.get(labels::JOB_UID));
    owners(workload) == 0 && made_for.is_some_and(|uid| !uid.is_empty())
}

fn has_finalizer(workload: &Workload) -> bool {
    let all = workload.metadata.finalizers.iter().flatten();
    all.into_iter()
        .any(|name| name == RESOURCE_IN_USE_FINALIZER)
}
