//! What the webhooks ask about the cluster, answered from the stores.

use std::collections::BTreeMap;
use std::sync::Arc;

use kueue_api::names::{DEFAULT_LOCAL_QUEUE, DEFAULT_WORKLOAD_PRIORITY_CLASS};
use webhooks::Cluster;

use crate::context::Context;
use crate::key::Key;

/// The stores as webhooks see them.
#[derive(Clone, Debug)]
pub struct Surroundings(pub Arc<Context>);

impl Cluster for Surroundings {
    fn namespace_labels(&self, namespace: &str) -> Option<BTreeMap<String, String>> {
        self.0.world.stores.namespace_labels(namespace)
    }

    fn has_default_local_queue(&self, namespace: &str) -> bool {
        self.0.world.stores.local_queues.get(&Key::new(namespace, DEFAULT_LOCAL_QUEUE)).is_some()
    }

    fn has_default_priority_class(&self) -> bool {
        self.0.world.stores.classes.get(&Key::cluster(DEFAULT_WORKLOAD_PRIORITY_CLASS)).is_some()
    }
}
