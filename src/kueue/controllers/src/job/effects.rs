//! What a step of [`super::decide`] means: writes and events, in their order. Pure; [`super::apply`] carries them out.
//! Texts are those of the reference, section 5.1.

use std::sync::Arc;

use cache::Draft;
use jobs::job::StartError;
use jobs::slices::{self, Over};
use jobs::{JobError, PodSetInfo, merge};
use kueue_api::conditions::{MAX_EVENT_NOTE, reasons, truncate};
use kueue_api::names::{annotations, labels};
use kueue_api::v1beta2::{ReclaimablePod, Workload, WorkloadStatus};
use kueue_api::workload::pods;
use serde_json::{Value, json};

use super::decide::{Step, View};

/// One write or event.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// An event about the job.
    Tell {
        warning: bool,
        reason: &'static str,
        note: String,
    },
    Create(Box<Workload>),
    /// A merge patch of a Workload.
    Change {
        workload: Arc<Workload>,
        patch: Value,
    },
    /// A new status of a Workload.
    Status {
        workload: Arc<Workload>,
        status: Box<WorkloadStatus>,
    },
    /// Which pods of a Workload are done with their quota.
    Reclaim {
        workload: Arc<Workload>,
        pods: Vec<ReclaimablePod>,
    },
    /// Delete a Workload, and let it go at once.
    Delete(Arc<Workload>),
    /// Let a Workload go when somebody deletes it.
    Release(Arc<Workload>),
    /// A merge patch of the job.
    Job(Value),
    /// All writes that stop the job; an event says why, if it was not stopped before.
    Stop {
        infos: Option<Vec<PodSetInfo>>,
        message: String,
    },
    DeleteJob,
}

/// Why a step has no effects.
#[derive(Debug, thiserror::Error)]
pub enum EffectError {
    #[error(transparent)]
    Job(#[from] JobError),
    #[error("object cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The API server keeps something of the podsets back, so that they never equal those of the job.
    #[error(
        "Workload {0} cannot be made equal to its job: is its CustomResourceDefinition the one of this controller?"
    )]
    NeverEquivalent(String),
    #[error(transparent)]
    Slices(#[from] slices::TooMany),
    #[error("prebuilt workload not found")]
    NotPrebuilt,
    #[error("the WorkloadPriorityClass or PriorityClass of the job does not exist")]
    ClassMissing,
}

type Effects = Result<Vec<Effect>, EffectError>;

/// The effects of a step.
pub fn of(view: &View<'_>, step: Step) -> Effects {
    match step {
        Step::Rest | Step::Wait(_) => Ok(Vec::new()),
        Step::NotPrebuilt => Err(EffectError::NotPrebuilt),
        Step::ClassMissing => Ok(class_missing(view).into_iter().collect()),
        Step::TooDeep => Ok(vec![too_deep()]),
        Step::Suspend => suspend(view),
        Step::Create => create(view),
        Step::Adopt { workload } => Ok(vec![adopt(view, workload)]),
        Step::Resize { workload } => resize(view, workload),
        Step::FinishSlices { over } => Ok(finish_slices(view, over)),
        Step::Update { workload } => update(view, &workload),
        Step::Delete { stop, workloads } => Ok(delete(stop, workloads)),
        Step::SetGates { workload } => Ok(set_gates(view, workload)),
        Step::SetPriority { workload } => Ok(set_priority(view, workload)),
        Step::Settle { workload } => Ok(settle(workload)),
        Step::LetGo { workload } => Ok(vec![Effect::Release(workload)]),
        Step::Finish {
            workload,
            reason,
            message,
        } => Ok(finish(view, workload, reason, &message)),
        Step::Hold { workload } => {
            let draft = Draft::of(&workload, view.now);
            let draft = draft.cancelled(reasons::ON_HOLD, "Job is on hold");
            Ok(vec![status(workload, draft)])
        }
        Step::Unhold { workload } => {
            let draft = Draft::of(&workload, view.now);
            let text = "Workload no longer on hold; waiting for quota reservation";
            let draft = draft.cancelled(reasons::PENDING_EVALUATION, text);
            Ok(vec![status(workload, draft)])
        }
        Step::Reclaim { workload, pods } => Ok(vec![Effect::Reclaim { workload, pods }]),
        Step::PodsReady {
            workload,
            readiness,
        } => {
            let draft = Draft::of(&workload, view.now).pods_ready(
                readiness.is_ready(),
                readiness.reason(),
                readiness.message(),
            );
            Ok(vec![status(workload, draft)])
        }
        Step::Start { workload, infos } => start(view, workload, &infos),
        Step::Stop { message, infos } => Ok(vec![Effect::Stop { infos, message }]),
        Step::Release { workload } => {
            let draft = Draft::of(&workload, view.now).released();
            Ok(vec![status(workload, draft)])
        }
        Step::DeleteJob => {
            let note = "Deleted job: deactivation retention period expired".to_owned();
            Ok(vec![Effect::DeleteJob, tell("Deleted", note)])
        }
        Step::TellChecks { message } => {
            let note = truncate(&message, MAX_EVENT_NOTE);
            Ok(vec![tell("UpdatedAdmissionCheck", note)])
        }
        Step::Move { workload, queue } => Ok(vec![Effect::Change {
            workload,
            patch: json!({"spec": {"queueName": queue}}),
        }]),
    }
}

fn tell(reason: &'static str, note: String) -> Effect {
    Effect::Tell {
        warning: false,
        reason,
        note,
    }
}

fn warn(reason: &'static str, note: String) -> Effect {
    Effect::Tell {
        warning: true,
        reason,
        note,
    }
}

fn status(workload: Arc<Workload>, draft: Draft) -> Effect {
    Effect::Status {
        workload,
        status: Box::new(draft.done()),
    }
}

fn too_deep() -> Effect {
    let note = format!(
        "Terminated search for Kueue-managed Job because ancestor depth exceeded limit of {}",
        jobs::ancestors::LIMIT
    );
    warn("JobNestingTooDeep", note)
}

/// Only a class of ours is told about: its name is in a label that nothing else checks.
fn class_missing(view: &View<'_>) -> Option<Effect> {
    let name = view.job.workload_priority_class()?;
    Some(warn(
        "WorkloadPriorityClassNotFound",
        format!("WorkloadPriorityClass {name:?} not found"),
    ))
}

fn suspend(view: &View<'_>) -> Effects {
    let before = view.job.to_value()?;
    let mut job = view.job.again(before.clone())?;
    job.suspend();
    let change = merge::between(&before, &job.to_value()?);
    let note = "Kueue managed child job suspended".to_owned();
    let told = tell("Suspended", note);
    Ok(change.into_iter().map(Effect::Job).chain([told]).collect())
}

fn composed(view: &View<'_>) -> Result<Workload, EffectError> {
    let priority = view.priority.cloned().ok_or(EffectError::ClassMissing)?;
    Ok(jobs::workload(view.job, priority, &view.rules.workloads)?)
}

/// The slice with the size that the job has now.
fn resize(view: &View<'_>, workload: Arc<Workload>) -> Effects {
    let sets = jobs::construct::pod_sets(view.job, &view.rules.workloads)?;
    let mut wanted = workload.as_ref().clone();
    pods::resize(&mut wanted, &pods::counts(&sets));
    let sets = serde_json::to_value(&wanted.spec.pod_sets)?;
    let patch = json!({"spec": {"podSets": sets}});
    Ok(vec![Effect::Change { workload, patch }])
}

fn finish_slices(view: &View<'_>, over: Vec<Over>) -> Vec<Effect> {
    let finished = over.into_iter().map(|over| {
        let draft = Draft::of(&over.slice, view.now).finished(over.reason, over.message);
        status(over.slice, draft)
    });
    finished.collect()
}

fn create(view: &View<'_>) -> Effects {
    let mut workload = composed(view)?;
    if view.is_elastic() {
        slices::join(&mut workload, &slices::open(view.workloads))?;
    }
    let told = format!("Created Workload: {}", workload.key());
    Ok(vec![
        Effect::Create(Box::new(workload)),
        tell("CreatedWorkload", told),
    ])
}

fn adopt(view: &View<'_>, workload: Arc<Workload>) -> Effect {
    let mut owners = workload.metadata.owner_references.clone();
    owners
        .get_or_insert_default()
        .push(view.job.owner_reference());
    let mut patch = json!({"metadata": {"ownerReferences": owners}});
    if jobs::admission::names::is_label_value(view.job.uid()) {
        patch["metadata"]["labels"] = json!({labels::JOB_UID: view.job.uid()});
    }
    Effect::Change { workload, patch }
}

fn update(view: &View<'_>, workload: &Arc<Workload>) -> Effects {
    let mut wanted = composed(view)?;
    wanted.spec.active = workload.spec.active;
    let (old, new) = (
        serde_json::to_value(&workload.spec)?,
        serde_json::to_value(&wanted.spec)?,
    );
    let Some(spec) = merge::between(&old, &new) else {
        return Err(EffectError::NeverEquivalent(workload.key()));
    };
    let told = format!(
        "Updated not matching Workload for suspended job: {}",
        workload.key()
    );
    let change = Effect::Change {
        workload: workload.clone(),
        patch: json!({ "spec": spec }),
    };
    Ok(vec![change, tell("UpdatedWorkload", told)])
}

fn delete(
    stop: Option<(&'static str, Option<Vec<PodSetInfo>>)>,
    workloads: Vec<Arc<Workload>>,
) -> Vec<Effect> {
    let stop = stop.map(|(message, infos)| Effect::Stop {
        infos,
        message: message.to_owned(),
    });
    let of_workload = |workload: Arc<Workload>| {
        let told = format!("Deleted not matching Workload: {}", workload.key());
        let news = workload.metadata.deletion_timestamp.is_none();
        let told = news.then(|| tell("DeletedWorkload", told));
        [Effect::Delete(workload)].into_iter().chain(told)
    };
    let gone = workloads.into_iter().flat_map(of_workload);
    stop.into_iter().chain(gone).collect()
}

fn set_gates(view: &View<'_>, workload: Arc<Workload>) -> Vec<Effect> {
    let key = annotations::ADMISSION_GATED_BY;
    let wanted = view.job.annotation(key);
    let patch = json!({"metadata": {"annotations": {key: wanted}}});
    let told = format!(
        "Updated workload AdmissionGatedBy to {:?}",
        wanted.unwrap_or_default()
    );
    vec![
        Effect::Change { workload, patch },
        tell("UpdatedWorkload", told),
    ]
}

fn set_priority(view: &View<'_>, workload: Arc<Workload>) -> Vec<Effect> {
    let Some(priority) = view.priority else {
        return Vec::new();
    };
    let told = format!("Updated workload priority class: {}", workload.key());
    let patch = json!({"spec": {"priority": priority.value, "priorityClassRef": priority.class}});
    vec![
        Effect::Change { workload, patch },
        tell("UpdatedWorkload", told),
    ]
}

fn finished(workload: &Workload) -> Effect {
    let told = format!("Workload '{}' is declared finished", workload.key());
    tell("FinishedWorkload", told)
}

fn settle(workload: Arc<Workload>) -> Vec<Effect> {
    let told = workload.is_finished().then(|| finished(&workload));
    told.into_iter()
        .chain([Effect::Release(workload)])
        .collect()
}

/// Its end is told of a job that came to it; what Kueue could not start or keep is told by the condition.
fn finish(
    view: &View<'_>,
    workload: Arc<Workload>,
    reason: &'static str,
    message: &str,
) -> Vec<Effect> {
    let by_itself = matches!(reason, reasons::SUCCEEDED | reasons::FAILED);
    let told = by_itself.then(|| finished(&workload));
    let draft = Draft::of(&workload, view.now).finished(reason, message);
    [status(workload, draft)].into_iter().chain(told).collect()
}

fn start(view: &View<'_>, workload: Arc<Workload>, infos: &[PodSetInfo]) -> Effects {
    let before = view.job.to_value()?;
    let mut job = view.job.again(before.clone())?;
    match job.run_with(infos) {
        Ok(()) => {}
        // Nothing that anybody could wait for will mend this.
        Err(StartError::Inject(conflict)) => {
            let message = conflict.to_string();
            return Ok(finish(view, workload, reasons::FAILED_TO_START, &message));
        }
        Err(StartError::Job(error)) => return Err(error.into()),
    }
    let Some(patch) = merge::between(&before, &job.to_value()?) else {
        return Ok(Vec::new());
    };
    let status = workload.status.as_ref();
    let admission = status.and_then(|status| status.admission.as_ref());
    let queue = admission.map_or("", |admission| admission.cluster_queue.as_str());
    let told = format!("Admitted by clusterQueue {queue}");
    Ok(vec![Effect::Job(patch), tell("Started", told)])
}
