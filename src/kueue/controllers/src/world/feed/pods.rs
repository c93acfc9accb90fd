//! Pods, and the `StatefulSets` that make them. The cache counts what foreign pods take; only pods of Workloads and those
//! that may become some are kept as objects.

use std::sync::Arc;

use jobs::serving::STATEFUL_SET;
use k8s_openapi::Resource;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kueue_api::ObjectMeta;

use super::super::World;
use super::News;
use crate::key::Key;
use crate::nodes;
use crate::pods::shelf;
use crate::watch::Seen;

impl World {
    pub fn on_stateful_set(&self, seen: Seen<StatefulSet>) {
        match self.keep(&self.stores.stateful_sets, seen) {
            Some(News::Object(set, _)) => self.queues.stateful_sets.add(Key::of(&set.metadata)),
            Some(News::Gone(key, _)) => self.queues.stateful_sets.add(key),
            None => {}
        }
    }

    /// Asks for the `StatefulSet` that owns an object, if one does.
    pub(in crate::world) fn ask_set(&self, meta: &ObjectMeta) {
        let owners = meta.owner_references.iter().flatten();
        for owner in owners.filter(|owner| STATEFUL_SET.owns(owner)) {
            let namespace = meta.namespace.as_deref().unwrap_or_default();
            let key = Key::new(namespace, &owner.name);
            self.queues.stateful_sets.add(key);
        }
    }

    pub fn on_pod(&self, seen: Seen<Pod>) {
        match seen {
            Seen::Object(pod) => self.saw_pod(*pod),
            Seen::Gone(key, uid) => self.lost_pod(&key, uid.as_deref()),
            Seen::Malformed(meta, error) => {
                self.unreadable(Pod::API_VERSION.to_owned(), Pod::KIND, &meta, &error);
            }
        }
    }

    /// Takes in that a pod is gone.
    pub fn lost_pod(&self, key: &Key, uid: Option<&str>) {
        self.change(|cache, _| cache.delete_pod(&key.namespace, &key.name));
        if let Some(of) = self.stores.remove_pod(key, uid) {
            self.ask_slices(&of);
            self.queues.places.add(of);
        }
        if let Some(groups) = self.pods
            && let Some(of) = self.stores.shelf.remove(key, uid, groups.annotated)
        {
            self.queues.pods.add(of);
        }
    }

    /// Takes in a pod as it is now.
    pub fn saw_pod(&self, mut pod: Pod) {
        pod.metadata.managed_fields = None;
        self.change(|cache, _| cache.apply_pod(&pod));
        let pod = Arc::new(pod);
        let known = || self.stores.shelf.get(&Key::of(&pod.metadata)).is_some();
        if let Some(groups) = self.pods.filter(|_| shelf::concerns(&pod) || known()) {
            for key in self.stores.shelf.put(&pod, groups.annotated) {
                self.queues.pods.add(key);
            }
            self.ask_set(&pod.metadata);
        }
        if let Some(of) = self.stores.put_pod(&pod) {
            self.ask_slices(&of);
            self.queues.places.add(of);
            self.ask_troubled_node(&pod);
        }
    }

    /// Pods of a job that grows come, go and end: others of them may start.
    fn ask_slices(&self, chain: &Key) {
        if self.is_elastic {
            self.queues.slices.add(chain.clone());
        }
    }

    /// A pod on a node that failed may have been the last one that kept its workload there.
    fn ask_troubled_node(&self, pod: &Pod) {
        let Some(name) = nodes::of(pod) else { return };
        let key = Key::cluster(name);
        let node = self.stores.nodes.get(&key);
        if node.is_none_or(|node| nodes::is_troubled(&node)) {
            self.queues.nodes.add(key);
        }
    }
}
