//! A scheduling cycle from the side of the cache: heads and a snapshot go out, admissions are assumed, the rest is settled.

use std::sync::Arc;

use jiff::Timestamp;
use kueue_api::conditions::{self, workload as types};
use scheduler::{
    Admission, ClusterQueueName, Entry, Head, LastAssignment, Outcome, Plan, Policy, Report,
    RequeueReason, Snapshot, WorkloadKey, run,
};

use crate::fair_shares::pop;
use crate::holdings::Holding;
use crate::pending::{Place, Requeue};
use crate::workloads::{Assumed, WorkloadState};
use crate::{Affected, Cache, Event, WorkloadPatch};

/// The input of one cycle. It does not hold the cache.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// The world as it was.
    pub snapshot: Snapshot,
    /// The workloads whose turn it is, one a ClusterQueue.
    pub heads: Vec<Head>,
    /// The operator's choices.
    pub policy: Policy,
    /// Counts the cycles.
    pub number: u64,
    /// When it began.
    pub now: Timestamp,
}

impl Cycle {
    /// Decides.
    #[must_use]
    pub fn run(&self) -> (Plan, Report) {
        run(
            self.snapshot.clone(),
            &self.heads,
            &self.policy,
            self.number,
            self.now,
        )
    }

    /// Decides, and lets go of the world as it was: what is booked next need not be kept apart from it.
    #[must_use]
    pub fn decide(self) -> (Plan, Report) {
        let Self {
            snapshot,
            heads,
            policy,
            number,
            now,
        } = self;
        run(snapshot, &heads, &policy, number, now)
    }
}

/// Why an admission could not be assumed. The workload has changed since the cycle began and is dealt with as it is now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssumeError {
    /// It was deleted, finished, deactivated or moved meanwhile.
    #[error("workload {0} no longer waits in the queue it was taken from")]
    NotWaiting(WorkloadKey),
    /// The ClusterQueue was deleted meanwhile.
    #[error("ClusterQueue {0} no longer exists")]
    NoClusterQueue(ClusterQueueName),
}

/// What follows from a report.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Settled {
    /// Statuses that may have changed.
    pub affected: Affected,
    /// What to write into the workloads that stay pending.
    pub patches: Vec<WorkloadPatch>,
    /// What to tell about workloads into which nothing is written.
    pub events: Vec<(WorkloadKey, Event)>,
}

impl Cache {
    /// Takes the heads of all active ClusterQueues. `None` if there are none: then there is nothing to do until something is applied.
    pub fn begin_cycle(&mut self, now: Timestamp) -> Option<Cycle> {
        let _ = self.give_chances(now);
        self.bring_back_outpaced(now);
        let mut heads = self.second_heads(now);
        if !self.waits_for_pods() {
            self.take_heads(&mut heads);
        }
        if heads.is_empty() {
            return None;
        }
        self.cycles += 1;
        self.began = now;
        let snapshot = self.snapshot();
        Some(Cycle {
            snapshot,
            heads,
            policy: self.options.policy(),
            number: self.cycles,
            now,
        })
    }

    /// One of each active ClusterQueue, in the order of their names.
    fn take_heads(&mut self, heads: &mut Vec<Head>) {
        let shares = self.options.shares();
        // Both are kept by name, so that nobody has to be looked for as long as they list the same.
        let mut beside = self.specs.values();
        for (name, queue) in &mut self.queues {
            let spec = beside.next().filter(|spec| spec.name == *name);
            let spec = spec.or_else(|| self.specs.get(name));
            if !spec.is_some_and(|spec| spec.active) {
                continue;
            }
            let Some(key) = pop(queue, shares, &self.ledger, &self.local_queues) else {
                continue;
            };
            let Some(state) = self.workloads.get_mut(&key) else {
                continue;
            };
            state.tried = state.chances;
            let generation = state.generation.unwrap_or_default();
            heads.push(Head {
                workload: state.info.clone(),
                cluster_queue: name.clone(),
                generation: queue.generation,
                namespace: self.namespaces.get(&key.namespace).cloned(),
                last: state.last.clone(),
                preemptor: queue.pending.preempts(&key, generation),
            });
        }
    }

    /// Whether a cycle would find something to do.
    #[must_use]
    pub fn has_work(&self) -> bool {
        let touched = !self.touched.cluster_queues.is_empty() || !self.touched.cohorts.is_empty();
        let ready = |(name, state): (&ClusterQueueName, &crate::cache::QueueState)| {
            state.pending.has_head() && self.specs.get(name).is_some_and(|queue| queue.active)
        };
        touched
            || !self.outpaced.is_empty()
            || self.queues.iter().any(ready) && !self.waits_for_pods()
    }

    /// Whether admission was stopped by workloads whose pods are not ready, and still is.
    fn waits_for_pods(&self) -> bool {
        self.stopped_by_pods && self.pods_not_ready()
    }

    /// Whether the pods of somebody who holds quota are not ready. Only asked for where it matters.
    #[must_use]
    pub fn pods_not_ready(&self) -> bool {
        let ready = |state: &WorkloadState| {
            conditions::is_true(&state.status.conditions, types::PODS_READY)
        };
        let mut holding = self.admitted.values().flat_map(|all| all.keys());
        self.options.block_admission
            && holding.any(|key| self.workloads.get(key).is_some_and(|state| !ready(state)))
    }

    /// Reserves in the cache what a plan admits, before it is written.
    ///
    /// # Errors
    /// When the workload or its ClusterQueue changed since the cycle began; nothing is reserved then.
    pub fn assume(&mut self, admission: &Admission) -> Result<Affected, AssumeError> {
        let key = &admission.workload;
        let queue = self.queues.get_mut(&admission.cluster_queue);
        let queue =
            queue.ok_or_else(|| AssumeError::NoClusterQueue(admission.cluster_queue.clone()))?;
        let not_waiting = || AssumeError::NotWaiting(key.clone());
        let state = self.workloads.get(key).ok_or_else(not_waiting)?;
        let again = self.second_passes.is_in_flight(key) && state.holding.is_some();
        let flies = state.queued_in.as_ref() == Some(&admission.cluster_queue)
            && queue.pending.place(key) == Some(Place::InFlight);
        let same = state.info.uid == admission.uid && state.info.shape == admission.shape;
        if !(flies || again) || !same {
            return Err(not_waiting());
        }
        queue.pending.remove(key);
        self.second_passes.remove(key);
        let mut state = self.workloads.remove(key).ok_or_else(not_waiting)?;
        let admitted = self.admits(admission, &state.status);
        if again {
            let _ = self.release(&state, state.holding.as_ref());
        } else {
            self.stands_no_longer(&state.info.local_queue);
        }
        let holding = Holding {
            cluster_queue: admission.cluster_queue.clone(),
            local_queue: admission.local_queue.clone(),
            usage: admission.usage.clone(),
            places: admission.places.clone(),
            admitted,
        };
        self.take(&holding);
        state.queued_in = None;
        state.last = None;
        state.assumed = Some(Assumed {
            written: None,
            before: state.holding.replace(holding),
        });
        self.show_to_preemptors(&state);
        let affected = self.names(&state);
        self.workloads.insert(state);
        if !again {
            self.charge(admission);
        }
        Ok(affected)
    }

    /// Undoes an assumption whose admission could not be written, and lets the workload try again.
    pub fn forget(&mut self, key: &WorkloadKey, now: Timestamp) -> Affected {
        let state = self.workloads.get(key);
        if state.is_none_or(|state| state.assumed.is_none()) {
            return Affected::default();
        }
        let Some(before) = self.workloads.remove(key) else {
            return Affected::default();
        };
        let mut affected = self.names(&before);
        affected.wake |= self.release(&before, None);
        let held = before
            .assumed
            .as_ref()
            .and_then(|assumed| assumed.before.clone());
        if held.is_none() {
            self.refund(&before.info.local_queue, key);
        }
        let mut state = Box::new(WorkloadState {
            holding: held.clone(),
            assumed: None,
            ..*before
        });
        if let Some(held) = held {
            self.take(&held);
            affected.wake |= self.second_passes.note(&state, now);
            self.show_to_preemptors(&state);
        } else if let Some(name) = self.behind(&state.info.local_queue).cloned() {
            affected.wake |= self.stand(&mut state, &name, now);
        }
        affected.merge(self.names(&state));
        self.workloads.insert(state);
        affected
    }

    /// Puts back what a cycle did not admit, and says what to write about it.
    pub fn settle(&mut self, report: &Report, now: Timestamp) -> Settled {
        let mut settled = Settled {
            affected: self.give_chances(now),
            patches: Vec::new(),
            events: Vec::new(),
        };
        let stopped = |entry: &Entry| entry.outcome == Outcome::WaitsForPods;
        self.stopped_by_pods = report.entries.iter().any(stopped);
        for entry in &report.entries {
            if matches!(entry.outcome, Outcome::NodesFailed(_)) {
                // It leaves; once its job has stopped it waits like any other.
                self.second_passes.remove(&entry.workload);
                continue;
            }
            if self.second_passes.is_in_flight(&entry.workload) {
                let (affected, event) = self.second_pass_failed(entry, now);
                settled.affected.merge(affected);
                settled.events.push((entry.workload.clone(), event));
                continue;
            }
            settled.patches.extend(self.pending_patch(entry, now));
            settled.affected.merge(self.settle_one(entry, now));
        }
        self.outpaced.clone_from(&report.outpaced);
        settled.affected.wake |= !self.outpaced.is_empty();
        settled
    }

    fn settle_one(&mut self, entry: &Entry, now: Timestamp) -> Affected {
        let mut affected = Affected::default();
        let Some(state) = self.workloads.get_mut(&entry.workload) else {
            return affected;
        };
        let Some(queue) = self.queues.get_mut(&entry.cluster_queue) else {
            return affected;
        };
        if state.queued_in.as_ref() != Some(&entry.cluster_queue)
            || queue.pending.place(&entry.workload) != Some(Place::InFlight)
        {
            return affected;
        }
        state.last = entry.last.clone().map(Arc::new);
        let requeue = Requeue {
            waiting: state.waiting(&self.options),
            reason: entry
                .requeue_reason()
                .unwrap_or(RequeueReason::FailedAfterNomination),
            told: entry.pending_reason(),
            changed: state.chances != state.tried,
        };
        if !requeue.waiting.untried_flavors {
            // It is tried again only when something has changed.
            let rests = |last: LastAssignment| Arc::new(last.in_another_world());
            state.last = entry.last.clone().map(rests);
        }
        let waits = waits_for_others(requeue.reason) && !requeue.changed;
        let requeued = queue.pending.requeue(requeue, now);
        let same_again = waits && requeued.place == Some(Place::Active);
        affected.wake |= queue.pending.has_head() && !same_again;
        for key in &requeued.bypassed {
            if let Some(state) = self.workloads.get_mut(key) {
                state.last = None;
            }
        }
        affected.workloads.extend(requeued.bypassed);
        affected.cluster_queues.insert(entry.cluster_queue.clone());
        affected
    }
}

/// Whether it goes first again and gets the same answer until somebody has left.
fn waits_for_others(reason: RequeueReason) -> bool {
    matches!(
        reason,
        RequeueReason::PendingPreemption
            | RequeueReason::PendingMigration
            | RequeueReason::PreemptionFailed
    )
}
