//! Which of the Workloads is the job's own: exactly one that asks for what the job asks for. What is in the way goes, what can be mended is.
//! Reference section 5.1, "Equivalence".

use std::sync::Arc;

use jobs::{construct, equivalence};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kueue_api::conditions::reasons;
use kueue_api::names::annotations::ADMISSION_GATED_BY;
use kueue_api::v1beta2::Workload;
use kueue_api::workload::slices;

use super::{Step, View, has_finalizer, originals, running_pod_sets};

/// Said when a job runs and nobody knows with what.
pub(super) const MISSING: &str = "Missing Workload; unable to restore pod templates";

pub(super) enum Own<'a> {
    None,
    /// The job names one, and that is not (any more) for it.
    Prebuilt,
    One(&'a Arc<Workload>),
    Step(Step),
}

pub(super) fn own<'a>(view: &View<'a>) -> Own<'a> {
    let annotated = view.rules.annotated_names;
    if view.job.prebuilt_workload(annotated).is_some() {
        return prebuilt(view);
    }
    if let Some(own) = super::slices::own(view) {
        return own;
    }
    let done = view.job.finished().is_some();
    let fits = |w: &&Arc<Workload>| is_of(view, w) && (done || is_equivalent(view, w));
    let found = view.workloads.iter().find(fits);
    let others = || {
        let all = view.workloads.iter();
        all.filter(|w| found.is_none_or(|found| !Arc::ptr_eq(found, w)))
    };
    let Some(found) = found else {
        return match others().next() {
            None => Own::None,
            Some(first) => mismatch(view, first),
        };
    };
    let extra: Vec<_> = others().filter(|w| is_there(w)).cloned().collect();
    if !extra.is_empty() {
        return Own::Step(Step::Delete {
            stop: None,
            workloads: extra,
        });
    }
    kept_up(view, found).map_or(Own::One(found), Own::Step)
}

/// Whether there is still something to delete.
pub(super) fn is_there(workload: &Workload) -> bool {
    workload.metadata.deletion_timestamp.is_none() || has_finalizer(workload)
}

/// Whether it was made for this very job, and not for an earlier one of its name.
pub(super) fn is_of(view: &View<'_>, workload: &Workload) -> bool {
    let uid = controller(workload).map(|owner| owner.uid.as_str());
    !view.rules.finish_orphans || uid == Some(view.job.uid())
}

fn controller(workload: &Workload) -> Option<&OwnerReference> {
    let owners = workload.metadata.owner_references.as_ref()?;
    owners.iter().find(|owner| owner.controller == Some(true))
}

/// The Workload that the job names.
fn prebuilt<'a>(view: &View<'a>) -> Own<'a> {
    let Some(workload) = view.workloads.first() else {
        return Own::Prebuilt;
    };
    match controller(workload) {
        Some(owner) if owner.uid != view.job.uid() => return Own::Prebuilt,
        Some(_) => {}
        None => {
            return Own::Step(Step::Adopt {
                workload: workload.clone(),
            });
        }
    }
    // The copy of a job that grew in another cluster follows its Workload later.
    let grows = view.is_elastic() && slices::replaces(workload).is_some();
    if view.job.finished().is_some() || grows || is_equivalent(view, workload) {
        return Own::One(workload);
    }
    if workload.is_finished() {
        return Own::Prebuilt;
    }
    Own::Step(Step::Finish {
        workload: workload.clone(),
        reason: reasons::OUT_OF_SYNC,
        message: "The prebuilt workload is out of sync with its user job".to_owned(),
    })
}

/// None of the Workloads describes the job.
fn mismatch<'a>(view: &View<'a>, first: &'a Arc<Workload>) -> Own<'a> {
    if first.metadata.deletion_timestamp.is_some() && is_of(view, first) {
        return Own::One(first);
    }
    let there: Vec<_> = view
        .workloads
        .iter()
        .filter(|w| is_there(w))
        .cloned()
        .collect();
    let suspended = view.job.is_suspended();
    if suspended && !first.has_quota_reservation() && is_of(view, first) && !first.is_finished() {
        return Own::Step(Step::Update {
            workload: first.clone(),
        });
    }
    if there.is_empty() {
        return Own::None;
    }
    // With several of them nobody can know which one the job ran with.
    let only = <&[_; 1]>::try_from(view.workloads).ok();
    let infos = only.map(|[workload]| originals(workload));
    let message = if only.is_some() {
        "No matching Workload; restoring pod templates according to existent Workload"
    } else {
        MISSING
    };
    let stops = !suspended && view.job.finished().is_none();
    Own::Step(Step::Delete {
        stop: stops.then_some((message, infos)),
        workloads: there,
    })
}

/// What the job may change of its Workload at any time.
pub(super) fn kept_up(view: &View<'_>, workload: &Arc<Workload>) -> Option<Step> {
    if workload.is_finished()
        || workload.metadata.deletion_timestamp.is_some()
        || view.job.finished().is_some()
    {
        return None;
    }
    let wanted = view.job.annotation(ADMISSION_GATED_BY).unwrap_or_default();
    let notes = workload.metadata.annotations.as_ref();
    let gates = notes.and_then(|notes| notes.get(ADMISSION_GATED_BY));
    if view.rules.workloads.admission_gates && gates.map_or("", String::as_str) != wanted {
        return Some(Step::SetGates {
            workload: workload.clone(),
        });
    }
    priority(view, workload)
}

/// A changed priority class of the job. Pod priority classes are taken over once, and a Workload that holds quota without any class
/// cannot be given one.
pub(super) fn priority(view: &View<'_>, workload: &Arc<Workload>) -> Option<Step> {
    let class = workload.spec.priority_class_ref.as_ref();
    let fixed = match class {
        None => workload.has_quota_reservation(),
        Some(class) => !class.is_workload_class(),
    };
    let named = view.job.workload_priority_class().unwrap_or_default();
    if fixed || class.map_or("", |class| class.name.as_str()) == named {
        return None;
    }
    let Some(wanted) = view.priority else {
        return Some(Step::ClassMissing);
    };
    let same = workload.spec.priority_class_ref == wanted.class
        && workload.spec.priority == Some(wanted.value);
    (!same).then(|| Step::SetPriority {
        workload: workload.clone(),
    })
}

fn is_equivalent(view: &View<'_>, workload: &Workload) -> bool {
    if workload.spec.maximum_execution_time_seconds != view.job.max_execution_seconds() {
        return false;
    }
    let Ok(own) = construct::pod_sets(view.job, &view.rules.workloads) else {
        return false;
    };
    let admitted = workload.is_admitted();
    let waiting = || equivalence::same_pod_sets(&own, &workload.spec.pod_sets, admitted);
    match running_pod_sets(workload, view.flavors, view.rules.marks) {
        // A job that is not started yet, or stopped again, is as it was made.
        Some(running) => {
            equivalence::same_pod_sets(&own, &running, admitted)
                || view.job.is_suspended() && waiting()
        }
        None => waiting(),
    }
}
