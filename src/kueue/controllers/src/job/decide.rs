//! What a job needs next, from it and from the Workloads that belong to it. One step at a time: the caller carries the
//! step out ([`super::effects`] says how) and asks again. Reference section 5.1, "Reconcile order".

mod own;
mod ready;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jobs::{GenericJob, InfoError, Marks, PodSetInfo, construct};
use kueue_api::conditions::{find, reasons, workload as types};
use kueue_api::names::RESOURCE_IN_USE_FINALIZER;
use kueue_api::v1beta2::{CheckState, PodSet, ReclaimablePod, ResourceFlavorSpec, Workload};
use kueue_api::workload::pods;

use own::Own;

pub use ready::Readiness;

/// Said when a job is stopped that was never let run.
pub const NOT_ADMITTED: &str = "Not admitted by cluster queue";

/// Choices of the operator that this decision depends on.
#[derive(Clone, Debug)]
pub struct Rules {
    /// How Workloads are made.
    pub workloads: construct::Options,
    /// By what pods can be recognised.
    pub marks: Marks,
    /// Keep the condition `PodsReady` (`waitForPodsReady`).
    pub track_pods_ready: bool,
    /// Give back what pods that are done held (gate `ReclaimablePods`).
    pub reclaim: bool,
    /// Finish Workloads whose job left them behind (gate `FinishOrphanedWorkloads`).
    pub finish_orphans: bool,
    /// A job may name a Workload that somebody else made in an annotation, too (gate `WorkloadIdentifierAnnotations`).
    pub annotated_names: bool,
    /// How long jobs are kept whose Workloads Kueue deactivated; none is for ever.
    pub keep_deactivated: Option<Duration>,
}

/// Whether a job is ours, and by which right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not ours.
    Foreign,
    /// It has a Workload of its own.
    Top,
    /// It belongs to another job of ours, whose Workload is this.
    Child(Parent),
    /// It has more ancestors than anybody wants to count.
    TooDeep,
}

/// The newest Workload of the parent that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    Missing,
    Waiting,
    Admitted,
}

/// Everything the decision rests on.
#[derive(Debug)]
pub struct View<'a> {
    pub job: &'a dyn GenericJob,
    pub standing: Standing,
    /// The Workloads whose controller bears the job's kind and name, or the one that the job names.
    pub workloads: &'a [Arc<Workload>],
    /// Flavors by name.
    pub flavors: &'a BTreeMap<String, ResourceFlavorSpec>,
    /// Priority the job asks for; none while its class does not exist.
    pub priority: Option<&'a jobs::Priority>,
    pub rules: &'a Rules,
    pub now: Timestamp,
}

/// The next step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing until something changes.
    Rest,
    /// Nothing until something changes, or this much later.
    Wait(Duration),
    /// The job's priority class does not exist.
    ClassMissing,
    /// The search for its parents was given up.
    TooDeep,
    /// The Workload that the job names is not there, or not for it.
    NotPrebuilt,
    /// Suspend it: its parent has not been admitted.
    Suspend,
    Create,
    /// The Workload that the job names becomes its own.
    Adopt {
        workload: Arc<Workload>,
    },
    /// The Workload still waits and the job was edited: write its podsets anew.
    Update {
        workload: Arc<Workload>,
    },
    /// These Workloads do not describe the job (any more); the job is stopped first if that says so.
    Delete {
        stop: Option<(&'static str, Option<Vec<PodSetInfo>>)>,
        workloads: Vec<Arc<Workload>>,
    },
    /// The job asks for other admission gates.
    SetGates {
        workload: Arc<Workload>,
    },
    SetPriority {
        workload: Arc<Workload>,
    },
    /// The Workload is over; it may go when its job goes.
    Settle {
        workload: Arc<Workload>,
    },
    /// The job is gone; its Workload may go too.
    LetGo {
        workload: Arc<Workload>,
    },
    Finish {
        workload: Arc<Workload>,
        reason: &'static str,
        message: String,
    },
    /// The job wants to hold no quota for now.
    Hold {
        workload: Arc<Workload>,
    },
    Reclaim {
        workload: Arc<Workload>,
        pods: Vec<ReclaimablePod>,
    },
    PodsReady {
        workload: Arc<Workload>,
        readiness: Readiness,
    },
    Start {
        workload: Arc<Workload>,
        infos: Vec<PodSetInfo>,
    },
    /// Stop the job, and give its templates back what these say.
    Stop {
        message: String,
        infos: Option<Vec<PodSetInfo>>,
    },
    /// The job has stopped after an eviction: give the quota back.
    Release {
        workload: Arc<Workload>,
    },
    /// Kueue deactivated its Workload, and it has been kept long enough.
    DeleteJob,
    /// Say what the admission checks are waiting for.
    TellChecks {
        message: String,
    },
    /// The job was sent to another queue while it waits.
    Move {
        workload: Arc<Workload>,
        queue: String,
    },
}

impl Step {
    /// Its name in the log.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::Wait(_) => "wait",
            Self::ClassMissing => "class-missing",
            Self::TooDeep => "too-deep",
            Self::NotPrebuilt => "not-prebuilt",
            Self::Suspend => "suspend",
            Self::Create => "create",
            Self::Adopt { .. } => "adopt",
            Self::Update { .. } => "update",
            Self::Delete { .. } => "delete",
            Self::SetGates { .. } => "set-gates",
            Self::SetPriority { .. } => "set-priority",
            Self::Settle { .. } => "settle",
            Self::LetGo { .. } => "let-go",
            Self::Finish { .. } => "finish",
            Self::Hold { .. } => "hold",
            Self::Reclaim { .. } => "reclaim",
            Self::PodsReady { .. } => "pods-ready",
            Self::Start { .. } => "start",
            Self::Stop { .. } => "stop",
            Self::Release { .. } => "release",
            Self::DeleteJob => "delete-job",
            Self::TellChecks { .. } => "tell-checks",
            Self::Move { .. } => "move",
        }
    }

    /// Whether there is nothing more to do after it until something changes.
    #[must_use]
    pub fn is_last(&self) -> bool {
        matches!(
            self,
            Self::Rest
                | Self::Wait(_)
                | Self::ClassMissing
                | Self::TooDeep
                | Self::NotPrebuilt
                | Self::DeleteJob
                | Self::TellChecks { .. }
        )
    }
}

/// Decides.
#[must_use]
pub fn next(view: &View<'_>) -> Step {
    if view.job.meta().deletion_timestamp.is_some() {
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

/// What the admission adds to each podset.
pub(crate) fn infos(
    workload: &Workload,
    flavors: &BTreeMap<String, ResourceFlavorSpec>,
    marks: Marks,
) -> Result<Vec<PodSetInfo>, InfoError> {
    let admission = workload.status.as_ref().and_then(|s| s.admission.as_ref());
    let assignments = admission.iter().flat_map(|a| &a.pod_set_assignments);
    assignments
        .map(|assignment| PodSetInfo::of_assignment(workload, assignment, flavors, marks))
        .collect()
}

/// The Workload's podsets as its admission changed them; none if it has none, or what it says cannot be done.
pub(crate) fn running_pod_sets(
    workload: &Workload,
    flavors: &BTreeMap<String, ResourceFlavorSpec>,
    marks: Marks,
) -> Option<Vec<PodSet>> {
    if !workload.has_quota_reservation() {
        return None;
    }
    let infos = infos(workload, flavors, marks).ok()?;
    let of_set = |set: &PodSet| {
        let info: &PodSetInfo = infos.iter().find(|info| info.name == set.name)?;
        let mut set = set.clone();
        if set.min_count.is_some() {
            set.count = info.count;
        }
        info.merge_into(&mut set.template).ok()?;
        Some(set)
    };
    workload.spec.pod_sets.iter().map(of_set).collect()
}

fn originals(workload: &Workload) -> Vec<PodSetInfo> {
    workload
        .spec
        .pod_sets
        .iter()
        .map(PodSetInfo::of_pod_set)
        .collect()
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
    if job.is_on_hold() {
        return Some(if workload.has_quota_reservation() {
            Step::Hold {
                workload: workload.clone(),
            }
        } else {
            Step::Rest
        });
    }
    let finish = job.finished()?;
    Some(Step::Finish {
        workload: workload.clone(),
        reason: finish_reason(finish.success),
        message: finish.message,
    })
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
    if workload.is_admitted() {
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
