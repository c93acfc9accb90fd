//! Topologies, Nodes and Pods come, change and go.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use kueue_api::v1beta2 as api;
use scheduler::FlavorName;
use scheduler::topology::Snapshot;

use crate::{Affected, Cache};

impl Cache {
    /// A Topology appeared or changed.
    pub fn apply_topology(&mut self, object: &api::Topology) -> Affected {
        let levels = object.spec.levels.iter();
        let levels = levels.map(|level| level.node_label.clone()).collect();
        let concerned = self
            .places
            .apply_topology(object.name(), levels, &self.flavors);
        self.places_changed(&concerned)
    }

    /// A Topology is gone.
    pub fn delete_topology(&mut self, name: &str) -> Affected {
        let concerned = self.places.delete_topology(name, &self.flavors);
        self.places_changed(&concerned)
    }

    /// A Node appeared or changed.
    pub fn apply_node(&mut self, object: &core::Node) -> Affected {
        let concerned = self.places.apply_node(object, &self.flavors);
        self.places_changed(&concerned)
    }

    /// A Node is gone.
    pub fn delete_node(&mut self, name: &str) -> Affected {
        let concerned = self.places.delete_node(name, &self.flavors);
        self.places_changed(&concerned)
    }

    /// A Pod appeared or changed. Those that workloads were given their places for do not count: the workload itself does.
    pub fn apply_pod(&mut self, object: &core::Pod) -> Affected {
        let freed = self.places.apply_pod(object);
        self.places_changed(&freed)
    }

    /// A Pod is gone.
    pub fn delete_pod(&mut self, namespace: &str, name: &str) -> Affected {
        let freed = self.places.delete_pod(namespace, name);
        self.places_changed(&freed)
    }

    fn places_changed(&mut self, flavors: &[FlavorName]) -> Affected {
        if flavors.is_empty() || !self.options.features.tas {
            return Affected::default();
        }
        let affected = self.users_affected(|flavor| flavors.contains(flavor));
        self.look_anew(|flavor| flavors.contains(flavor));
        affected
    }

    /// What searches found out about flavors with these places says nothing any more.
    pub(crate) fn look_anew(&mut self, concerned: impl Fn(&FlavorName) -> bool) {
        for name in self.users(concerned) {
            if let Some(queue) = self.queues.get_mut(&name) {
                queue.generation += 1;
            }
        }
    }

    /// The places of each flavor as they are now.
    pub(crate) fn topologies(&mut self) -> Arc<BTreeMap<FlavorName, Arc<Snapshot>>> {
        if self.options.features.tas {
            self.places.snapshot(&self.flavors)
        } else {
            Arc::default()
        }
    }
}
