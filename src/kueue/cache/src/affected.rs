//! What has to be looked at again after something was applied or deleted.

use std::collections::BTreeSet;

use scheduler::{ClusterQueueName, LocalQueueKey, WorkloadKey};

/// Objects whose status may have changed, and whether a cycle has something to do.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[must_use]
pub struct Affected {
    /// ClusterQueues whose status may have changed.
    pub cluster_queues: BTreeSet<ClusterQueueName>,
    /// LocalQueues whose status may have changed.
    pub local_queues: BTreeSet<LocalQueueKey>,
    /// Workloads that are pending for another reason than before.
    pub workloads: BTreeSet<WorkloadKey>,
    /// Workloads whose object has to be applied again, as what it asks for depends on what changed.
    pub stale: BTreeSet<WorkloadKey>,
    /// Whether a cycle may find something that it did not find before.
    pub wake: bool,
}

impl Affected {
    /// Adds what `other` names.
    pub fn merge(&mut self, other: Self) {
        let Self {
            cluster_queues,
            local_queues,
            workloads,
            stale,
            wake,
        } = other;
        self.cluster_queues.extend(cluster_queues);
        self.local_queues.extend(local_queues);
        self.workloads.extend(workloads);
        self.stale.extend(stale);
        self.wake |= wake;
    }
}
