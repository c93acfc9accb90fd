//! Workloads come, change and go: each one waits in a queue, or holds quota, or does neither.

mod observe;
mod shelf;

use std::sync::Arc;

use jiff::Timestamp;
use kueue_api::v1beta2::{self as api, WorkloadStatus};
use scheduler::{
    ClusterQueueName, LastAssignment, LocalQueueKey, PendingReason, Workload, WorkloadKey,
};

use crate::holdings::Holding;
use crate::pending::{Backoff, Place, Tracked, Waiting, shape};
use crate::{Affected, Cache, Options};

use observe::observe;

pub(crate) use shelf::Shelf;

/// What is known about one workload.
#[derive(Clone, Debug)]
pub(crate) struct WorkloadState {
    pub(crate) info: Arc<Workload>,
    pub(crate) status: WorkloadStatus,
    pub(crate) generation: Option<i64>,
    /// Whether it may stand in a queue at all.
    pub(crate) eligible: bool,
    pub(crate) finished: bool,
    /// The values by which metrics tell it apart.
    pub(crate) tracked: Tracked,
    /// Whether its owner wants it to run at all.
    pub(crate) active: bool,
    /// Changes when a parked workload deserves another chance.
    pub(crate) chances: u64,
    /// What that was when it was last taken to be tried.
    pub(crate) tried: u64,
    /// The ClusterQueue in whose queue it stands.
    pub(crate) queued_in: Option<ClusterQueueName>,
    pub(crate) holding: Option<Holding>,
    /// Set while quota is reserved here and not yet in the object.
    pub(crate) assumed: Option<Assumed>,
    pub(crate) last: Option<Arc<LastAssignment>>,
}

/// Quota that the cache reserved ahead of the object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assumed {
    /// The version of the object that says so, once it was written.
    pub(crate) written: Option<u64>,
    /// What the object says it holds, if it is given another place.
    pub(crate) before: Option<Holding>,
}

impl Cache {
    /// A Workload appeared or changed.
    pub fn apply_workload(&mut self, object: &api::Workload, now: Timestamp) -> Affected {
        let key = WorkloadKey::new(object.namespace(), object.name());
        let stood = self.stood(&key);
        let affected = self.take_in(object, now);
        self.keep_books(&key, stood.as_ref(), now);
        affected
    }

    fn take_in(&mut self, object: &api::Workload, now: Timestamp) -> Affected {
        let mut fresh = observe(object, &self.options, &self.surroundings);
        self.share_names(&mut fresh);
        let key = fresh.info.key.clone();
        let Some(mut before) = self.workloads.remove(&key) else {
            return self.insert(fresh, None, now);
        };
        let mut affected = self.names(&before);
        if before.info.local_queue != fresh.info.local_queue {
            self.leave_door(&before);
        }
        // Whoever was kept out by it may be worth more than it now.
        if let Some(holding) = before
            .holding
            .as_ref()
            .filter(|_| before.info.priority != fresh.info.priority)
        {
            affected.merge(self.retry(&holding.cluster_queue.clone()));
        }
        let still_assumed = before
            .assumed
            .as_ref()
            .is_some_and(|assumed| fresh.holding == assumed.before && assumed.outlives(object));
        if still_assumed && (fresh.eligible || fresh.holding.is_some()) {
            let (holding, assumed) = (before.holding.take(), before.assumed.take());
            self.by_local_queue
                .entry(fresh.info.local_queue.clone())
                .or_default()
                .insert(key);
            // What was booked when it was assumed stays booked.
            affected.merge(self.store(WorkloadState {
                holding,
                assumed,
                ..fresh
            }));
            return affected;
        }
        let released = self.release(&before, fresh.holding.as_ref());
        affected.wake |= released;
        affected.merge(self.insert(fresh, Some(*before), now));
        affected
    }

    /// A Workload is gone.
    pub fn delete_workload(&mut self, key: &WorkloadKey) -> Affected {
        let Some(before) = self.workloads.remove(key) else {
            return Affected::default();
        };
        let mut affected = self.names(&before);
        self.leave_queue(&before);
        self.leave_door(&before);
        self.second_passes.remove(key);
        self.refund(&before.info.local_queue, key);
        affected.wake |= self.release(&before, None);
        affected
    }

    /// To be called after the write of an admission, not of anything else, with the version of the object that carries it. Until one at least as new was applied, objects without it are old news.
    pub fn written(&mut self, key: &WorkloadKey, resource_version: &str) {
        if let Some(assumed) = self
            .workloads
            .get_mut(key)
            .and_then(|state| state.assumed.as_mut())
        {
            assumed.written = resource_version.parse().ok();
        }
    }

    /// Puts workloads again where they belong now, after the way to their ClusterQueue changed.
    pub(crate) fn requeue_all(&mut self, keys: &[WorkloadKey], now: Timestamp) -> Affected {
        let mut affected = Affected::default();
        for key in keys {
            let Some(state) = self.workloads.remove(key) else {
                continue;
            };
            let target = self.behind(&state.info.local_queue).cloned();
            let waits = state.holding.is_none() && state.eligible;
            if !waits || state.queued_in == target {
                self.workloads.insert(state);
                continue;
            }
            affected.merge(self.names(&state));
            self.leave_queue(&state);
            let state = WorkloadState {
                queued_in: None,
                ..*state
            };
            affected.merge(self.insert(state, None, now));
        }
        affected
    }

    fn insert(
        &mut self,
        fresh: WorkloadState,
        before: Option<WorkloadState>,
        now: Timestamp,
    ) -> Affected {
        // Whoever waits for the next second pass has to wait for this one too.
        let again = self.second_passes.note(&fresh, now);
        let mut affected = self.place(fresh, before, now);
        affected.wake |= again;
        affected
    }

    fn place(
        &mut self,
        fresh: WorkloadState,
        before: Option<WorkloadState>,
        now: Timestamp,
    ) -> Affected {
        let door = fresh.info.local_queue.clone();
        if fresh.finished {
            self.leave_door(&fresh);
        } else {
            self.by_local_queue
                .entry(door)
                .or_default()
                .insert(fresh.info.key.clone());
        }
        if fresh.holding.is_some() || !fresh.eligible {
            if let Some(before) = &before {
                self.leave_queue(before);
            }
            return self.insert_holding(fresh);
        }
        self.enqueue(fresh, before, now)
    }

    fn insert_holding(&mut self, fresh: WorkloadState) -> Affected {
        if let Some(holding) = &fresh.holding {
            self.take(holding);
        }
        self.store(fresh)
    }

    fn store(&mut self, fresh: WorkloadState) -> Affected {
        let affected = self.names(&fresh);
        self.show_to_preemptors(&fresh);
        self.workloads.insert(Box::new(fresh));
        affected
    }

    /// Puts a pending workload into its queue: where it was, or where its turn may come, or aside.
    fn enqueue(
        &mut self,
        mut fresh: WorkloadState,
        before: Option<WorkloadState>,
        now: Timestamp,
    ) -> Affected {
        let target = self.behind(&fresh.info.local_queue).cloned();
        if let Some(before) = before.filter(|before| before.holding.is_none()) {
            let stays =
                before.queued_in == target && before.info.local_queue == fresh.info.local_queue;
            if stays {
                fresh.last.clone_from(&before.last);
                fresh.tried = before.tried;
                fresh.queued_in = before.queued_in;
            } else {
                self.leave_queue(&before);
            }
        }
        let mut affected = Affected::default();
        if let Some(name) = target {
            affected.wake |= self.stand(&mut fresh, &name, now);
        }
        affected.merge(self.store(fresh));
        affected
    }

    /// Gives a workload a place in a queue, or lets the queue know that it changed. Returns whether its turn may come.
    pub(crate) fn stand(
        &mut self,
        fresh: &mut WorkloadState,
        name: &ClusterQueueName,
        now: Timestamp,
    ) -> bool {
        let waiting = fresh.waiting(&self.options);
        let Some(queue) = self.queues.get_mut(name) else {
            return false;
        };
        if fresh.queued_in.is_none() {
            let door = fresh.info.local_queue.clone();
            *self.standing.entry(door).or_default() += 1;
        }
        fresh.queued_in = Some(name.clone());
        queue.pending.push_or_update(waiting, now) == Place::Active
    }

    /// Takes a workload out of its queue.
    pub(crate) fn leave_queue(&mut self, state: &WorkloadState) {
        let Some(name) = &state.queued_in else {
            return;
        };
        if let Some(queue) = self.queues.get_mut(name) {
            queue.pending.remove(&state.info.key);
        }
        self.stands_no_longer(&state.info.local_queue);
    }

    /// One workload less of this LocalQueue stands in a queue.
    pub(crate) fn stands_no_longer(&mut self, door: &LocalQueueKey) {
        let Some(number) = self.standing.get_mut(door) else {
            return;
        };
        *number = number.saturating_sub(1);
        if *number == 0 {
            self.standing.remove(door);
        }
    }

    fn leave_door(&mut self, state: &WorkloadState) {
        if let Some(behind) = self.by_local_queue.get_mut(&state.info.local_queue) {
            behind.remove(&state.info.key);
            if behind.is_empty() {
                self.by_local_queue.remove(&state.info.local_queue);
            }
        }
    }

    /// Books quota.
    pub(crate) fn take(&mut self, holding: &Holding) {
        self.held
            .entry(holding.cluster_queue.clone())
            .or_default()
            .add(holding);
        self.held_locally
            .entry(holding.local_queue.clone())
            .or_default()
            .add(holding);
        self.tree.add(&holding.cluster_queue, &holding.usage);
        self.places.take(&holding.places);
    }

    /// Gives back what a workload held. Returns whether that may help others; it does not when `after` holds the same.
    pub(crate) fn release(&mut self, before: &WorkloadState, after: Option<&Holding>) -> bool {
        let Some(holding) = &before.holding else {
            return false;
        };
        if let Some(held) = self.held.get_mut(&holding.cluster_queue) {
            held.remove(holding);
        }
        if let Some(held) = self.held_locally.get_mut(&holding.local_queue) {
            held.remove(holding);
        }
        self.tree.remove(&holding.cluster_queue, &holding.usage);
        self.places.give_back(&holding.places);
        let key = &before.info.key;
        scheduler::forget_in(&mut self.admitted, &holding.cluster_queue, key);
        if after.is_some_and(|after| {
            after.usage == holding.usage
                && after.places == holding.places
                && after.cluster_queue == holding.cluster_queue
        }) {
            return false;
        }
        if let Some(queue) = self.queues.get_mut(&holding.cluster_queue) {
            queue.generation += 1;
        }
        self.touched
            .cluster_queues
            .insert(holding.cluster_queue.clone());
        if !holding.places.is_empty() {
            // The same nodes may be used by queues that share no quota with this one.
            let users = self.users(|flavor| holding.places.contains_key(flavor));
            self.touched.cluster_queues.extend(users);
            self.look_anew(|flavor| holding.places.contains_key(flavor));
        }
        true
    }

    /// The queues in whose status a workload shows.
    pub(crate) fn names(&self, state: &WorkloadState) -> Affected {
        let mut affected = Affected::default();
        affected.cluster_queues.extend(state.queued_in.clone());
        affected.cluster_queues.extend(
            state
                .holding
                .as_ref()
                .map(|holding| holding.cluster_queue.clone()),
        );
        affected.local_queues.insert(state.info.local_queue.clone());
        affected
    }

    /// Why a workload that stands aside was not even tried: an equal one was just found not to fit.
    pub(crate) fn bypassed(&self, state: &WorkloadState) -> Option<PendingReason> {
        let queue = self.queues.get(state.queued_in.as_ref()?)?;
        let untried = state.last.is_none();
        untried
            .then(|| queue.pending.no_fit_reason(&state.info.key))
            .flatten()
    }
}

impl WorkloadState {
    /// The workload as its queue sees it.
    pub(crate) fn waiting(&self, options: &Options) -> Waiting {
        let untried = |last: &Arc<LastAssignment>| last.has_untried_flavors();
        Waiting {
            workload: self.info.clone(),
            generation: self.generation.unwrap_or_default(),
            evaluated: None,
            chances: self.chances,
            shape: shape(&self.info, options),
            tracked: self.tracked.clone(),
            backoff: Backoff::of(&self.status),
            untried_flavors: self.last.as_ref().is_some_and(untried),
        }
    }
}

impl Assumed {
    /// Whether an object without the reservation is older than the reservation.
    fn outlives(&self, object: &api::Workload) -> bool {
        let version = object
            .metadata
            .resource_version
            .as_deref()
            .and_then(|version| version.parse::<u64>().ok());
        match (self.written, version) {
            (Some(written), Some(version)) => version <= written,
            _ => true,
        }
    }
}
