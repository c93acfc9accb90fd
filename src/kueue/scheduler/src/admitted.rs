//! Workloads that hold quota, as the search for preemption targets sees them, and how a snapshot loses and regains them.
//!
//! A [`Snapshot`] shares them with the cache: by ClusterQueue, then by workload, each level copied only when it is written to.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::cycle::Snapshot;
use crate::names::{ClusterQueueName, WorkloadKey};
use crate::objects::{Usage, Workload};
use crate::topology::TopologyUsage;

/// A workload that holds quota, admitted in full or not yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// What it is: key, UID, LocalQueue, priority, place in the queue.
    pub workload: Arc<Workload>,
    /// The ClusterQueue whose quota it holds.
    pub cluster_queue: ClusterQueueName,
    /// What it holds. A flavor it was assigned is named even if it holds none of it.
    pub usage: Usage,
    /// The places it was sent to by topology.
    pub places: TopologyUsage,
    /// Since when, once that is written; before, it counts as just now.
    pub reserved: Option<Timestamp>,
    /// Whether it was admitted, not only promised quota.
    pub admitted: bool,
    /// Whether it is already leaving.
    pub evicted: bool,
}

/// All of them, by ClusterQueue.
pub type AdmittedByQueue = BTreeMap<ClusterQueueName, Arc<BTreeMap<WorkloadKey, Arc<Admitted>>>>;

impl Snapshot {
    /// The workloads that hold quota of a ClusterQueue, in the order of their keys.
    pub fn admitted_in(&self, name: &ClusterQueueName) -> impl Iterator<Item = &Arc<Admitted>> {
        self.admitted
            .get(name)
            .into_iter()
            .flat_map(|all| all.values())
    }

    /// Takes a workload away: it holds nothing any more and can no longer be preempted.
    pub fn remove(&mut self, gone: &Admitted) {
        self.tree.remove(&gone.cluster_queue, &gone.usage);
        self.give_back_places(&gone.places);
        forget(&mut self.admitted, gone);
    }

    /// Puts a workload back.
    pub fn add(&mut self, back: &Arc<Admitted>) {
        self.tree.add(&back.cluster_queue, &back.usage);
        self.take_places(&back.places);
        remember(&mut self.admitted, back.clone());
    }
}

/// Lists a workload that holds quota, in place of what was known of it.
pub fn remember(all: &mut Arc<AdmittedByQueue>, admitted: Arc<Admitted>) {
    let of_queue = Arc::make_mut(all)
        .entry(admitted.cluster_queue.clone())
        .or_default();
    Arc::make_mut(of_queue).insert(admitted.workload.key.clone(), admitted);
}

/// Takes a workload off the list.
pub fn forget(all: &mut Arc<AdmittedByQueue>, gone: &Admitted) {
    forget_in(all, &gone.cluster_queue, &gone.workload.key);
}

/// Takes a workload off the list of one ClusterQueue.
pub fn forget_in(all: &mut Arc<AdmittedByQueue>, queue: &ClusterQueueName, key: &WorkloadKey) {
    let all = Arc::make_mut(all);
    let Some(of_queue) = all.get_mut(queue) else {
        return;
    };
    Arc::make_mut(of_queue).remove(key);
    if of_queue.is_empty() {
        all.remove(queue);
    }
}
