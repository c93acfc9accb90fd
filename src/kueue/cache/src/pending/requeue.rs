//! What becomes of a workload that was tried and not admitted: back to where its turn may come, or aside, and with it all that would get
//! the same answer.

use jiff::Timestamp;
use scheduler::{PendingReason, Preemptor, RequeueReason, Strategy, WorkloadKey};

use super::{PendingQueue, Place, Preempting, Waiting};

/// A workload that goes back.
#[derive(Clone, Debug)]
pub struct Requeue {
    /// The workload as it is now.
    pub waiting: Waiting,
    /// Why it was not admitted.
    pub reason: RequeueReason,
    /// What its condition says; equal workloads that are set aside with it will say the same.
    pub told: Option<PendingReason>,
    /// Whether it changed while it was tried, in a way that may help it.
    pub changed: bool,
}

/// Where it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requeued {
    /// Its place; `None` if it was not needed because the workload is here already.
    pub place: Option<Place>,
    /// Equal ones that were set aside with it.
    pub bypassed: Vec<WorkloadKey>,
}

impl PendingQueue {
    /// Puts a workload back after it was tried.
    pub fn requeue(&mut self, requeue: Requeue, now: Timestamp) -> Requeued {
        let Requeue {
            mut waiting,
            reason,
            told,
            changed,
        } = requeue;
        let key = waiting.key().clone();
        let mut bypassed = Vec::new();
        if let Some(flown) = self.in_flight.take_if(|flying| *flying.key() == key) {
            waiting.evaluated = flown.evaluated;
        }
        self.remember_preemptor(&waiting, reason);
        let another = changed || self.returned_meanwhile() || waiting.untried_flavors;
        let returns = !waiting.backoff.waits(now) && (insists(self.strategy, reason) || another);
        let place = match (self.place(&key), returns) {
            (None, true) => {
                let place = self.activate(waiting);
                self.blocked =
                    self.strategy == Strategy::StrictFifo && is_final(reason) && !another;
                Some(place)
            }
            (Some(Place::Parked), true) => self.take(&key).map(|parked| self.activate(parked)),
            (None, false) => {
                let shape = waiting.shape.filter(|_| !changed);
                let place = self.park(waiting);
                if let Some(shape) = shape {
                    bypassed = self.bypass(shape, reason, told);
                }
                Some(place)
            }
            (Some(_), _) => None,
        };
        Requeued { place, bypassed }
    }

    /// Whoever waits for evictions keeps the place in front, so that nobody takes what is being freed.
    fn remember_preemptor(&mut self, waiting: &Waiting, reason: RequeueReason) {
        let key = waiting.key();
        let generation = waiting.evaluated.unwrap_or_default();
        match reason {
            RequeueReason::PendingPreemption | RequeueReason::PendingMigration => {
                self.preemptor = Some(Preempting {
                    key: key.clone(),
                    generation,
                    sticky: self.strategy == Strategy::BestEffortFifo,
                });
            }
            RequeueReason::FailedAfterNomination
                if self.preempts(key, generation) != Preemptor::No =>
            {
                let times = self.times_overtaken(key, generation) + 1;
                self.overtaken.insert(key.clone(), (generation, times));
            }
            _ => {}
        }
    }

    /// Whether parked workloads came back while the present head was being tried.
    fn returned_meanwhile(&self) -> bool {
        self.returned_at >= self.pops
    }

    /// Sets aside all that would get the same answer as one that does not fit. A strict queue waits for its head instead.
    pub fn bypass(
        &mut self,
        shape: u64,
        reason: RequeueReason,
        told: Option<PendingReason>,
    ) -> Vec<WorkloadKey> {
        let hopeless = matches!(
            reason,
            RequeueReason::NoFit | RequeueReason::PreemptionNoCandidates
        );
        if !hopeless || self.strategy == Strategy::StrictFifo {
            return Vec::new();
        }
        let told = told.unwrap_or(PendingReason::PendingEvaluation);
        self.failed_shapes.insert(shape, told);
        let mut moved = Vec::new();
        for rank in self.active.of_shape(shape) {
            if let Some(mut waiting) = self.active.remove(&rank) {
                moved.push(waiting.key().clone());
                waiting.untried_flavors = false;
                self.parked.insert(rank, waiting);
            }
        }
        moved
    }

    /// Whether an equal workload was found not to fit since parked ones last came back.
    pub(super) fn failed(&self, shape: u64) -> bool {
        self.strategy == Strategy::BestEffortFifo && self.failed_shapes.contains_key(&shape)
    }

    /// Why a workload that is set aside would not fit: because an equal one did not.
    #[must_use]
    pub fn no_fit_reason(&self, key: &WorkloadKey) -> Option<PendingReason> {
        let parked = self.place(key) == Some(Place::Parked);
        let shape = self.get(key).filter(|_| parked)?.shape?;
        self.failed_shapes.get(&shape).copied()
    }
}

/// Whether a workload keeps its place although it was not admitted.
fn insists(strategy: Strategy, reason: RequeueReason) -> bool {
    match strategy {
        Strategy::StrictFifo => reason != RequeueReason::NamespaceMismatch,
        Strategy::BestEffortFifo => matches!(
            reason,
            RequeueReason::FailedAfterNomination
                | RequeueReason::PendingPreemption
                | RequeueReason::PendingMigration
                | RequeueReason::PreemptionFailed
        ),
    }
}

/// Whether trying again at once could only give the same answer.
fn is_final(reason: RequeueReason) -> bool {
    matches!(
        reason,
        RequeueReason::Generic | RequeueReason::NoFit | RequeueReason::PreemptionNoCandidates
    )
}
