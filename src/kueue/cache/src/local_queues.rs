//! LocalQueues come, change and go.

use jiff::Timestamp;
use kueue_api::v1beta2::{self as api, StopPolicy};
use scheduler::{ClusterQueueName, LocalQueueKey, WorkloadKey};

use crate::cache::{LocalQueueState, Observed};
use crate::fair_shares::weight;
use crate::{Affected, Cache};

impl Cache {
    /// A LocalQueue appeared or changed.
    pub fn apply_local_queue(&mut self, object: &api::LocalQueue, now: Timestamp) -> Affected {
        let key = LocalQueueKey::new(
            object.metadata.namespace.as_deref().unwrap_or_default(),
            object.name(),
        );
        let state = LocalQueueState {
            cluster_queue: Some(object.spec.cluster_queue())
                .filter(|name| !name.is_empty())
                .map(ClusterQueueName::from),
            stopped: object.spec.stop_policy() != StopPolicy::None,
            terminating: object.metadata.deletion_timestamp.is_some(),
            weight: weight(object),
            observed: Observed {
                generation: object.metadata.generation,
                conditions: object
                    .status
                    .as_ref()
                    .map(|status| status.conditions.clone())
                    .unwrap_or_default(),
            },
        };
        self.recall_usage(object, now);
        let before = self.local_queues.insert(key.clone(), state.clone());
        let same_way = before.as_ref().is_some_and(|before| {
            before.cluster_queue == state.cluster_queue
                && before.stopped == state.stopped
                && before.terminating == state.terminating
        });
        let mut affected = Affected::default();
        affected.local_queues.insert(key.clone());
        if !same_way {
            affected.merge(self.door_changed(&key, now));
            affected
                .cluster_queues
                .extend(before.and_then(|before| before.cluster_queue));
        }
        affected
    }

    /// A LocalQueue is gone. Its workloads wait for one of that name.
    pub fn delete_local_queue(&mut self, key: &LocalQueueKey, now: Timestamp) -> Affected {
        let Some(before) = self.local_queues.remove(key) else {
            return Affected::default();
        };
        self.ledger.close(key);
        let mut affected = self.door_changed(key, now);
        affected.cluster_queues.extend(before.cluster_queue);
        affected
    }

    fn door_changed(&mut self, key: &LocalQueueKey, now: Timestamp) -> Affected {
        let behind: Vec<WorkloadKey> = self
            .by_local_queue
            .get(key)
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        let mut affected = self.requeue_all(&behind, now);
        affected.workloads.extend(behind);
        affected
    }

    /// The ClusterQueue a LocalQueue leads to at present.
    pub(crate) fn behind(&self, key: &LocalQueueKey) -> Option<&ClusterQueueName> {
        let state = self.local_queues.get(key).filter(|state| !state.stopped)?;
        state
            .cluster_queue
            .as_ref()
            .filter(|name| self.queues.contains_key(*name))
    }
}
