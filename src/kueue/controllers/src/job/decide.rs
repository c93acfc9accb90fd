//! What a job needs next, from it and from the Workloads that belong to it. One step at a time: the caller carries the
//! step out ([`super::effects`] says how) and asks again. Reference section 5.1, "Reconcile order".

mod infos;
mod own;
mod ready;
mod slices;
mod step;
mod view;

use std::sync::Arc;
use std::time::Duration;

use jobs::{GenericJob, InfoError, PodSetInfo};
use kueue_api::conditions::{find, reasons, workload as types};
use kueue_api::names::RESOURCE_IN_USE_FINALIZER;
use kueue_api::v1beta2::{CheckState, Workload};
use kueue_api::workload::phase::is_on_hold;
use kueue_api::workload::pods;

use infos::originals;
use own::Own;

pub(crate) use infos::{infos, running_pod_sets};
pub use ready::Readiness;
pub use step::Step;
pub use view::{Parent, Rules, Standing, View};

/// Said when a job is stopped that was never let run.
pub const NOT_ADMITTED: &str = "Not admitted by cluster queue";

/// Decides.
#[must_use]
pub fn next(view: &View<'_>) -> Step {
    if view.job.runs_elsewhere() {
        return Step::Rest;
    }
    if view.job.meta().deletion_timestamp.is_some() {
        if view.job.clears_away() {
            return Step::Rest;
        }
        return orphaned(view.workloads, view.rules);
    }
    match view.standing {
        Standing::Foreign => Step::Rest,
        Standing::TooDeep => Step::TooDeep,
        Standing::Child(parent) => child(view.job, parent),
        Standing::Top => top(view),
    }
}

/// The Workloads of a job that is gone, or on its way there.
#[must_use]
pub fn orphaned(workloads: &[Arc<Workload>], rules: &Rules) -> Step {
    let mut held = workloads.iter().filter(|w| has_finalizer(w));
    let Some(workload) = held.next().cloned() else {
        return Step::Rest;
    };
    let ends = rules.finish_orphans && workload.metadata.deletion_timestamp.is_none();
    if ends && !workload.is_finished() {
        let message = "The workload's owner no longer exists".to_owned();
        let reason = reasons::OWNER_NOT_FOUND;
        return Step::Finish {
            workload,
            reason,
            message,
        };
    }
    Step::LetGo { workload }
}

/// Only its topmost ancestor has a Workload; the job runs when that is admitted.
fn child(job: &dyn GenericJob, parent: Parent) -> Step {
    let runs = job.finished().is_none() && !job.is_suspended();
    if runs && parent != Parent::Admitted {
        Step::Suspend
    } else {
        Step::Rest
    }
}

fn top(view: &View<'_>) -> Step {
    let workload = match own::own(view) {
        Own::One(workload) => workload,
        Own::None => return without(view),
        Own::Prebuilt => return without_prebuilt(view),
        Own::Step(step) => return step,
    };
    over(view, workload)
        .or_else(|| progress(view, workload))
        .or_else(|| leaving(view, workload))
        .or_else(|| {
            if view.job.is_suspended() {
                held(view, workload)
            } else {
                running(view, workload)
            }
        })
        .unwrap_or(Step::Rest)
}

/// Stops the job, or waits until it has stopped; none once it has.
fn stop(view: &View<'_>, message: &str, infos: Option<Vec<PodSetInfo>>) -> Option<Step> {
    if view.job.stop_step(infos.as_deref()).is_some() {
        return Some(Step::Stop {
            message: message.to_owned(),
            infos,
        });
    }
    view.job.is_active().then_some(Step::Rest)
}

/// A job without a Workload does not run, and gets one once its pods of an earlier run are gone.
fn without(view: &View<'_>) -> Step {
    let job = view.job;
    if job.is_on_hold() || job.finished().is_some() {
        return Step::Rest;
    }
    let made = || match view.priority {
        Some(_) => Step::Create,
        None => Step::ClassMissing,
    };
    if view.is_elastic() {
        // Its pods wait at a gate of their own until the slice is admitted.
        return made();
    }
    let waiting = || job.is_active().then_some(Step::Rest);
    let stopped = || stop(view, own::MISSING, None);
    let first = if job.is_suspended() {
        waiting()
    } else {
        stopped()
    };
    first.unwrap_or_else(made)
}

/// A job that names a Workload does not run without it.
fn without_prebuilt(view: &View<'_>) -> Step {
    if view.job.is_on_hold() || view.job.finished().is_some() {
        return Step::Rest;
    }
    stop(view, "missing workload", None).unwrap_or(Step::NotPrebuilt)
}

fn has_finalizer(workload: &Workload) -> bool {
    workload
        .metadata
        .finalizers
        .iter()
        .flatten()
        .any(|name| name == RESOURCE_IN_USE_FINALIZER)
}

/// The end of the Workload or of the job.
fn over(view: &View<'_>, workload: &Arc<Workload>) -> Option<Step> {
    let job = view.job;
    let settled = || {
        if has_finalizer(workload) {
            Step::Settle {
                workload: workload.clone(),
            }
        } else {
            Step::Rest
        }
    };
    if workload.is_finished() {
        return Some(settled());
    }
    if workload.metadata.deletion_timestamp.is_some() {
        let originals = Some(originals(workload));
        return Some(stop(view, "Workload is deleted", originals).unwrap_or_else(settled));
    }
    if let Some(step) = holding(job, workload) {
        return Some(step);
    }
    let finish = job.finished()?;
    Some(Step::Finish {
        workload: workload.clone(),
        reason: finish_reason(finish.success),
        message: finish.message,
    })
}

/// A job that asks to hold no quota for now, or does no longer.
fn holding(job: &dyn GenericJob, workload: &Arc<Workload>) -> Option<Step> {
    let (wanted, held) = (job.on_hold()?, is_on_hold(workload));
    let workload = workload.clone();
    match (wanted, held) {
        (true, false) => Some(Step::Hold { workload }),
        (false, true) => Some(Step::Unhold { workload }),
        (true, true) => Some(Step::Rest),
        (false, false) => None,
    }
}

/// What the job tells about its pods.
fn progress(view: &View<'_>, workload: &Arc<Workload>) -> Option<Step> {
    let status = workload.status.as_ref();
    let known = status.map_or(&[][..], |s| &s.reclaimable_pods);
    let given_back = view.job.reclaimable_pods().filter(|_| view.rules.reclaim);
    let given_back = given_back.map(|given| pods::at_most(&given, &workload.spec.pod_sets));
    if let Some(pods) = given_back.filter(|given| !pods::same_given_back(given, known)) {
        return Some(Step::Reclaim {
            workload: workload.clone(),
            pods,
        });
    }
    let news = || Readiness::news(view.job, workload);
    let readiness = view.rules.track_pods_ready.then(news).flatten()?;
    Some(Step::PodsReady {
        workload: workload.clone(),
        readiness,
    })
}

fn leaving(view: &View<'_>, workload: &Arc<Workload>) -> Option<Step> {
    let evicted = find(workload.conditions(), types::EVICTED).filter(|c| c.status == "True")?;
    let released = || {
        workload.has_quota_reservation().then(|| Step::Release {
            workload: workload.clone(),
        })
    };
    let kept = || {
        let keep = view.rules.keep_deactivated?;
        let by_us = evicted.reason.starts_with(reasons::DEACTIVATED_DUE_TO);
        let since = (!workload.is_active() && by_us).then_some(evicted.last_transition_time.0)?;
        let gone = Duration::try_from(view.now.duration_since(since)).unwrap_or_default();
        let left = keep.saturating_sub(gone);
        Some(if left.is_zero() {
            Step::DeleteJob
        } else {
            Step::Wait(left)
        })
    };
    stop(view, &evicted.message, Some(originals(workload)))
        .or_else(released)
        .or_else(kept)
        .or(Some(Step::Rest))
}

/// A job that does not run.
fn held(view: &View<'_>, workload: &Arc<Workload>) -> Option<Step> {
    let (job, workload) = (view.job, workload.clone());
    if workload.is_admitted() {
        return Some(match infos(&workload, view.flavors, view.rules.marks) {
            Ok(infos) => Step::Start { workload, infos },
            Err(conflict @ InfoError::Conflict { .. }) => Step::Finish {
                workload,
                reason: reasons::FAILED_TO_START,
                message: conflict.to_string(),
            },
            // A flavor in use is kept by its finalizer: without it there is nothing to start with.
            Err(InfoError::Flavor(_)) => Step::Rest,
        });
    }
    if workload.has_quota_reservation() {
        return checks(&workload).map(|message| Step::TellChecks { message });
    }
    let queue = job.queue_name().unwrap_or_default();
    (workload.spec.queue_name() != queue).then(|| Step::Move {
        workload,
        queue: queue.to_owned(),
    })
}

/// What admission checks say while they are not done.
fn checks(workload: &Workload) -> Option<String> {
    let status = workload.status.as_ref()?;
    let waiting = status
        .admission_checks
        .iter()
        .filter(|check| check.state == CheckState::Pending && !check.message.is_empty());
    let told: Vec<_> = waiting
        .map(|check| format!("{}: {}", check.name, check.message))
        .collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// A job that runs, or is on its way to stop.
fn running(view: &View<'_>, workload: &Arc<Workload>) -> Option<Step> {
    if workload.is_admitted() || view.is_elastic() {
        return None;
    }
    stop(view, NOT_ADMITTED, Some(originals(workload)))
}

/// Reason of the condition Finished.
#[must_use]
pub fn finish_reason(success: bool) -> &'static str {
    if success {
        reasons::SUCCEEDED
    } else {
        reasons::FAILED
    }
}
