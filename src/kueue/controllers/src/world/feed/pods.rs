//! Pods, and the sets that make them. The cache counts what foreign pods take; only pods of Workloads and those
//! that may become some are kept as objects.

use std::sync::Arc;

use jobs::JobKind;
use jobs::serving::leader_worker_set::{LeaderWorkerSet, holds_back, set_of};
use jobs::serving::{LEADER_WORKER_SET, STATEFUL_SET};
use k8s_openapi::Resource;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{Node, Pod};
use kueue_api::ObjectMeta;
use kueue_api::v1beta2::Workload;

use super::super::World;
use super::News;
use crate::key::Key;
use crate::nodes;
use crate::pods::shelf;
use crate::recovery::decide::{is_eligible, is_unreachable};
use crate::store::Put;
use crate::watch::Seen;

impl World {
    pub fn on_stateful_set(&self, seen: Seen<StatefulSet>) {
        let news = self.keep(&self.stores.stateful_sets, seen);
        let Some(News::Object(set, _) | News::Gone(_, set)) = news else {
            return;
        };
        self.queues.stateful_sets.add(Key::of(&set.metadata));
        if holds_back(&set) {
            self.ask_groups(&set.metadata);
        }
    }

    pub fn on_leader_worker_set(&self, seen: Seen<LeaderWorkerSet>) {
        let news = self.keep(&self.stores.leader_worker_sets, seen);
        if let Some(News::Object(set, _) | News::Gone(_, set)) = news {
            let key = Key::of(&set.metadata);
            self.queues.leader_worker_sets.add(key);
        }
    }

    /// The Workloads that were made for the same set of groups as one of them, which is one of these.
    #[must_use]
    pub fn siblings(&self, workload: &Workload) -> Vec<Arc<Workload>> {
        let set = |workload: &Workload| {
            let mut owners = workload.metadata.owner_references.iter().flatten();
            let owner = owners.find(|owner| LEADER_WORKER_SET.owns(owner));
            owner.map(|owner| owner.uid.clone())
        };
        let Some(own) = set(workload) else {
            return Vec::new();
        };
        let mut all = self.stores.workloads.list_in(workload.namespace());
        all.retain(|other| set(other).as_ref() == Some(&own));
        all
    }

    /// Whoever has several Workloads that other clusters run: all of them wait for the last to be there, and follow the first that has a cluster.
    pub(in crate::world) fn ask_siblings(&self, workload: &Workload, before: Option<&Workload>) {
        let place = |workload: &Workload| workload.status.as_ref()?.cluster_name.clone();
        if before.is_some_and(|before| place(before) == place(workload)) {
            return;
        }
        for sibling in self.siblings(workload) {
            if self.handed.concerns(&sibling) {
                self.queues.handed.add(Key::of(&sibling.metadata));
            }
        }
    }

    /// A job changed; its copy in another cluster may have to know.
    pub(in crate::world) fn ask_copy(&self, kind: &'static JobKind, job: &ObjectMeta) {
        let adapter = jobs::multikueue::of(&kind.api_version(), kind.kind);
        if !self.handed.is_on() || !adapter.is_some_and(|adapter| adapter.forwards()) {
            return;
        }
        for workload in self.stores.workloads_of(kind, &Key::of(job)) {
            if self.handed.concerns(&workload) {
                self.queues.handed.add(Key::of(&workload.metadata));
            }
        }
    }

    /// Asks for the `LeaderWorkerSet` that a pod or a `StatefulSet` names.
    fn ask_groups(&self, meta: &ObjectMeta) {
        if let Some(set) = set_of(meta) {
            let namespace = meta.namespace.as_deref().unwrap_or_default();
            let key = Key::new(namespace, set);
            self.queues.leader_worker_sets.add(key);
        }
    }

    /// Asks for the sets that own an object.
    pub(in crate::world) fn ask_set(&self, meta: &ObjectMeta) {
        for owner in meta.owner_references.iter().flatten() {
            let namespace = meta.namespace.as_deref().unwrap_or_default();
            let key = Key::new(namespace, &owner.name);
            if STATEFUL_SET.owns(owner) {
                self.queues.stateful_sets.add(key);
            } else if LEADER_WORKER_SET.owns(owner) {
                self.queues.leader_worker_sets.add(key);
            }
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
        self.stores.ending.remove(key, uid);
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
        self.note_ending(&pod);
        let known = || self.stores.shelf.get(&Key::of(&pod.metadata)).is_some();
        if let Some(groups) = self.pods.filter(|_| shelf::concerns(&pod) || known()) {
            for key in self.stores.shelf.put(&pod, groups.annotated) {
                self.queues.pods.add(key);
            }
            self.ask_set(&pod.metadata);
            if jobs::pods::parent_framework(&pod) == Some(LEADER_WORKER_SET.framework) {
                self.ask_groups(&pod.metadata);
            }
        }
        if let Some(of) = self.stores.put_pod(&pod) {
            self.ask_slices(&of);
            self.queues.places.add(of);
            self.ask_troubled_node(&pod);
        }
    }

    /// Keeps a pod that is to end, and may have to be ended by force.
    fn note_ending(&self, pod: &Arc<Pod>) {
        let key = Key::of(&pod.metadata);
        if !self.recovers || !is_eligible(pod) && self.stores.ending.get(&key).is_none() {
            return;
        }
        if matches!(self.stores.ending.put(pod.clone()), Put::Taken(_)) {
            self.queues.ending.add(key);
        }
    }

    /// Nobody hears from a node any more: its pods cannot end.
    pub(super) fn ask_ending(&self, node: &Node) {
        if !self.recovers || !is_unreachable(node) {
            return;
        }
        let of_node = |pod: &Arc<Pod>| {
            let spec = pod.spec.as_ref();
            spec.and_then(|spec| spec.node_name.as_ref()) == node.metadata.name.as_ref()
        };
        for pod in self.stores.ending.list().into_iter().filter(of_node) {
            self.queues.ending.add(Key::of(&pod.metadata));
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
