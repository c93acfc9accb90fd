//! How far a Workload has come, how long that took, and why it left again. Reference 4.9 and 4.10.

use jiff::{SignedDuration, Timestamp};

use crate::Condition;
use crate::conditions::{self, reasons, workload as types};
use crate::v1beta2::{DelayedTopologyRequestState, Workload, WorkloadStatus};

/// How far a Workload has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It waits for quota.
    Pending,
    /// It has quota, and something else keeps it from starting.
    QuotaReserved,
    /// It may run.
    Admitted,
    /// It is over.
    Finished,
}

impl Phase {
    /// The phase of a Workload by its conditions.
    #[must_use]
    pub fn of(workload: &Workload) -> Self {
        if workload.is_finished() {
            Self::Finished
        } else if workload.is_admitted() {
            Self::Admitted
        } else if workload.has_quota_reservation() {
            Self::QuotaReserved
        } else {
            Self::Pending
        }
    }

    /// Whether going from this phase to `next` gives quota back without finishing.
    #[must_use]
    pub fn loses_quota(self, next: Self) -> bool {
        matches!(self, Self::QuotaReserved | Self::Admitted) && next == Self::Pending
    }
}

/// Quota that an eviction gave back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released<'a> {
    /// The ClusterQueue it belonged to.
    pub cluster_queue: &'a str,
    /// Why the Workload had to leave.
    pub reason: &'a str,
    /// How long it took from the eviction until the quota was free.
    pub after: SignedDuration,
}

/// What a change gave back, if it is the end of an eviction.
#[must_use]
pub fn released<'a>(
    before: &'a Workload,
    after: &'a Workload,
    now: Timestamp,
) -> Option<Released<'a>> {
    if !Phase::of(before).loses_quota(Phase::of(after)) {
        return None;
    }
    let evicted = evicted(after)?;
    let admission = before.status.as_ref()?.admission.as_ref()?;
    let cluster_queue = admission.cluster_queue.as_str();
    (!cluster_queue.is_empty()).then(|| Released {
        cluster_queue,
        reason: &evicted.reason,
        after: now.duration_since(evicted.last_transition_time.0),
    })
}

/// The condition that says why a Workload has to leave, while that holds.
#[must_use]
pub fn evicted(workload: &Workload) -> Option<&Condition> {
    conditions::find(workload.conditions(), types::EVICTED)
        .filter(|condition| condition.status == "True")
}

/// Whether it has to leave because it was deactivated, by whomever.
#[must_use]
pub fn evicted_by_deactivation(workload: &Workload) -> bool {
    evicted(workload).is_some_and(|condition| condition.reason.starts_with(reasons::DEACTIVATED))
}

/// The condition of a Workload that has to leave for exactly this reason.
#[must_use]
pub fn evicted_for<'a>(workload: &'a Workload, reason: &str) -> Option<&'a Condition> {
    evicted(workload).filter(|condition| condition.reason == reason)
}

/// Whether its reservation was given back on purpose, and nobody is to try it again.
#[must_use]
pub fn is_on_hold(workload: &Workload) -> bool {
    conditions::find(workload.conditions(), types::QUOTA_RESERVED)
        .is_some_and(|found| found.status == "False" && found.reason == reasons::ON_HOLD)
}

/// How long a finished Workload ran, all admissions together.
#[must_use]
pub fn execution_time(workload: &Workload) -> Option<SignedDuration> {
    let since = |type_: &str| {
        conditions::find(workload.conditions(), type_)
            .filter(|found| found.status == "True")
            .map(|found| found.last_transition_time.0)
    };
    let (admitted, finished) = (since(types::ADMITTED)?, since(types::FINISHED)?);
    let status = workload.status.as_ref()?;
    let past = status.accumulated_past_execution_time_seconds.unwrap_or(0);
    Some(SignedDuration::from_secs(past.into()) + finished.duration_since(admitted))
}

/// How long it has been admitted; nothing if it is not, and never less than no time, whatever the clocks say.
#[must_use]
pub fn since_admission(workload: &Workload, now: Timestamp) -> Option<SignedDuration> {
    let admitted = conditions::find(workload.conditions(), types::ADMITTED)
        .filter(|found| found.status == "True")?;
    let since = now.duration_since(admitted.last_transition_time.0);
    Some(since.max(SignedDuration::ZERO))
}

/// Whether a reservation waits for its place in the topology, which is chosen after its checks.
#[must_use]
pub fn waits_for_topology(status: &WorkloadStatus) -> bool {
    let admission = status.admission.iter();
    let mut assignments = admission.flat_map(|admission| &admission.pod_set_assignments);
    assignments.any(|assignment| {
        assignment.topology_assignment.is_none()
            && assignment.delayed_topology_request == Some(DelayedTopologyRequestState::Pending)
    })
}
