//! Who waits where, for people and for metrics.

use std::collections::BTreeMap;

use quantity::Requests;
use scheduler::{ClusterQueueName, CohortName, Holder, LocalQueueKey, WorkloadKey};

use crate::Cache;
use crate::pending::Pending;

/// One pending workload and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingWorkload {
    /// Which one.
    pub key: WorkloadKey,
    /// The LocalQueue it came through.
    pub local_queue: LocalQueueKey,
    /// Its effective priority.
    pub priority: i64,
    /// Its place in the ClusterQueue, from zero.
    pub position_in_cluster_queue: usize,
    /// Its place among those of its LocalQueue, from zero.
    pub position_in_local_queue: usize,
}

/// How many workloads of a ClusterQueue are in which state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ClusterQueueCounts {
    /// Pending, and their turn may come.
    pub pending_active: usize,
    /// Pending, and set aside.
    pub pending_inadmissible: usize,
    /// Holding quota.
    pub reserving: usize,
    /// Admitted.
    pub admitted: usize,
}

impl Cache {
    /// The pending workloads of a ClusterQueue in the order of the queue; `None` if there is no such ClusterQueue.
    #[must_use]
    pub fn pending_workloads(&self, name: &ClusterQueueName) -> Option<Vec<PendingWorkload>> {
        let mut local: BTreeMap<LocalQueueKey, usize> = BTreeMap::new();
        let ordered = self.with_order(name, |queue, order| {
            let ordered = queue.in_order(order).into_iter();
            ordered.cloned().collect::<Vec<_>>()
        })?;
        let placed = ordered.iter().enumerate().map(|(position, waiting)| {
            let next = local.entry(waiting.door().clone()).or_default();
            *next += 1;
            PendingWorkload {
                key: waiting.key().clone(),
                local_queue: waiting.door().clone(),
                priority: waiting.workload.priority,
                position_in_cluster_queue: position,
                position_in_local_queue: *next - 1,
            }
        });
        Some(placed.collect())
    }

    /// One page of the pending workloads of a ClusterQueue.
    #[must_use]
    pub fn pending_page(
        &self,
        name: &ClusterQueueName,
        offset: usize,
        limit: usize,
    ) -> Option<Vec<PendingWorkload>> {
        let all = self.pending_workloads(name)?;
        Some(all.into_iter().skip(offset).take(limit).collect())
    }

    /// One page of the pending workloads of a LocalQueue; `None` if there is no such LocalQueue, or it leads nowhere.
    #[must_use]
    pub fn pending_page_of(
        &self,
        door: &LocalQueueKey,
        offset: usize,
        limit: usize,
    ) -> Option<Vec<PendingWorkload>> {
        let state = self.local_queues.get(door)?;
        let all = self.pending_workloads(state.cluster_queue.as_ref()?)?;
        let own = all.into_iter().filter(|one| one.local_queue == *door);
        Some(own.skip(offset).take(limit).collect())
    }

    /// How many workloads of a ClusterQueue are in which state.
    #[must_use]
    pub fn counts(&self, name: &ClusterQueueName) -> Option<ClusterQueueCounts> {
        let pending = self.queues.get(name)?.pending.pending();
        let held = self.held.get(name);
        let number = |count: Option<i32>| usize::try_from(count.unwrap_or(0)).unwrap_or(0);
        Some(ClusterQueueCounts {
            pending_active: pending.active,
            pending_inadmissible: pending.parked,
            reserving: number(held.map(|held| held.reserving)),
            admitted: number(held.map(|held| held.admitted)),
        })
    }

    /// How many different shapes wait in which state.
    #[must_use]
    pub fn pending_shapes(&self, name: &ClusterQueueName) -> Option<Pending> {
        Some(self.queues.get(name)?.pending.shapes())
    }

    /// How many wait in which state, by the values of the labels that metrics tell apart.
    #[must_use]
    pub fn pending_breakdown(&self, name: &ClusterQueueName) -> BTreeMap<Vec<String>, Pending> {
        let queue = self.queues.get(name);
        queue
            .map(|queue| queue.pending.breakdown())
            .unwrap_or_default()
    }

    /// The cohorts above a ClusterQueue, the nearest first.
    #[must_use]
    pub fn cohorts_above(&self, name: &ClusterQueueName) -> Vec<CohortName> {
        let Some(id) = self.tree.cluster_queue(name) else {
            return Vec::new();
        };
        let above = self.tree.path_up(id).skip(1);
        let named = above.filter_map(|id| match self.tree.holder(id) {
            Holder::Cohort(name) => Some(name.clone()),
            Holder::ClusterQueue(_) => None,
        });
        named.collect()
    }

    /// The LocalQueue of every workload of a ClusterQueue that is set aside.
    #[must_use]
    pub fn inadmissible(&self, name: &ClusterQueueName) -> Vec<LocalQueueKey> {
        let parked = self
            .queues
            .get(name)
            .into_iter()
            .flat_map(|queue| queue.pending.parked());
        let known = parked.filter_map(|key| self.workloads.get(key));
        known.map(|state| state.info.local_queue.clone()).collect()
    }

    /// The workloads of a ClusterQueue whose turn may come, or those that are set aside, in order.
    #[must_use]
    pub fn waiting(&self, name: &ClusterQueueName, aside: bool) -> Vec<WorkloadKey> {
        let Some(queue) = self.queues.get(name) else {
            return Vec::new();
        };
        if aside {
            queue.pending.parked().cloned().collect()
        } else {
            queue.pending.active().cloned().collect()
        }
    }

    /// Whether quota is reserved for a workload, in its object or ahead of it.
    #[must_use]
    pub fn holds_quota(&self, key: &WorkloadKey) -> bool {
        self.workloads
            .get(key)
            .is_some_and(|state| state.holding.is_some())
    }

    /// What all pending workloads of a ClusterQueue ask for together.
    #[must_use]
    pub fn pending_resources(&self, name: &ClusterQueueName) -> Requests {
        let queue = self.queues.get(name);
        queue
            .map(|queue| queue.pending.resources())
            .unwrap_or_default()
    }

    /// Whether a cohort exists, as an object or because somebody belongs to it.
    #[must_use]
    pub fn knows_cohort(&self, name: &CohortName) -> bool {
        self.tree.cohort(name).is_some()
    }

    /// Whether ClusterQueues and cohorts share what is idle by weight.
    #[must_use]
    pub fn is_fairly_shared(&self) -> bool {
        self.options.fair_sharing.is_some()
    }

    /// The names of all ClusterQueues.
    pub fn cluster_queues(&self) -> impl Iterator<Item = &ClusterQueueName> {
        self.queues.keys()
    }
}
