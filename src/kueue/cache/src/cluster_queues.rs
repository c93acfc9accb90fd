//! ClusterQueues come, change and go.

use std::sync::Arc;

use jiff::Timestamp;
use kueue_api::v1beta2::{self as api, StopPolicy};
use scheduler::{ClusterQueue, ClusterQueueName, Unsupported, WorkloadKey};

use crate::cache::{Observed, QueueState};
use crate::fair_shares::is_fair;
use crate::pending::Order;
use crate::{Affected, Cache, convert};

impl Cache {
    /// A ClusterQueue appeared or changed.
    pub fn apply_cluster_queue(&mut self, object: &api::ClusterQueue, now: Timestamp) -> Affected {
        let name = ClusterQueueName::from(object.name());
        let (mut queue, unreadable) = match convert::cluster_queue(object) {
            Ok(queue) => (queue, None),
            Err(error) => (without_quota(object), Some(error.to_string())),
        };
        self.flavor_names.share(&mut queue);
        let is_new = !self.queues.contains_key(&name);
        let state = self.queues.entry(name.clone()).or_default();
        describe(state, object, unreadable);
        state.pending.set_strategy(queue.strategy);
        state.asks_for = asks_for(&object.spec);
        let changed = self.replace_spec(queue);
        let mut affected = self.revise(std::slice::from_ref(&name));
        if changed {
            affected.wake = true;
            self.touched.cluster_queues.insert(name.clone());
        }
        if is_new {
            let waiting = self.workloads_through(&name);
            affected.merge(self.requeue_all(&waiting, now));
        }
        affected.cluster_queues.insert(name);
        affected
    }

    /// A ClusterQueue is gone. Its workloads wait for one of that name.
    pub fn delete_cluster_queue(&mut self, name: &ClusterQueueName) -> Affected {
        let mut affected = Affected::default();
        let Some(state) = self.queues.remove(name) else {
            return affected;
        };
        affected.workloads.extend(
            state
                .pending
                .in_order(Order::Plain)
                .into_iter()
                .map(|one| one.key().clone()),
        );
        if let Some(queue) = Arc::make_mut(&mut self.specs).remove(name) {
            self.touched.cohorts.extend(queue.cohort.clone());
        }
        self.stale_tree = true;
        for key in &affected.workloads {
            let Some(workload) = self.workloads.get_mut(key) else {
                continue;
            };
            workload.queued_in = None;
            workload.last = None;
            let door = workload.info.local_queue.clone();
            self.stands_no_longer(&door);
        }
        affected.local_queues.extend(self.doors_of(name));
        affected.wake = true;
        affected
    }

    /// Whether quota of it is still reserved, so that its finalizer has to stay.
    #[must_use]
    pub fn cluster_queue_in_use(&self, name: &ClusterQueueName) -> bool {
        self.held.get(name).is_some_and(|held| !held.is_empty())
    }

    /// What it asks for and does not get yet.
    #[must_use]
    pub fn unsupported(&self, name: &ClusterQueueName) -> Vec<Unsupported> {
        let Some(state) = self.queues.get(name) else {
            return Vec::new();
        };
        state.asks_for.clone()
    }

    /// Puts the new view in place. Returns whether parked workloads may have gained something by it.
    fn replace_spec(&mut self, queue: ClusterQueue) -> bool {
        let before = self.specs.get(&queue.name).cloned();
        let same_quota = before.as_ref().is_some_and(|before| {
            before.quotas == queue.quotas
                && before.cohort == queue.cohort
                && before.weight == queue.weight
        });
        if !same_quota {
            self.stale_tree = true;
            self.touched
                .cohorts
                .extend(before.as_ref().and_then(|before| before.cohort.clone()));
        }
        let active = before.as_ref().is_some_and(|before| before.active);
        let places_later = before.as_ref().map(|before| before.places_later.clone());
        let queue = ClusterQueue {
            active,
            places_later: places_later.unwrap_or_default(),
            ..queue
        };
        let changed = before.as_deref() != Some(&queue);
        if changed {
            Arc::make_mut(&mut self.specs).insert(queue.name.clone(), Arc::new(queue));
        }
        changed
    }

    /// Decides anew whether ClusterQueues are active, and notes what changed with that.
    pub(crate) fn revise(&mut self, names: &[ClusterQueueName]) -> Affected {
        let mut affected = Affected::default();
        for name in names {
            affected.cluster_queues.insert(name.clone());
            let active = self
                .readiness(name)
                .is_some_and(|readiness| readiness.active);
            let Some(queue) = self.specs.get(name) else {
                continue;
            };
            let places_later = self.places_later(queue);
            if queue.active == active && queue.places_later == places_later {
                continue;
            }
            if let Some(queue) = Arc::make_mut(&mut self.specs).get_mut(name) {
                let queue = Arc::make_mut(queue);
                (queue.active, queue.places_later) = (active, places_later);
            }
            self.touched.cluster_queues.insert(name.clone());
            affected.wake = true;
            affected.local_queues.extend(self.doors_of(name));
            affected.workloads.extend(self.workloads_through(name));
        }
        affected
    }

    /// The LocalQueues that lead to it.
    pub(crate) fn doors_of(&self, name: &ClusterQueueName) -> Vec<scheduler::LocalQueueKey> {
        let leads = self
            .local_queues
            .iter()
            .filter(|(_, state)| state.cluster_queue.as_ref() == Some(name));
        leads.map(|(key, _)| key.clone()).collect()
    }

    /// All workloads that were sent to it, pending or not.
    pub(crate) fn workloads_through(&self, name: &ClusterQueueName) -> Vec<WorkloadKey> {
        self.doors_of(name)
            .iter()
            .filter_map(|door| self.by_local_queue.get(door))
            .flatten()
            .cloned()
            .collect()
    }
}

fn describe(state: &mut QueueState, object: &api::ClusterQueue, unreadable: Option<String>) {
    state.stopped = object.spec.stop_policy() != StopPolicy::None;
    state.terminating = object.metadata.deletion_timestamp.is_some();
    state.fair = is_fair(&object.spec);
    state.checks = object.spec.admission_checks().to_vec();
    state.unreadable = unreadable;
    state.observed = Observed {
        generation: object.metadata.generation,
        conditions: object
            .status
            .as_ref()
            .map(|status| status.conditions.clone())
            .unwrap_or_default(),
    };
}

/// A ClusterQueue whose quotas cannot be read has none.
fn without_quota(object: &api::ClusterQueue) -> ClusterQueue {
    let mut bare = api::ClusterQueue::named(object.name());
    bare.spec.cohort_name = object.spec.cohort_name.clone();
    convert::cluster_queue(&bare).unwrap_or_else(|_| ClusterQueue::named(object.name()))
}

fn asks_for(spec: &api::ClusterQueueSpec) -> Vec<Unsupported> {
    let mut asked = Vec::new();
    if spec.concurrent_admission_policy.is_some() {
        asked.push(Unsupported::ConcurrentAdmission);
    }
    asked
}
