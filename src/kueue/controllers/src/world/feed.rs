//! How what the watches tell gets into the world, kind by kind.

mod pods;
mod provisioning;
mod quota;
mod runtimes;

use std::sync::Arc;

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::{LimitRange, Namespace, Node};
use k8s_openapi::api::node::v1::RuntimeClass;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use kube::api::DynamicObject;
use kueue_api::ObjectMeta;
use kueue_api::names::{API_VERSION, MULTIKUEUE_CONTROLLER};
use kueue_api::v1beta2::{
    MultiKueueCluster, MultiKueueConfig, Topology, Workload, WorkloadPriorityClass,
};

use super::World;
use crate::key::Key;
use crate::nodes;
use crate::store::{Put, Store, Stored};
use crate::watch::Seen;

enum News<K> {
    Object(Arc<K>, Option<Arc<K>>),
    Gone(Key, Arc<K>),
}

impl World {
    /// Reduces what a watch tells to a store, and says what is new.
    fn keep<K: Stored + Resource>(&self, store: &Store<K>, seen: Seen<K>) -> Option<News<K>> {
        match seen {
            Seen::Object(object) => {
                let object = Arc::new(*object);
                match store.put(object.clone()) {
                    Put::Taken(before) => Some(News::Object(object, before)),
                    Put::Stale => None,
                }
            }
            Seen::Gone(key, uid) => store
                .remove(&key, uid.as_deref())
                .map(|last| News::Gone(key, last)),
            Seen::Malformed(meta, error) => {
                self.unreadable(K::API_VERSION.to_owned(), K::KIND, &meta, &error);
                None
            }
        }
    }

    /// Whether a version of an object that a watch tells may be new. Asked of what this process itself writes often; a malformed one is news
    /// however often it is told.
    pub fn is_news(&self, kind: &'static str, meta: &ObjectMeta) -> bool {
        kind != "Workload" || !self.stores.workloads.knows(meta)
    }

    /// The same of a job.
    pub fn is_news_of_job(&self, kind: usize, meta: &ObjectMeta) -> bool {
        let jobs = self.stores.jobs.get(kind);
        jobs.is_none_or(|jobs| !jobs.objects.knows(meta))
    }

    pub fn on_namespace(&self, seen: Seen<Namespace>) {
        let changed = match self.keep(&self.stores.namespaces, seen) {
            Some(News::Object(namespace, before)) => {
                if before.is_some_and(|old| old.metadata.labels == namespace.metadata.labels) {
                    return;
                }
                self.change(|cache, _| cache.apply_namespace(&namespace));
                Key::of(&namespace.metadata).name
            }
            Some(News::Gone(key, _)) => {
                let name = cache::NamespaceName::new(key.name.as_str());
                self.change(|cache, _| cache.delete_namespace(&name));
                key.name
            }
            None => return,
        };
        for (kind, jobs) in self.stores.jobs.iter().enumerate() {
            for job in jobs.objects.list_in(&changed) {
                self.queues.ask_job(kind, Key::of(job.meta()));
            }
        }
        for set in self.stores.leader_worker_sets.list_in(&changed) {
            let key = Key::of(&set.metadata);
            self.queues.leader_worker_sets.add(key);
        }
        for key in self.stores.shelf.keys_in(&changed) {
            self.queues.pods.add(key);
        }
    }

    pub fn on_limit_range(&self, seen: Seen<LimitRange>) {
        match self.keep(&self.stores.limit_ranges, seen) {
            Some(News::Object(range, _)) => {
                self.change(|cache, _| cache.apply_limit_range(&range));
            }
            Some(News::Gone(key, _)) => {
                let namespace = cache::NamespaceName::new(key.namespace.as_str());
                self.change(|cache, _| cache.delete_limit_range(&namespace, &key.name));
            }
            None => {}
        }
    }

    pub fn on_topology(&self, seen: Seen<Topology>) {
        match self.keep(&self.stores.topologies, seen) {
            Some(News::Object(topology, _)) => {
                self.change(|cache, _| cache.apply_topology(&topology));
                self.queues.topologies.add(Key::of(&topology.metadata));
            }
            Some(News::Gone(key, _)) => self.change(|cache, _| cache.delete_topology(&key.name)),
            None => {}
        }
    }

    pub fn on_node(&self, seen: Seen<Node>) {
        match self.keep(&self.stores.nodes, seen) {
            Some(News::Object(node, before)) => {
                self.change(|cache, _| cache.apply_node(&node));
                self.ask_ending(&node);
                // Heartbeats change nothing that workloads depend on.
                if before.is_none_or(|before| nodes::differ(&before, &node)) {
                    self.queues.nodes.add(Key::of(&node.metadata));
                }
            }
            Some(News::Gone(key, _)) => {
                self.change(|cache, _| cache.delete_node(&key.name));
                self.queues.nodes.add(key);
            }
            None => {}
        }
    }

    pub fn on_multikueue_config(&self, seen: Seen<MultiKueueConfig>) {
        if self.keep(&self.stores.configs, seen).is_some() {
            self.ask_handed();
        }
    }

    pub fn on_multikueue_cluster(&self, seen: Seen<MultiKueueCluster>) {
        match self.keep(&self.stores.clusters, seen) {
            Some(News::Object(cluster, _)) => {
                self.queues.clusters.add(Key::of(&cluster.metadata));
            }
            Some(News::Gone(key, _)) => self.queues.clusters.add(key),
            None => return,
        }
        self.ask_checks();
    }

    /// Takes in a worker cluster as it is now.
    pub fn saw_cluster(&self, cluster: MultiKueueCluster) {
        self.on_multikueue_cluster(Seen::Object(Box::new(cluster)));
    }

    /// Asks for everything that is handed over to other clusters.
    pub fn ask_handed(&self) {
        self.ask_checks();
        for workload in self.stores.workloads.list() {
            if self.handed.concerns(&workload) {
                self.queues.handed.add(Key::of(&workload.metadata));
            }
        }
    }

    fn ask_checks(&self) {
        for check in self.stores.checks.list() {
            if check.spec.controller_name == MULTIKUEUE_CONTROLLER {
                self.queues.checks.add(Key::of(&check.metadata));
            }
        }
    }

    pub fn on_runtime_class(&self, seen: Seen<RuntimeClass>) {
        match self.keep(&self.stores.runtime_classes, seen) {
            Some(News::Object(class, _)) => {
                self.change(|cache, _| cache.apply_runtime_class(&class));
            }
            Some(News::Gone(key, _)) => {
                self.change(|cache, _| cache.delete_runtime_class(&key.name));
            }
            None => {}
        }
    }

    pub fn on_priority_class(&self, seen: Seen<PriorityClass>) {
        if self.keep(&self.stores.priority_classes, seen).is_some() {
            self.ask_jobs_without_workload();
        }
    }

    pub fn on_class(&self, seen: Seen<WorkloadPriorityClass>) {
        let name = match self.keep(&self.stores.classes, seen) {
            Some(News::Object(class, _)) => class.name().to_owned(),
            Some(News::Gone(key, _)) => key.name,
            None => return,
        };
        for workload in self.stores.workloads.list() {
            if workload
                .spec
                .priority_class_ref
                .as_ref()
                .is_some_and(|class| class.name == name)
            {
                self.queues.workloads.add(Key::of(&workload.metadata));
            }
        }
        self.ask_jobs_without_workload();
    }

    /// Jobs that may have waited for a priority class.
    fn ask_jobs_without_workload(&self) {
        for key in self.stores.shelf.keys() {
            self.queues.pods.add(key);
        }
        for set in self.stores.leader_worker_sets.list() {
            let key = Key::of(&set.metadata);
            self.queues.leader_worker_sets.add(key);
        }
        for (kind, jobs) in self.stores.jobs.iter().enumerate() {
            for job in jobs
                .objects
                .list()
                .iter()
                .filter(|job| job.0.finished().is_none())
            {
                if self
                    .stores
                    .workloads_of(jobs.kind, &Key::of(job.meta()))
                    .is_empty()
                    || job.0.workload_priority_class().is_some()
                {
                    self.queues.ask_job(kind, Key::of(job.meta()));
                }
            }
        }
    }

    pub fn on_workload(&self, seen: Seen<Workload>) {
        match seen {
            Seen::Object(workload) => self.saw_workload(*workload),
            Seen::Gone(key, uid) => self.lost_workload(&key, uid.as_deref()),
            Seen::Malformed(meta, error) => {
                self.unreadable(API_VERSION.to_owned(), Workload::KIND, &meta, &error);
            }
        }
    }

    pub fn on_job(&self, kind: usize, seen: Seen<DynamicObject>) {
        match seen {
            Seen::Object(job) => {
                self.saw_job(kind, *job);
            }
            Seen::Gone(key, uid) => self.lost_job(kind, &key, uid.as_deref()),
            Seen::Malformed(meta, error) => {
                if let Some(jobs) = self.stores.jobs.get(kind) {
                    self.unreadable(jobs.kind.api_version(), jobs.kind.kind, &meta, &error);
                }
            }
        }
    }
}
