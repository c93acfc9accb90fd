//! What a Workload needs next, from it and from the queues it goes through. One step at a time: the caller carries the step out and
//! asks again. Nothing is written and no time is read here. Reference sections 4.8–4.13, 4.19 and 5.1.

mod activity;
mod checks;
mod devices;
mod ending;
mod gates;
mod pods_ready;
mod queues;
mod rules;
mod waiting;

use std::time::Duration;

use cache::{Draft, Event, EventKind, Eviction, Obstacles};
use jiff::Timestamp;
use kueue_api::conditions::{find, workload as types};
use kueue_api::v1beta2::{ClusterQueue, LocalQueue, Workload, WorkloadStatus};

pub use pods_ready::{Cause, Late, late};
pub use rules::{Devices, PodsReady, Rules};

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
    pub local_queue: Option<&'a LocalQueue>,
    /// Name of the ClusterQueue: that of the admission, else that of the LocalQueue.
    pub cluster_queue_name: &'a str,
    pub cluster_queue: Option<&'a ClusterQueue>,
    /// What keeps it from being tried.
    pub obstacles: Obstacles,
    /// Value of the WorkloadPriorityClass it names, if that exists.
    pub class_value: Option<i32>,
    /// What the operator chose.
    pub rules: &'a Rules,
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
    /// Its priority class has another value.
    SetPriority(i32),
    /// Write `spec.active = false`.
    Deactivate,
    /// Write a status.
    Write(Box<Change>),
}

/// A status to write, and what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub status: WorkloadStatus,
    /// What to tell once it was written.
    pub events: Vec<Event>,
    /// Why it has to leave, if it begins to.
    pub evicted: Option<Eviction>,
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
            Self::SetPriority(_) => "set-priority",
            Self::Deactivate => "deactivate",
            Self::Write(change) if change.evicted.is_some() => "evict",
            Self::Write(_) => "write",
        }
    }
}

/// Decides.
#[must_use]
pub fn next(view: &View<'_>) -> Step {
    if let Some(step) = ending::ending(view) {
        return step;
    }
    match gates::preemption(view) {
        Some(status) => told(view, status, living),
        None => living(view),
    }
}

fn living(view: &View<'_>) -> Step {
    ending::finished(view)
        .or_else(|| waiting::as_checks_ask(view))
        .or_else(|| devices::refused(view))
        .or_else(|| priority(view))
        .or_else(|| activity::activity(view))
        .or_else(|| waiting::local_queue_restarted(view))
        .or_else(|| gates::admission(view))
        .or_else(|| waiting::cluster_queue_restarted(view))
        .or_else(|| checks::listed(view))
        .unwrap_or_else(|| match waiting::conditions(view) {
            Some(status) => told(view, status, reserved),
            None => reserved(view),
        })
}

fn priority(view: &View<'_>) -> Option<Step> {
    view.class_value
        .filter(|value| view.workload.spec.priority != Some(*value))
        .map(Step::SetPriority)
}

/// A status that has to be written, and what follows from it, in one write.
fn told(view: &View<'_>, status: WorkloadStatus, then: fn(&View<'_>) -> Step) -> Step {
    let told = Workload {
        status: Some(status.clone()),
        ..view.workload.clone()
    };
    let begins = told.is_admitted() && !view.workload.is_admitted();
    let events = begins.then(|| admitted_event(&told, view.now));
    let told = View {
        workload: &told,
        ..view.clone()
    };
    match then(&told) {
        Step::Write(mut change) => {
            change.events.splice(0..0, events);
            Step::Write(change)
        }
        _ => write(status, events.into_iter().collect()),
    }
}

fn admitted_event(workload: &Workload, now: Timestamp) -> Event {
    let admission = workload.status.as_ref().and_then(|s| s.admission.as_ref());
    let queue = admission.map_or("", |admission| admission.cluster_queue.as_str());
    let since = find(workload.conditions(), types::QUOTA_RESERVED)
        .map_or(now, |reserved| reserved.last_transition_time.0);
    let waited = now.duration_since(since).as_secs_f64();
    let note =
        format!("Admitted by ClusterQueue {queue}, wait time since reservation was {waited:.0}s");
    event(EventKind::Normal, "Admitted", note)
}

/// Whoever holds quota leaves when a check, a queue, its pods or its time say so.
fn reserved(view: &View<'_>) -> Step {
    if !view.workload.has_quota_reservation() {
        return Step::Rest(None);
    }
    let leaves = checks::answered(view).or_else(|| queues::stopped(view));
    if let Some(step) = leaves {
        return step;
    }
    let (ready, time) = (pods_ready::timeout(view), queues::execution_time(view));
    match (ready, time) {
        (Err(step), _) | (Ok(_), Err(step)) => step,
        (Ok(ready), Ok(time)) => Step::Rest(ready.into_iter().chain(time).min()),
    }
}

fn draft(view: &View<'_>) -> Draft {
    Draft::of(view.workload, view.now).in_words(view.rules.words)
}

fn write(status: WorkloadStatus, events: Vec<Event>) -> Step {
    Step::Write(Box::new(Change {
        status,
        events,
        evicted: None,
    }))
}

fn event(kind: EventKind, reason: &str, note: String) -> Event {
    Event {
        kind,
        reason: reason.to_owned(),
        note,
    }
}

/// A write, if it changes anything.
fn changed(view: &View<'_>, status: WorkloadStatus) -> Option<Step> {
    let before = view.workload.status.as_ref();
    let same = before.map_or(status == WorkloadStatus::default(), |before| {
        *before == status
    });
    (!same).then(|| write(status, Vec::new()))
}

/// It has to leave. Nobody is told of a Workload that never had anything to leave.
fn evict(eviction: Eviction, draft: Draft) -> Step {
    let status = draft.evicted(&eviction).done();
    let had = status.admission.is_some();
    let told = had.then(|| {
        event(
            EventKind::Normal,
            &eviction.event(),
            eviction.message.clone(),
        )
    });
    Step::Write(Box::new(Change {
        status,
        events: told.into_iter().collect(),
        evicted: Some(eviction),
    }))
}

/// What is left of a time that began then; nothing when it is over.
fn remaining(all: Duration, since: Timestamp, now: Timestamp) -> Option<Duration> {
    let gone = Duration::try_from(now.duration_since(since)).unwrap_or_default();
    all.checked_sub(gone).filter(|left| !left.is_zero())
}
