//! What to write into a Workload, and which events to send, as values.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use kueue_api::Condition;
use kueue_api::conditions::{self, reasons, workload as types};
use kueue_api::v1beta2::{self as api, CheckState, WorkloadStatus};
use quantity::Requests;
use scheduler::{Admission, Entry, PodSetAdmission, PodSetName, WorkloadKey, messages};

use crate::{Cache, messages as texts};

/// How an event is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// As it should be.
    Normal,
    /// Something to look at.
    Warning,
}

/// An event about a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// How it is shown.
    pub kind: EventKind,
    /// Its reason.
    pub reason: String,
    /// Its note, not yet cut to length.
    pub note: String,
}

/// A new status for one Workload.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadPatch {
    /// Which one.
    pub key: WorkloadKey,
    /// The object's UID.
    pub uid: Arc<str>,
    /// All that the admission field manager says about it.
    pub status: WorkloadStatus,
    /// What to tell once it was written.
    pub events: Vec<Event>,
}

impl Cache {
    /// The status of a workload that an assumed admission belongs into; `None` if it is not assumed any more.
    #[must_use]
    pub fn admission_patch(&self, admission: &Admission, now: Timestamp) -> Option<WorkloadPatch> {
        let state = self.workloads.get(&admission.workload);
        let state = state.filter(|state| state.assumed.is_some())?;
        let mut status = owned(&state.status);
        let mut set = |type_: &str, holds: bool, reason: &str, message: &str| {
            conditions::set(
                &mut status.conditions,
                conditions::condition(type_, holds, reason, message, state.generation, now),
            );
        };
        set(
            types::QUOTA_RESERVED,
            true,
            reasons::QUOTA_RESERVED,
            &messages::reserved(&admission.cluster_queue),
        );
        for type_ in [
            types::EVICTED,
            types::PREEMPTED,
            types::BLOCKED_ON_PREEMPTION_GATES,
        ] {
            if let Some(before) = conditions::find(&state.status.conditions, type_)
                .filter(|found| found.status == "True")
            {
                set(
                    type_,
                    false,
                    reasons::QUOTA_RESERVED,
                    &texts::previously(&before.message),
                );
            }
        }
        let checked = all_checks_ready(&state.status);
        if checked {
            set(types::ADMITTED, true, reasons::ADMITTED, texts::ADMITTED);
        } else {
            let text = texts::CHECKS_NOT_READY;
            set(
                types::ADMITTED,
                false,
                reasons::UNSATISFIED_ADMISSION_CHECKS,
                text,
            );
        }
        status.resource_requests.clear();
        status.admission = Some(api::Admission {
            cluster_queue: admission.cluster_queue.to_string(),
            pod_set_assignments: admission.pod_sets.iter().map(assignment).collect(),
        });
        let milliseconds = now.duration_since(admission.waiting_since).as_millis();
        let waited = i64::try_from((milliseconds + 500).div_euclid(1000)).unwrap_or(i64::MAX);
        let note = messages::reserved_event(admission, waited);
        let mut events = vec![event(EventKind::Normal, reasons::QUOTA_RESERVED, note)];
        if checked {
            let note = messages::admitted_event(&admission.cluster_queue);
            events.push(event(EventKind::Normal, reasons::ADMITTED, note));
        }
        Some(WorkloadPatch {
            key: admission.workload.clone(),
            uid: admission.uid.clone(),
            status,
            events,
        })
    }

    /// The status of a workload that was not admitted; `None` if there is nothing new to say.
    #[must_use]
    pub fn pending_patch(&self, entry: &Entry, now: Timestamp) -> Option<WorkloadPatch> {
        let state = self
            .workloads
            .get(&entry.workload)
            .filter(|state| state.holding.is_none())?;
        let (message, reason) = (messages::pending(entry)?, entry.pending_reason()?);
        let granular = self.options.features.unadmitted_workloads_observability;
        let reason = if granular {
            messages::pending_reason(reason)
        } else {
            reasons::PENDING
        };
        let mut status = owned(&state.status);
        let changed = say_pending(
            &mut status,
            reason,
            &message,
            state.generation,
            granular,
            now,
        );
        let requests: Vec<_> = entry
            .requests
            .iter()
            .map(|(name, requests)| pod_set_request(name, requests))
            .collect();
        if !changed && status.resource_requests == requests {
            return None;
        }
        status.resource_requests = requests;
        status.admission = None;
        let events = vec![event(EventKind::Warning, reason, message)];
        Some(WorkloadPatch {
            key: entry.workload.clone(),
            uid: state.info.uid.clone(),
            status,
            events,
        })
    }
}

/// Whether no admission check keeps a workload from starting.
pub(crate) fn all_checks_ready(status: &WorkloadStatus) -> bool {
    status
        .admission_checks
        .iter()
        .all(|check| check.state == CheckState::Ready)
}

/// QuotaReserved=False, and Admitted=False beside it.
fn say_pending(
    status: &mut WorkloadStatus,
    reason: &str,
    message: &str,
    generation: Option<i64>,
    admitted: bool,
    now: Timestamp,
) -> bool {
    let reserved = conditions::condition(
        types::QUOTA_RESERVED,
        false,
        reason,
        message,
        generation,
        now,
    );
    let mut changed = conditions::set(&mut status.conditions, reserved);
    if admitted {
        let text = texts::NO_RESERVATION;
        let condition = conditions::condition(
            types::ADMITTED,
            false,
            reasons::NO_RESERVATION,
            text,
            generation,
            now,
        );
        changed |= conditions::set(&mut status.conditions, condition);
    }
    changed
}

/// The part of a status that belongs to admission. Other field managers own the pods given back.
fn owned(status: &WorkloadStatus) -> WorkloadStatus {
    let mut owned = WorkloadStatus {
        reclaimable_pods: Vec::new(),
        ..status.clone()
    };
    let others = [types::WAITING_FOR_REPLACEMENT_PODS];
    owned
        .conditions
        .retain(|condition: &Condition| !others.contains(&condition.type_.as_str()));
    owned
}

fn event(kind: EventKind, reason: &str, note: String) -> Event {
    Event {
        kind,
        reason: reason.to_owned(),
        note,
    }
}

fn assignment(pod_set: &PodSetAdmission) -> api::PodSetAssignment {
    api::PodSetAssignment {
        name: pod_set.name.to_string(),
        flavors: pod_set
            .flavors
            .iter()
            .map(|(resource, flavor)| (resource.to_string(), flavor.to_string()))
            .collect(),
        resource_usage: quantities(&pod_set.usage),
        count: i32::try_from(pod_set.count).ok(),
        ..api::PodSetAssignment::default()
    }
}

fn pod_set_request(name: &PodSetName, requests: &Requests) -> api::PodSetRequest {
    api::PodSetRequest {
        name: name.to_string(),
        resources: quantities(requests),
    }
}

pub(crate) fn quantities(requests: &Requests) -> BTreeMap<String, kueue_api::Quantity> {
    let text = |(resource, amount): (&quantity::ResourceName, &quantity::Amount)| {
        (
            resource.to_string(),
            kueue_api::Quantity(amount.to_quantity(resource).to_string()),
        )
    };
    requests.iter().map(text).collect()
}
