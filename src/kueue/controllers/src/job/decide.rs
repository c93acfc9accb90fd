//! What a job needs next, from it and from the Workloads that belong to it. One step at a time: the caller carries the
//! step out and asks again.

use std::collections::BTreeMap;
use std::sync::Arc;

use jobs::{GenericJob, PodSetInfo, UnknownFlavor, construct, equivalence};
use kueue_api::conditions::{find, reasons, workload as types};
use kueue_api::names::RESOURCE_IN_USE_FINALIZER;
use kueue_api::v1beta2::{PodSet, ReclaimablePod, ResourceFlavorSpec, Workload};
use kueue_api::workload::pods;

/// Everything the decision rests on.
#[derive(Debug)]
pub struct View<'a> {
    pub job: &'a dyn GenericJob,
    /// Workloads whose controller is this very object.
    pub workloads: &'a [Arc<Workload>],
    /// Flavors by name.
    pub flavors: &'a BTreeMap<String, ResourceFlavorSpec>,
    /// Whether the configuration says that this job is ours.
    pub managed: bool,
    /// Priority the job asks for; none while its class does not exist.
    pub priority: Option<&'a jobs::Priority>,
    /// Whether the condition `PodsReady` is kept.
    pub track_pods_ready: bool,
}

/// The next step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing until something changes.
    Rest,
    /// The job's priority class does not exist.
    ClassMissing,
    Create,
    /// The Workload still waits and the job was edited: write its podsets anew.
    Update {
        workload: Arc<Workload>,
    },
    /// The Workload does not describe the job (any more).
    Delete {
        workload: Arc<Workload>,
    },
    /// The Workload is over; it may go when its job goes.
    Settle {
        workload: Arc<Workload>,
    },
    Finish {
        workload: Arc<Workload>,
        success: bool,
        message: String,
    },
    Reclaim {
        workload: Arc<Workload>,
        pods: Vec<ReclaimablePod>,
    },
    PodsReady {
        workload: Arc<Workload>,
        ready: bool,
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
    /// The job was sent to another queue while it waits.
    Move {
        workload: Arc<Workload>,
        queue: String,
    },
    SetPriority {
        workload: Arc<Workload>,
    },
}

impl Step {
    /// Its name in the log.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::ClassMissing => "class-missing",
            Self::Create => "create",
            Self::Update { .. } => "update",
            Self::Delete { .. } => "delete",
            Self::Settle { .. } => "settle",
            Self::Finish { .. } => "finish",
            Self::Reclaim { .. } => "reclaim",
            Self::PodsReady { .. } => "pods-ready",
            Self::Start { .. } => "start",
            Self::Stop { .. } => "stop",
            Self::Release { .. } => "release",
            Self::Move { .. } => "move",
            Self::SetPriority { .. } => "set-priority",
        }
    }
}

/// Decides.
#[must_use]
pub fn next(view: &View<'_>) -> Step {
    if !view.managed || view.job.meta().deletion_timestamp.is_some() && view.workloads.is_empty() {
        return Step::Rest;
    }
    let workload = match own(view) {
        Own::One(workload) => workload,
        Own::None => return create(view),
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

/// A suspended job that is to be restored has a difference from its podsets only if it ran.
enum Own<'a> {
    None,
    One(&'a Arc<Workload>),
    Step(Step),
}

fn own<'a>(view: &View<'a>) -> Own<'a> {
    let done = view.job.finished().is_some();
    let matching: Vec<_> = view
        .workloads
        .iter()
        .filter(|w| done || is_equivalent(view, w))
        .collect();
    match (matching.as_slice(), view.workloads) {
        ([first, ..], all) => match all.iter().find(|w| !Arc::ptr_eq(w, first)) {
            Some(extra) if extra.metadata.deletion_timestamp.is_none() => Own::Step(Step::Delete {
                workload: extra.clone(),
            }),
            _ => Own::One(first),
        },
        ([], []) => Own::None,
        ([], [other, ..]) => mismatch(view, other),
    }
}

fn mismatch<'a>(view: &View<'a>, other: &'a Arc<Workload>) -> Own<'a> {
    let workload = other.clone();
    if workload.metadata.deletion_timestamp.is_some() || workload.is_finished() {
        return Own::One(other);
    }
    if view.job.is_suspended() && !workload.has_quota_reservation() {
        return Own::Step(Step::Update { workload });
    }
    let fits = view
        .job
        .pod_sets()
        .is_ok_and(|sets| sets.len() == workload.spec.pod_sets.len());
    let message = if fits {
        "No matching Workload; restoring pod templates according to existent Workload"
    } else {
        "Missing Workload; unable to restore pod templates"
    };
    let infos = fits.then(|| originals(&workload));
    Own::Step(stop(view, message, infos).unwrap_or(Step::Delete { workload }))
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

fn is_equivalent(view: &View<'_>, workload: &Workload) -> bool {
    if workload.spec.maximum_execution_time_seconds != view.job.max_execution_seconds() {
        return false;
    }
    let Ok(own) = construct::pod_sets(view.job) else {
        return false;
    };
    let reserved = workload.has_quota_reservation();
    let expected = if view.job.is_suspended() {
        workload.spec.pod_sets.clone()
    } else {
        running_pod_sets(view, workload)
    };
    equivalence::same_pod_sets(&own, &expected, reserved)
        || reserved && equivalence::same_pod_sets(&own, &workload.spec.pod_sets, reserved)
}

/// The Workload's podsets as its admission changed them.
fn running_pod_sets(view: &View<'_>, workload: &Workload) -> Vec<PodSet> {
    // What is missing shows when the job starts, not here.
    let infos = infos(view, workload).unwrap_or_default();
    let mut sets = workload.spec.pod_sets.clone();
    for (set, info) in sets.iter_mut().zip(&infos) {
        if info.count > 0 && set.min_count.is_some() {
            set.count = info.count;
        }
        // A conflict shows when the job starts, not here.
        let _ = info.merge_into(&mut set.template);
    }
    sets
}

/// What the admission adds to each podset.
fn infos(view: &View<'_>, workload: &Workload) -> Result<Vec<PodSetInfo>, UnknownFlavor> {
    let admission = workload.status.as_ref().and_then(|s| s.admission.as_ref());
    let assignments = admission.iter().flat_map(|a| &a.pod_set_assignments);
    assignments
        .map(|assignment| PodSetInfo::of_assignment(workload, assignment, view.flavors))
        .collect()
}

fn originals(workload: &Workload) -> Vec<PodSetInfo> {
    workload
        .spec
        .pod_sets
        .iter()
        .map(PodSetInfo::of_pod_set)
        .collect()
}

fn create(view: &View<'_>) -> Step {
    let job = view.job;
    if job.finished().is_some() || job.meta().deletion_timestamp.is_some() {
        return Step::Rest;
    }
    // Pods of an earlier run must be gone before the job is counted anew.
    if job.is_suspended() && job.is_active() {
        return Step::Rest;
    }
    if view.priority.is_some() {
        Step::Create
    } else {
        Step::ClassMissing
    }
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
    if workload.is_finished() {
        let settled = !has_finalizer(workload);
        return Some(if settled {
            Step::Rest
        } else {
            Step::Settle {
                workload: workload.clone(),
            }
        });
    }
    if let Some(finish) = job.finished() {
        return Some(Step::Finish {
            workload: workload.clone(),
            success: finish.success,
            message: finish.message,
        });
    }
    workload.metadata.deletion_timestamp.as_ref()?;
    let settled = || {
        if has_finalizer(workload) {
            Step::Settle {
                workload: workload.clone(),
            }
        } else {
            Step::Rest
        }
    };
    Some(stop(view, "Workload is deleted", Some(originals(workload))).unwrap_or_else(settled))
}

/// What the job tells about its pods.
fn progress(view: &View<'_>, workload: &Arc<Workload>) -> Option<Step> {
    let status = workload.status.as_ref();
    let known = status.map_or(&[][..], |s| &s.reclaimable_pods);
    let given_back = view.job.reclaimable_pods();
    let given_back = given_back.map(|given| pods::at_most(&given, &workload.spec.pod_sets));
    if let Some(pods) = given_back.filter(|given| !pods::same_given_back(given, known)) {
        return Some(Step::Reclaim {
            workload: workload.clone(),
            pods,
        });
    }
    let told = find(workload.conditions(), types::PODS_READY);
    let ready = workload.is_admitted() && !view.job.is_suspended() && view.job.pods_ready();
    let news = if ready {
        told.is_none_or(|c| c.status != "True")
    } else {
        told.is_some_and(|c| c.status == "True")
    };
    (view.track_pods_ready && news).then(|| Step::PodsReady {
        workload: workload.clone(),
        ready,
    })
}

fn leaving(view: &View<'_>, workload: &Arc<Workload>) -> Option<Step> {
    let evicted = find(workload.conditions(), types::EVICTED).filter(|c| c.status == "True")?;
    stop(view, &evicted.message, Some(originals(workload))).or_else(|| {
        workload.has_quota_reservation().then(|| Step::Release {
            workload: workload.clone(),
        })
    })
}

/// A job that does not run.
fn held(view: &View<'_>, workload: &Arc<Workload>) -> Option<Step> {
    if workload.is_admitted() {
        // A flavor in use is kept by its finalizer: without it there is nothing to start with.
        return Some(
            infos(view, workload).map_or(Step::Rest, |infos| Step::Start {
                workload: workload.clone(),
                infos,
            }),
        );
    }
    let queue = view.job.queue_name().unwrap_or_default();
    if !workload.has_quota_reservation() && workload.spec.queue_name() != queue {
        return Some(Step::Move {
            workload: workload.clone(),
            queue: queue.to_owned(),
        });
    }
    priority(view, workload)
}

/// A changed priority class of the job.
fn priority(view: &View<'_>, workload: &Arc<Workload>) -> Option<Step> {
    let wanted = view.priority?;
    let class = wanted
        .class
        .as_ref()
        .filter(|class| class.is_workload_class())?;
    (workload.spec.priority_class_ref.as_ref() != Some(class)).then(|| Step::SetPriority {
        workload: workload.clone(),
    })
}

/// A job that runs, or is on its way to stop.
fn running(view: &View<'_>, workload: &Arc<Workload>) -> Option<Step> {
    if !workload.is_admitted() {
        return stop(
            view,
            "Not admitted by cluster queue",
            Some(originals(workload)),
        );
    }
    priority(view, workload)
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
