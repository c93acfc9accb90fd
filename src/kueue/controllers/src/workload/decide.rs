//! What a Workload needs next, from it and from the queues it goes through. One step at a time: the caller carries the
//! step out and asks again.

mod pending;

use std::time::Duration;

use jiff::Timestamp;
use kueue_api::conditions::{find, is_true, reasons, workload as types};
use kueue_api::names::{RESOURCE_IN_USE_FINALIZER, labels};
use kueue_api::v1beta2::{StopPolicy, Workload, WorkloadStatus};

use cache::PendingReason;
use cache::{Draft, Eviction};

/// A queue as far as this decision depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueView {
    pub stop: StopPolicy,
    pub deleting: bool,
}

/// What the object that owns the Workload is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Nobody owns it, or somebody that is not a job kind of ours.
    None,
    /// It is there.
    Present,
    /// It was there and is gone.
    Gone,
}

/// Everything the decision rests on.
#[derive(Clone, Debug)]
pub struct View<'a> {
    pub workload: &'a Workload,
    pub owner: Owner,
    pub local_queue: Option<QueueView>,
    /// Name of the ClusterQueue: that of the admission, else that of the LocalQueue.
    pub cluster_queue_name: &'a str,
    pub cluster_queue: Option<QueueView>,
    /// What keeps it from being tried.
    pub obstacle: Option<PendingReason>,
    /// Value of the WorkloadPriorityClass it names, if that exists.
    pub class_value: Option<i32>,
    /// How long finished Workloads are kept.
    pub keep_finished: Option<Duration>,
    pub now: Timestamp,
}

/// The next step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing until something changes, or until this much later.
    Rest(Option<Duration>),
    /// Let it go: nobody needs it to stay.
    DropFinalizer,
    /// Delete it; its owner is gone.
    Delete,
    /// Delete it; it has been kept long enough.
    DeleteExpired,
    /// Its owner left it behind.
    Orphaned(Box<WorkloadStatus>),
    /// Its priority class has another value.
    SetPriority(i32),
    /// Write `spec.active = false`.
    Deactivate,
    /// It has run too long.
    TimeIsUp {
        seconds: i32,
        status: Box<WorkloadStatus>,
    },
    Evict {
        eviction: Eviction,
        status: Box<WorkloadStatus>,
    },
    /// Write this status; nothing else is to be said.
    Write(Box<WorkloadStatus>),
}

impl Step {
    /// Its name in the log.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Rest(_) => "rest",
            Self::DropFinalizer => "drop-finalizer",
            Self::Delete => "delete",
            Self::DeleteExpired => "delete-expired",
            Self::Orphaned(_) => "orphaned",
            Self::SetPriority(_) => "set-priority",
            Self::Deactivate => "deactivate",
            Self::TimeIsUp { .. } => "time-is-up",
            Self::Evict { .. } => "evict",
            Self::Write(_) => "write",
        }
    }
}

/// Decides.
#[must_use]
pub fn next(view: &View<'_>) -> Step {
    let workload = view.workload;
    if workload.metadata.deletion_timestamp.is_some() {
        return deleting(view);
    }
    if workload.is_finished() {
        return finished(view);
    }
    ownership(view)
        .or_else(|| {
            view.class_value
                .filter(|value| workload.spec.priority != Some(*value))
                .map(Step::SetPriority)
        })
        .or_else(|| activity(view))
        .or_else(|| {
            if workload.has_quota_reservation() {
                reserved(view)
            } else {
                pending::waiting(view)
            }
        })
        .unwrap_or_else(|| Step::Rest(alarm(view)))
}

fn has_finalizer(workload: &Workload) -> bool {
    workload
        .metadata
        .finalizers
        .iter()
        .flatten()
        .any(|name| name == RESOURCE_IN_USE_FINALIZER)
}

/// The job's reconciler stops a present owner first.
fn deleting(view: &View<'_>) -> Step {
    if has_finalizer(view.workload) && view.owner != Owner::Present {
        Step::DropFinalizer
    } else {
        Step::Rest(None)
    }
}

fn finished(view: &View<'_>) -> Step {
    if has_finalizer(view.workload) && view.owner == Owner::None {
        return Step::DropFinalizer;
    }
    if view.owner == Owner::Gone {
        return Step::Delete;
    }
    let since = find(view.workload.conditions(), types::FINISHED).map(|c| c.last_transition_time.0);
    match (view.keep_finished, since) {
        (Some(keep), Some(since)) => match remaining(keep, since, view.now) {
            None => Step::DeleteExpired,
            left => Step::Rest(left),
        },
        _ => Step::Rest(None),
    }
}

/// What is left of `all`, counted from `since`.
fn remaining(all: Duration, since: Timestamp, now: Timestamp) -> Option<Duration> {
    let gone = Duration::try_from(now.duration_since(since)).unwrap_or_default();
    all.checked_sub(gone).filter(|left| !left.is_zero())
}

fn ownership(view: &View<'_>) -> Option<Step> {
    let meta = &view.workload.metadata;
    let made_for_a_job = meta
        .labels
        .as_ref()
        .is_some_and(|l| l.contains_key(labels::JOB_UID));
    let left_behind = view.owner == Owner::None
        && made_for_a_job
        && meta.owner_references.as_ref().is_none_or(Vec::is_empty);
    if left_behind {
        let status = draft(view).finished(
            reasons::OWNER_NOT_FOUND,
            "The workload's owner no longer exists",
        );
        return Some(Step::Orphaned(Box::new(status.done())));
    }
    (view.owner == Owner::Gone).then_some(Step::Delete)
}

fn draft(view: &View<'_>) -> Draft {
    Draft::of(view.workload, view.now)
}

/// Deactivation and its end.
fn activity(view: &View<'_>) -> Option<Step> {
    let workload = view.workload;
    if workload.is_active() {
        if is_true(workload.conditions(), types::DEACTIVATION_TARGET) {
            return Some(Step::Deactivate);
        }
        return None;
    }
    let told = find(workload.conditions(), types::EVICTED)
        .is_some_and(|c| c.status == "True" && c.reason.starts_with(reasons::DEACTIVATED));
    if told {
        settle_deactivated(view)
    } else {
        Some(evict(view, Eviction::deactivation(workload)))
    }
}

/// A deactivated Workload that holds nothing says so.
fn settle_deactivated(view: &View<'_>) -> Option<Step> {
    if view.workload.has_quota_reservation() {
        return None;
    }
    let message = find(view.workload.conditions(), types::EVICTED)
        .map_or("The workload is deactivated", |c| c.message.as_str());
    let status = draft(view).pending(reasons::DEACTIVATED, message);
    Some(changed(view, status.done()).unwrap_or(Step::Rest(None)))
}

fn evict(view: &View<'_>, eviction: Eviction) -> Step {
    let status = draft(view).evicted(&eviction).done();
    Step::Evict {
        eviction,
        status: Box::new(status),
    }
}

fn reserved(view: &View<'_>) -> Option<Step> {
    let workload = view.workload;
    if workload.is_evicted() {
        return None;
    }
    drained(view).or_else(|| {
        if workload.is_admitted() {
            overdue(view)
        } else {
            unheld(view)
        }
    })
}

/// `HoldAndDrain` of either queue.
fn drained(view: &View<'_>) -> Option<Step> {
    let drains =
        |queue: Option<QueueView>| queue.is_some_and(|q| q.stop == StopPolicy::HoldAndDrain);
    if drains(view.cluster_queue) {
        return Some(evict(
            view,
            Eviction::new(
                reasons::CLUSTER_QUEUE_STOPPED,
                "The ClusterQueue is stopped",
            ),
        ));
    }
    drains(view.local_queue).then(|| {
        evict(
            view,
            Eviction::new(reasons::LOCAL_QUEUE_STOPPED, "The LocalQueue is stopped"),
        )
    })
}

/// A reservation without admission does not survive its queues.
fn unheld(view: &View<'_>) -> Option<Step> {
    let queue = view.workload.spec.queue_name();
    let name = view.cluster_queue_name;
    let held = |q: QueueView| q.stop != StopPolicy::None;
    let (reason, message) = match (view.local_queue, view.cluster_queue) {
        (None, _) => (
            reasons::MISCONFIGURED,
            format!("LocalQueue {queue} is terminating or missing"),
        ),
        (Some(local), _) if local.deleting => (
            reasons::MISCONFIGURED,
            format!("LocalQueue {queue} is terminating or missing"),
        ),
        (Some(local), _) if held(local) => {
            (reasons::SUSPENDED, format!("LocalQueue {queue} is stopped"))
        }
        (_, None) => (
            reasons::MISCONFIGURED,
            format!("ClusterQueue {name} is terminating or missing"),
        ),
        (_, Some(cluster)) if cluster.deleting => (
            reasons::MISCONFIGURED,
            format!("ClusterQueue {name} is terminating or missing"),
        ),
        (_, Some(cluster)) if held(cluster) => (
            reasons::SUSPENDED,
            format!("ClusterQueue {name} is stopped"),
        ),
        _ => return None,
    };
    Some(Step::Write(Box::new(
        draft(view).cancelled(reason, &message).done(),
    )))
}

fn overdue(view: &View<'_>) -> Option<Step> {
    let seconds = view.workload.spec.maximum_execution_time_seconds?;
    if execution_left(view, seconds).is_some() {
        return None;
    }
    let status = draft(view).deactivating(
        reasons::MAXIMUM_EXECUTION_TIME_EXCEEDED,
        "exceeding the maximum execution time",
    );
    Some(Step::TimeIsUp {
        seconds,
        status: Box::new(status.done()),
    })
}

fn execution_left(view: &View<'_>, seconds: i32) -> Option<Duration> {
    let past = view
        .workload
        .status
        .as_ref()
        .and_then(|s| s.accumulated_past_execution_time_seconds)
        .unwrap_or_default();
    let all = Duration::from_secs(u64::try_from(seconds.saturating_sub(past)).unwrap_or_default());
    let admitted = find(view.workload.conditions(), types::ADMITTED)?;
    remaining(all, admitted.last_transition_time.0, view.now)
}

fn changed(view: &View<'_>, status: WorkloadStatus) -> Option<Step> {
    let before = view.workload.status.clone().unwrap_or_default();
    (before != status).then(|| Step::Write(Box::new(status)))
}

/// When to look again although nothing changed.
fn alarm(view: &View<'_>) -> Option<Duration> {
    if view.workload.is_admitted() && !view.workload.is_evicted() {
        return view
            .workload
            .spec
            .maximum_execution_time_seconds
            .and_then(|seconds| execution_left(view, seconds));
    }
    pending::backoff_left(view)
}
