//! The work queues, one a kind.

use std::sync::Arc;

use jobs::JobKind;

use crate::key::Key;
use crate::work_queue::WorkQueue;

/// See the module.
#[derive(Debug)]
pub struct Queues {
    pub flavors: Arc<WorkQueue>,
    pub topologies: Arc<WorkQueue>,
    pub checks: Arc<WorkQueue>,
    pub cohorts: Arc<WorkQueue>,
    pub cluster_queues: Arc<WorkQueue>,
    pub local_queues: Arc<WorkQueue>,
    pub workloads: Arc<WorkQueue>,
    /// Workloads with pods that may wait for their place.
    pub places: Arc<WorkQueue>,
    /// Chains of slices with pods that may wait for room.
    pub slices: Arc<WorkQueue>,
    pub stateful_sets: Arc<WorkQueue>,
    pub leader_worker_sets: Arc<WorkQueue>,
    /// Pods that are to end, and may be ended by force.
    pub ending: Arc<WorkQueue>,
    /// Single pods and groups of pods.
    pub pods: Arc<WorkQueue>,
    /// Workloads that an autoscaler may be asked about.
    pub provisioned: Arc<WorkQueue>,
    /// Workloads that other clusters may run.
    pub handed: Arc<WorkQueue>,
    /// Those other clusters.
    pub clusters: Arc<WorkQueue>,
    /// Nodes that failed or came back.
    pub nodes: Arc<WorkQueue>,
    /// In the order of the stores.
    pub jobs: Vec<Arc<WorkQueue>>,
}

impl Queues {
    pub(super) fn new(kinds: &[&'static JobKind]) -> Self {
        let queue = |name| Arc::new(WorkQueue::new(name));
        Self {
            flavors: queue("ResourceFlavor"),
            topologies: queue("Topology"),
            checks: queue("AdmissionCheck"),
            cohorts: queue("Cohort"),
            cluster_queues: queue("ClusterQueue"),
            local_queues: queue("LocalQueue"),
            workloads: queue("Workload"),
            places: queue("places of pods"),
            slices: queue("slices"),
            stateful_sets: queue("StatefulSet"),
            leader_worker_sets: queue("LeaderWorkerSet"),
            pods: queue("Pod"),
            ending: queue("ends of pods"),
            provisioned: queue("ProvisioningRequest"),
            handed: queue("MultiKueue Workload"),
            clusters: queue("MultiKueueCluster"),
            nodes: queue("Node"),
            jobs: kinds.iter().map(|kind| queue(kind.kind)).collect(),
        }
    }

    /// Asks for a job to be looked at.
    pub fn ask_job(&self, kind: usize, key: Key) {
        if let Some(queue) = self.jobs.get(kind) {
            queue.add(key);
        }
    }
}
