//! Names that thousands of objects mention are kept once: whoever compares one with itself then need not read it. Which clone of a name it is
//! decides nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use scheduler::{ClusterQueue, FlavorName};

use crate::Cache;
use crate::workloads::WorkloadState;

/// The flavors that ClusterQueues have named so far; there are few of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlavorNames(BTreeSet<FlavorName>);

impl FlavorNames {
    /// Takes the names of a ClusterQueue in, and gives it those that were known.
    pub(crate) fn share(&mut self, queue: &mut ClusterQueue) {
        for name in queue.groups.iter_mut().flat_map(|group| &mut group.flavors) {
            match self.0.get(name) {
                Some(known) => *name = known.clone(),
                None => {
                    self.0.insert(name.clone());
                }
            }
        }
        let quotas = std::mem::take(&mut queue.quotas).into_iter();
        queue.quotas = quotas
            .map(|(mut of, quota)| {
                self.take_known(&mut of.flavor);
                (of, quota)
            })
            .collect();
    }

    fn take_known(&self, name: &mut FlavorName) {
        if let Some(known) = self.0.get(name) {
            *name = known.clone();
        }
    }
}

impl Cache {
    /// Gives a workload that was just read the names that are known.
    pub(crate) fn share_names(&self, fresh: &mut WorkloadState) {
        if let Some(info) = Arc::get_mut(&mut fresh.info) {
            let namespace = &mut info.key.namespace;
            if let Some((known, _)) = self.namespaces.get_key_value(namespace) {
                *namespace = known.clone();
            }
            if let Some((known, _)) = self.local_queues.get_key_value(&info.local_queue) {
                info.local_queue = known.clone();
            }
        }
        let Some(holding) = &mut fresh.holding else {
            return;
        };
        if let Some((known, _)) = self.specs.get_key_value(&holding.cluster_queue) {
            holding.cluster_queue = known.clone();
        }
        holding.local_queue = fresh.info.local_queue.clone();
        let usage = std::mem::take(&mut holding.usage).into_iter();
        holding.usage = usage
            .map(|(mut of, amount)| {
                self.flavor_names.take_known(&mut of.flavor);
                (of, amount)
            })
            .collect();
    }
}
