//! Transitions of a Workload's status, as the reference writes them. Each is a function of the status before; none
//! decides whether it should happen.

use std::collections::BTreeSet;

use jiff::Timestamp;
use kueue_api::conditions::{self, condition, find, reasons, workload as types};
use kueue_api::v1beta2::{
    Admission, AdmissionCheckState, CheckState, EvictionStats, GatePosition, PodSetRequest,
    PreemptionGate, PreemptionGateState, ReclaimablePod, RequeueState, Workload, WorkloadStatus,
};
use kueue_api::workload::phase;

/// A Workload's status on its way to a new state.
#[derive(Clone, Debug)]
pub struct Draft {
    status: WorkloadStatus,
    generation: Option<i64>,
    now: Timestamp,
    words: Words,
}

impl Draft {
    /// Starts from the status as it is.
    #[must_use]
    pub fn of(workload: &Workload, now: Timestamp) -> Self {
        let status = workload.status.clone().unwrap_or_default();
        Self::from_status(status, workload.metadata.generation, now)
    }

    /// Starts from a status of an object of this generation.
    #[must_use]
    pub fn from_status(status: WorkloadStatus, generation: Option<i64>, now: Timestamp) -> Self {
        Self {
            status,
            generation,
            now,
            words: Words::Granular,
        }
    }

    /// Says as much as these words say.
    #[must_use]
    pub fn in_words(self, words: Words) -> Self {
        Self { words, ..self }
    }

    /// The new status.
    #[must_use]
    pub fn done(self) -> WorkloadStatus {
        self.status
    }

    fn set(&mut self, type_: &str, status: bool, reason: &str, message: &str) {
        conditions::set(
            &mut self.status.conditions,
            condition(type_, status, reason, message, self.generation, self.now),
        );
    }

    /// A condition in so many words.
    #[must_use]
    pub fn saying(mut self, type_: &str, status: bool, reason: &str, message: &str) -> Self {
        self.set(type_, status, reason, message);
        self
    }

    /// Quota is reserved; what was true before is not any more.
    #[must_use]
    pub fn reserved(mut self, admission: Admission) -> Self {
        let message = format!("Quota reserved in ClusterQueue {}", admission.cluster_queue);
        self.set(
            types::QUOTA_RESERVED,
            true,
            reasons::QUOTA_RESERVED,
            &message,
        );
        for past in [
            types::EVICTED,
            types::PREEMPTED,
            types::BLOCKED_ON_PREEMPTION_GATES,
        ] {
            self.past(past);
        }
        self.status.admission = Some(admission);
        self.status.resource_requests.clear();
        self
    }

    /// Quota is reserved, and no check stands between that and admission.
    #[must_use]
    pub fn admitted(self, admission: Admission) -> Self {
        let text = "The workload is admitted";
        self.reserved(admission)
            .saying(types::ADMITTED, true, reasons::ADMITTED, text)
    }

    /// `Admitted` says what follows from the reservation, the checks and the topology; time spent admitted is added up.
    #[must_use]
    pub fn synced(mut self, words: Words) -> Self {
        let holds = |type_: &str| conditions::is_true(&self.status.conditions, type_);
        let known = |type_: &str| find(&self.status.conditions, type_).is_some();
        let (was, reserved) = (holds(types::ADMITTED), holds(types::QUOTA_RESERVED));
        let mut checks = self.status.admission_checks.iter();
        let checked = checks.all(|check| check.state == CheckState::Ready);
        let placed = !phase::waits_for_topology(&self.status);
        let is = reserved && checked && placed;
        let unsaid = !known(types::QUOTA_RESERVED) && !known(types::ADMITTED);
        let nothing_new = match words {
            Words::Legacy => was == is,
            Words::Granular => unsaid,
            Words::Explicit => false,
        };
        if nothing_new {
            return self;
        }
        if was && !is {
            self.add_execution_time();
        }
        let (reason, message) = admitted_words(words, reserved, checked, placed);
        self.saying(types::ADMITTED, is, reason, message)
    }

    /// Not to be tried before this time, unless a later one is known already; `counted` as one more attempt.
    #[must_use]
    pub fn not_before(mut self, at: Timestamp, counted: bool) -> Self {
        let state = self.status.requeue_state.get_or_insert_default();
        if state.requeue_at.as_ref().is_none_or(|known| known.0 < at) {
            state.requeue_at = Some(kueue_api::Time(at));
        }
        if counted {
            state.count = Some(state.count.unwrap_or_default().saturating_add(1));
        }
        self
    }

    /// These pods no longer need their quota.
    #[must_use]
    pub fn giving_back(mut self, pods: Vec<ReclaimablePod>) -> Self {
        self.status.reclaimable_pods = pods;
        self
    }

    /// What was true before this reservation is not any more, and says so.
    fn past(&mut self, type_: &str) {
        let Some(before) = find(&self.status.conditions, type_).filter(|c| c.status == "True")
        else {
            return;
        };
        let message = format!("Previously: {}", before.message);
        self.set(type_, false, reasons::QUOTA_RESERVED, &message);
    }

    /// It waits, and why.
    #[must_use]
    pub fn pending(mut self, reason: &str, message: &str) -> Self {
        let reason = self.words.reason(reason);
        self.set(types::QUOTA_RESERVED, false, reason, message);
        let words = self.words;
        self.synced(words)
    }

    /// What it asked for when it was considered.
    #[must_use]
    pub fn asking(mut self, requests: Vec<PodSetRequest>) -> Self {
        self.status.resource_requests = requests;
        self
    }

    /// It has to leave for another one, by which right.
    #[must_use]
    pub fn preempted(mut self, reason: &str, message: &str) -> Self {
        // The reference does not say which version of the spec this is about.
        let preempted = condition(types::PREEMPTED, true, reason, message, None, self.now);
        conditions::set(&mut self.status.conditions, preempted);
        self
    }

    /// It would have to preempt, and may not yet.
    #[must_use]
    pub fn blocked_on_gates(mut self, message: &str) -> Self {
        let reason = reasons::PREEMPTION_GATED;
        self.set(types::BLOCKED_ON_PREEMPTION_GATES, true, reason, message);
        self
    }

    /// The whole seconds of this admission are past now.
    fn add_execution_time(&mut self) {
        let Some(admitted) = find(&self.status.conditions, types::ADMITTED) else {
            return;
        };
        let seconds = self
            .now
            .duration_since(admitted.last_transition_time.0)
            .as_secs();
        let past = self.status.accumulated_past_execution_time_seconds;
        let all = i64::from(past.unwrap_or_default()).saturating_add(seconds.max(0));
        self.status.accumulated_past_execution_time_seconds =
            Some(i32::try_from(all).unwrap_or(i32::MAX));
    }

    /// It has to leave; its quota is kept until its job has stopped.
    #[must_use]
    pub fn evicted(mut self, eviction: &Eviction) -> Self {
        self.set(types::EVICTED, true, &eviction.reason(), &eviction.message);
        self.status.cluster_name = None;
        self.status.nominated_cluster_names.clear();
        self.status.unhealthy_nodes.clear();
        for check in self
            .status
            .admission_checks
            .iter_mut()
            .filter(|c| c.state != CheckState::Pending)
        {
            check.retry_count = (check.state == CheckState::Retry)
                .then(|| check.retry_count.unwrap_or_default() + 1);
            check.message = format!(
                "Reset to Pending after eviction. Previously: {}",
                check.state
            );
            check.state = CheckState::Pending;
            check.last_transition_time = Some(kueue_api::Time(self.now));
            check.pod_set_updates.clear();
        }
        if conditions::is_true(&self.status.conditions, types::BLOCKED_ON_PREEMPTION_GATES) {
            let (reason, message) = (eviction.reason(), &eviction.message);
            self.set(types::BLOCKED_ON_PREEMPTION_GATES, false, &reason, message);
        }
        for gate in &mut self.status.preemption_gates {
            gate.position = GatePosition::Closed;
            gate.last_transition_time = Some(kueue_api::Time(self.now));
        }
        self.count(eviction);
        if eviction.reason == reasons::DEACTIVATED {
            conditions::remove(&mut self.status.conditions, types::DEACTIVATION_TARGET);
            self.status.requeue_state = None;
        }
        self
    }

    fn count(&mut self, eviction: &Eviction) {
        let evictions = &mut self
            .status
            .scheduling_stats
            .get_or_insert_default()
            .evictions;
        match evictions
            .iter_mut()
            .find(|e| e.reason == eviction.reason && e.underlying_cause == eviction.cause)
        {
            Some(known) => known.count += 1,
            None => evictions.push(EvictionStats {
                reason: eviction.reason.to_owned(),
                underlying_cause: eviction.cause.clone(),
                count: 1,
            }),
        }
    }

    /// Its job has stopped after an eviction: quota is free again.
    #[must_use]
    pub fn released(mut self) -> Self {
        let Some(evicted) = find(&self.status.conditions, types::EVICTED).cloned() else {
            return self;
        };
        let at_once = matches!(
            evicted.reason.as_str(),
            reasons::PREEMPTED | reasons::NODE_FAILURES
        );
        self.set(types::REQUEUED, at_once, &evicted.reason, &evicted.message);
        self.status.admission = None;
        self.pending(reasons::PENDING_EVALUATION, &evicted.message)
    }

    /// A reservation that never became an admission is taken back.
    #[must_use]
    pub fn cancelled(mut self, reason: &str, message: &str) -> Self {
        self.status.admission = None;
        self.pending(reason, message)
    }

    /// It may be tried again.
    #[must_use]
    pub fn requeued(self, reason: &str, message: &str) -> Self {
        self.retried(reason, message).no_backoff()
    }

    /// It may be tried again once it has waited long enough.
    #[must_use]
    pub fn retried(mut self, reason: &str, message: &str) -> Self {
        self.set(types::REQUEUED, true, reason, message);
        self
    }

    /// It need not wait any longer; how often it was put off is remembered.
    #[must_use]
    pub fn no_backoff(mut self) -> Self {
        if let Some(state) = self.status.requeue_state.as_mut() {
            state.requeue_at = None;
        }
        let counted = |state: &RequeueState| state.count.is_some();
        self.status.requeue_state = self.status.requeue_state.filter(counted);
        self
    }

    /// Nothing is known any more about when it may be tried again, or how often it was.
    #[must_use]
    pub fn without_requeue_state(mut self) -> Self {
        self.status.requeue_state = None;
        self
    }

    /// It is not to be tried, until somebody says otherwise.
    #[must_use]
    pub fn put_off(mut self, reason: &str, message: &str) -> Self {
        self.set(types::REQUEUED, false, reason, message);
        self
    }

    /// The gates before preemption are those of the spec; new ones are closed.
    #[must_use]
    pub fn gated_as(mut self, gates: &[PreemptionGate]) -> Self {
        let states = &mut self.status.preemption_gates;
        states.retain(|state| gates.iter().any(|gate| gate.name == state.name));
        for gate in gates {
            if !states.iter().any(|state| state.name == gate.name) {
                states.push(PreemptionGateState {
                    name: gate.name.clone(),
                    position: GatePosition::Closed,
                    last_transition_time: Some(kueue_api::Time(self.now)),
                });
            }
        }
        self
    }

    /// The checks are these, in the order of their names; those that are new wait for an answer.
    #[must_use]
    pub fn checked_by(mut self, names: &BTreeSet<String>) -> Self {
        let states = &mut self.status.admission_checks;
        states.retain(|state| names.contains(&state.name));
        for name in names {
            if !states.iter().any(|state| state.name == *name) {
                states.push(AdmissionCheckState {
                    name: name.clone(),
                    state: CheckState::Pending,
                    last_transition_time: Some(kueue_api::Time(self.now)),
                    ..AdmissionCheckState::default()
                });
            }
        }
        states.sort_by(|one, other| one.name.cmp(&other.name));
        self
    }

    /// It is over. What was said about its end first stays.
    #[must_use]
    pub fn finished(mut self, reason: &str, message: &str) -> Self {
        if conditions::is_true(&self.status.conditions, types::FINISHED) {
            return self;
        }
        self.set(types::FINISHED, true, reason, message);
        self
    }

    /// It is to be deactivated, and why.
    #[must_use]
    pub fn targeted(mut self, cause: &str, message: &str) -> Self {
        self.set(types::DEACTIVATION_TARGET, true, cause, message);
        self
    }

    /// The same, and the time it ran is forgotten.
    #[must_use]
    pub fn deactivating(mut self, cause: &str, message: &str) -> Self {
        self.status.accumulated_past_execution_time_seconds = None;
        self.targeted(cause, message)
    }

    /// Whether its pods are ready.
    #[must_use]
    pub fn pods_ready(mut self, ready: bool, reason: &str, message: &str) -> Self {
        self.set(types::PODS_READY, ready, reason, message);
        self
    }
}

/// How much is said about a Workload that is not admitted, by the gates `UnadmittedWorkloadsObservability` and
/// `UnadmittedWorkloadsExplicitStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// Nothing until it was admitted once.
    Legacy,
    /// The reason, once its quota was spoken of.
    Granular,
    /// The reason, from the beginning.
    Explicit,
}

impl Words {
    /// The reason of a condition `QuotaReserved` that is False, in these words.
    #[must_use]
    pub fn reason(self, granular: &str) -> &str {
        match granular {
            _ if self != Self::Legacy => granular,
            reasons::MISCONFIGURED | reasons::SUSPENDED => reasons::INADMISSIBLE,
            reasons::WAITING_FOR_PODS_READY => reasons::WAITING,
            reasons::ADMISSION_GATED | reasons::ON_HOLD | reasons::INADMISSIBLE => granular,
            _ => reasons::PENDING,
        }
    }
}

const NO_RESERVATION: &str = "The workload has no reservation";

fn admitted_words(
    words: Words,
    reserved: bool,
    checked: bool,
    placed: bool,
) -> (&'static str, &'static str) {
    match (reserved, checked, placed) {
        (true, true, true) => (reasons::ADMITTED, "The workload is admitted"),
        (false, false, _) if words == Words::Legacy => (
            reasons::NO_RESERVATION_UNSATISFIED_CHECKS,
            "The workload has no reservation and not all checks ready",
        ),
        (false, _, _) => (reasons::NO_RESERVATION, NO_RESERVATION),
        (true, false, _) if words == Words::Legacy => (
            reasons::UNSATISFIED_CHECKS,
            "The workload has not all checks ready",
        ),
        (true, false, _) => (
            reasons::UNSATISFIED_ADMISSION_CHECKS,
            "The workload has not all checks ready",
        ),
        (true, true, false) => (
            reasons::PENDING_DELAYED_TOPOLOGY_REQUESTS,
            "There are pending delayed topology requests",
        ),
    }
}

/// Why a Workload has to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eviction {
    /// `Preempted`, `Deactivated`, …
    pub reason: &'static str,
    /// What made Kueue deactivate it, or what it waited for; empty otherwise.
    pub cause: String,
    pub message: String,
}

impl Eviction {
    #[must_use]
    pub fn new(reason: &'static str, message: &str) -> Self {
        Self {
            reason,
            cause: String::new(),
            message: message.to_owned(),
        }
    }

    /// A deactivation: by a person, or by Kueue for a cause.
    #[must_use]
    pub fn deactivation(workload: &Workload) -> Self {
        let target =
            find(workload.conditions(), types::DEACTIVATION_TARGET).filter(|c| c.status == "True");
        match target {
            Some(target) => Self {
                reason: reasons::DEACTIVATED,
                cause: target.reason.clone(),
                message: format!("The workload is deactivated due to {}", target.message),
            },
            None => Self::new(reasons::DEACTIVATED, "The workload is deactivated"),
        }
    }

    /// Reason of the condition. Only that of a deactivation tells the cause.
    #[must_use]
    pub fn reason(&self) -> String {
        if self.cause.is_empty() || self.reason != reasons::DEACTIVATED {
            self.reason.to_owned()
        } else {
            format!("{}{}", reasons::DEACTIVATED_DUE_TO, self.cause)
        }
    }

    /// Reason of the event.
    #[must_use]
    pub fn event(&self) -> String {
        format!("EvictedDueTo{}", self.reason())
    }
}
