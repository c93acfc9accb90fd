//! What to write into a Workload, and which events to send, as values.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use kueue_api::Condition;
use kueue_api::conditions::{self, reasons, workload as types};
use kueue_api::v1beta2::{self as api, CheckState, WorkloadStatus};
use quantity::{Amount, Requests, ResourceName};
use scheduler::{
    Admission, Delayed, Entry, Outcome, PendingReason, PodSetAdmission, PodSetName, WorkloadKey,
    messages,
};

use crate::topology::encode;
use crate::{Cache, Draft, messages as texts};

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
        let (listed, answered) = self.checks_of(admission, &state.status);
        let placed = !admission.waits_for_places();
        match (listed, answered, placed) {
            (false, ..) => {}
            (_, true, true) => set(types::ADMITTED, true, reasons::ADMITTED, texts::ADMITTED),
            (_, false, _) => {
                let reason = reasons::UNSATISFIED_ADMISSION_CHECKS;
                set(types::ADMITTED, false, reason, texts::CHECKS_NOT_READY);
            }
            (_, true, false) => {
                let reason = reasons::PENDING_DELAYED_TOPOLOGY_REQUESTS;
                set(types::ADMITTED, false, reason, texts::PLACES_PENDING);
            }
        }
        let replaced = !std::mem::take(&mut status.unhealthy_nodes).is_empty();
        status.resource_requests.clear();
        let by_prefix = self.options.features.tas_encode_by_prefix;
        let pod_sets = admission.pod_sets.iter();
        status.admission = Some(api::Admission {
            cluster_queue: admission.cluster_queue.to_string(),
            pod_set_assignments: pod_sets
                .map(|pod_set| assignment(pod_set, by_prefix))
                .collect(),
        });
        let note = messages::reserved_event(admission, waited(admission, now));
        let reserved = conditions::is_true(&state.status.conditions, types::QUOTA_RESERVED);
        let first = event(EventKind::Normal, reasons::QUOTA_RESERVED, note);
        let mut events: Vec<_> = Some(first).filter(|_| !reserved).into_iter().collect();
        if listed && answered && placed && !replaced {
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
        let reason = entry.pending_reason()?;
        let state = self
            .workloads
            .get(&entry.workload)
            .filter(|state| state.holding.is_none())?;
        let message = messages::pending(entry)?;
        let granular = self.options.features.unadmitted_workloads_observability;
        let reason = match reason {
            reason if granular => messages::pending_reason(reason),
            PendingReason::WaitingForPodsReady => reasons::WAITING,
            _ => reasons::PENDING,
        };
        let mut status = owned(&state.status);
        let generation = state.generation;
        let mut changed = say_pending(&mut status, reason, &message, generation, granular, now);
        if entry.outcome == Outcome::PreemptionGated {
            let before = status.conditions.clone();
            let draft = Draft::from_status(status, generation, now);
            status = draft.blocked_on_gates(&message).done();
            changed |= status.conditions != before;
        }
        let requests = told_requests(&self.considered(entry));
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

impl Cache {
    /// Whether all checks that an admission needs are listed in the status, and whether all that are listed have answered well.
    pub(crate) fn checks_of(&self, admission: &Admission, status: &WorkloadStatus) -> (bool, bool) {
        let queue = self.queues.get(&admission.cluster_queue);
        let rules = queue.into_iter().flat_map(|queue| &queue.checks);
        let taken = |name: &String| {
            let mut pod_sets = admission.pod_sets.iter();
            pod_sets.any(|pod_set| {
                pod_set
                    .flavors
                    .values()
                    .any(|flavor| flavor.as_str() == name)
            })
        };
        let mut needed =
            rules.filter(|rule| rule.on_flavors.is_empty() || rule.on_flavors.iter().any(taken));
        let listed = needed.all(|rule| {
            let mut checks = status.admission_checks.iter();
            checks.any(|check| check.name == rule.name)
        });
        (listed, all_checks_ready(status))
    }

    /// What an entry asked for when it was tried: its pods too, where the ClusterQueue counts them. Reference section 4.20.
    fn considered(&self, entry: &Entry) -> Vec<(PodSetName, Requests)> {
        let mut requests = entry.requests.clone();
        let (pods, tried) = (
            ResourceName::pods(),
            !matches!(entry.outcome, Outcome::Refused(_)),
        );
        let spec = self.specs.get(&entry.cluster_queue);
        let counts = spec.is_some_and(|spec| spec.group_of(&pods).is_some());
        let asking = self.workloads.get(&entry.workload);
        for pod_set in asking.iter().flat_map(|state| &state.info.pod_sets) {
            let own = requests.iter_mut().find(|(name, _)| *name == pod_set.name);
            if let Some((_, own)) = own.filter(|_| tried && counts) {
                own.set(pods.clone(), Amount::new(pod_set.count));
            }
        }
        requests
    }

    /// Whether a workload may start once this is written.
    pub(crate) fn admits(&self, admission: &Admission, status: &WorkloadStatus) -> bool {
        let (listed, answered) = self.checks_of(admission, status);
        listed && answered && !admission.waits_for_places()
    }
}

/// Whole seconds, at most what the reference's clock can count.
fn waited(admission: &Admission, now: Timestamp) -> i64 {
    let longest = i128::from(i64::MAX);
    let nanoseconds = now.duration_since(admission.waiting_since).as_nanos();
    let seconds = (nanoseconds.min(longest) + 500_000_000).div_euclid(1_000_000_000);
    i64::try_from(seconds).unwrap_or(i64::MAX)
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
pub(crate) fn owned(status: &WorkloadStatus) -> WorkloadStatus {
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

pub(crate) fn event(kind: EventKind, reason: &str, note: String) -> Event {
    Event {
        kind,
        reason: reason.to_owned(),
        note,
    }
}

fn assignment(pod_set: &PodSetAdmission, by_prefix: bool) -> api::PodSetAssignment {
    api::PodSetAssignment {
        name: pod_set.name.to_string(),
        flavors: pod_set
            .flavors
            .iter()
            .map(|(resource, flavor)| (resource.to_string(), flavor.to_string()))
            .collect(),
        resource_usage: quantities(&pod_set.usage),
        count: i32::try_from(pod_set.count).ok(),
        topology_assignment: pod_set.place.as_ref().map(|place| encode(place, by_prefix)),
        delayed_topology_request: pod_set.delayed.map(|delayed| match delayed {
            Delayed::Pending => api::DelayedTopologyRequestState::Pending,
            Delayed::Ready => api::DelayedTopologyRequestState::Ready,
        }),
    }
}

/// What pod sets ask for, as the status tells it.
#[must_use]
pub fn told_requests(requests: &[(PodSetName, Requests)]) -> Vec<api::PodSetRequest> {
    let told = requests.iter();
    told.map(|(name, requests)| pod_set_request(name, requests))
        .collect()
}

fn pod_set_request(name: &PodSetName, requests: &Requests) -> api::PodSetRequest {
    api::PodSetRequest {
        name: name.to_string(),
        resources: quantities(requests),
    }
}

pub(crate) fn quantities(requests: &Requests) -> BTreeMap<String, kueue_api::Quantity> {
    let text = |(resource, amount): (&ResourceName, &Amount)| {
        (
            resource.to_string(),
            kueue_api::Quantity(amount.to_quantity(resource).to_string()),
        )
    };
    requests.iter().map(text).collect()
}
