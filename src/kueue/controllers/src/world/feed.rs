//! How what the watches tell gets into the world, kind by kind.

use std::sync::Arc;

use cache::{ClusterQueueName, CohortName, FlavorName, LocalQueueKey};
use jobs::serving::STATEFUL_SET;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{LimitRange, Namespace, Node, Pod};
use k8s_openapi::api::node::v1::RuntimeClass;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use kube::api::DynamicObject;
use kueue_api::ObjectMeta;
use kueue_api::v1beta2::{
    AdmissionCheck, ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Topology, Workload,
    WorkloadPriorityClass,
};
use kueue_api::workload::pods::workload_of;

use super::World;
use crate::keepers;
use crate::key::Key;
use crate::nodes;
use crate::pods::shelf;
use crate::store::{Put, Store, Stored};
use crate::watch::Seen;

enum News<K> {
    Object(Arc<K>, Option<Arc<K>>),
    Gone(Key, Arc<K>),
}

impl World {
    /// Reduces what a watch tells to a store, and says what is new.
    fn keep<K: Stored>(
        &self,
        store: &Store<K>,
        kind: &'static str,
        seen: Seen<K>,
    ) -> Option<News<K>> {
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
            Seen::Malformed(key, error) => {
                self.unreadable(kind, &key, &error);
                None
            }
        }
    }

    pub fn on_namespace(&self, seen: Seen<Namespace>) {
        let changed = match self.keep(&self.stores.namespaces, "Namespace", seen) {
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
        for key in self.stores.shelf.keys_in(&changed) {
            self.queues.pods.add(key);
        }
    }

    pub fn on_limit_range(&self, seen: Seen<LimitRange>) {
        match self.keep(&self.stores.limit_ranges, "LimitRange", seen) {
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
        match self.keep(&self.stores.topologies, "Topology", seen) {
            Some(News::Object(topology, _)) => {
                self.change(|cache, _| cache.apply_topology(&topology));
                self.queues.topologies.add(Key::of(&topology.metadata));
            }
            Some(News::Gone(key, _)) => self.change(|cache, _| cache.delete_topology(&key.name)),
            None => {}
        }
    }

    /// Objects that could not go because others named them.
    fn ask_leaving(&self) {
        let (topologies, checks) = keepers::leaving(&self.stores);
        topologies
            .into_iter()
            .for_each(|key| self.queues.topologies.add(key));
        checks
            .into_iter()
            .for_each(|key| self.queues.checks.add(key));
    }

    pub fn on_node(&self, seen: Seen<Node>) {
        match self.keep(&self.stores.nodes, "Node", seen) {
            Some(News::Object(node, before)) => {
                self.change(|cache, _| cache.apply_node(&node));
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

    /// The cache keeps what foreign pods take; only pods of Workloads are kept as objects.
    pub fn on_stateful_set(&self, seen: Seen<StatefulSet>) {
        match self.keep(&self.stores.stateful_sets, "StatefulSet", seen) {
            Some(News::Object(set, _)) => self.queues.stateful_sets.add(Key::of(&set.metadata)),
            Some(News::Gone(key, _)) => self.queues.stateful_sets.add(key),
            None => {}
        }
    }

    /// Asks for the `StatefulSet` that owns an object, if one does.
    pub(super) fn ask_set(&self, meta: &ObjectMeta) {
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
            Seen::Malformed(key, error) => self.unreadable("Pod", &key, &error),
        }
    }

    /// Takes in that a pod is gone.
    pub fn lost_pod(&self, key: &Key, uid: Option<&str>) {
        self.change(|cache, _| cache.delete_pod(&key.namespace, &key.name));
        if let Some(workload) = self.stores.remove_pod(key, uid) {
            self.queues.places.add(workload);
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
        if let Some(workload) = workload_of(&pod) {
            let workload = self.stores.put_pod(&pod, workload);
            self.queues.places.add(workload);
            self.ask_troubled_node(&pod);
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

    pub fn on_runtime_class(&self, seen: Seen<RuntimeClass>) {
        match self.keep(&self.stores.runtime_classes, "RuntimeClass", seen) {
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
        if self
            .keep(&self.stores.priority_classes, "PriorityClass", seen)
            .is_some()
        {
            self.ask_jobs_without_workload();
        }
    }

    pub fn on_class(&self, seen: Seen<WorkloadPriorityClass>) {
        let name = match self.keep(&self.stores.classes, "WorkloadPriorityClass", seen) {
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

    pub fn on_flavor(&self, seen: Seen<ResourceFlavor>) {
        match self.keep(&self.stores.flavors, "ResourceFlavor", seen) {
            Some(News::Object(flavor, _)) => {
                self.change(|cache, _| cache.apply_resource_flavor(&flavor));
                self.queues.flavors.add(Key::cluster(flavor.name()));
            }
            Some(News::Gone(key, _)) => {
                let name = FlavorName::new(key.name.as_str());
                self.change(|cache, _| cache.delete_resource_flavor(&name));
                self.ask_leaving();
            }
            None => {}
        }
    }

    pub fn on_check(&self, seen: Seen<AdmissionCheck>) {
        match self.keep(&self.stores.checks, "AdmissionCheck", seen) {
            Some(News::Object(check, _)) => {
                self.change(|cache, _| cache.apply_admission_check(&check));
                self.queues.checks.add(Key::of(&check.metadata));
            }
            Some(News::Gone(key, _)) => {
                self.change(|cache, _| cache.delete_admission_check(&key.name));
            }
            None => {}
        }
    }

    pub fn on_cohort(&self, seen: Seen<Cohort>) {
        match self.keep(&self.stores.cohorts, "Cohort", seen) {
            Some(News::Object(cohort, _)) => {
                self.change(|cache, _| cache.apply_cohort(&cohort));
                self.queues.cohorts.add(Key::cluster(cohort.name()));
            }
            Some(News::Gone(key, _)) => {
                let name = CohortName::new(key.name.as_str());
                self.change(|cache, _| cache.delete_cohort(&name));
                self.queues.cohorts.add(key);
            }
            None => {}
        }
    }

    pub fn on_cluster_queue(&self, seen: Seen<ClusterQueue>) {
        self.took_cluster_queue(seen);
        self.ask_leaving();
    }

    fn took_cluster_queue(&self, seen: Seen<ClusterQueue>) {
        let (queue, before) = match self.keep(&self.stores.cluster_queues, "ClusterQueue", seen) {
            Some(News::Object(queue, before)) => {
                self.change(|cache, now| cache.apply_cluster_queue(&queue, now));
                (queue, before)
            }
            Some(News::Gone(key, last)) => {
                let name = ClusterQueueName::new(key.name.as_str());
                self.change(|cache, _| cache.delete_cluster_queue(&name));
                (last, None)
            }
            None => return,
        };
        self.queues.cluster_queues.add(Key::cluster(queue.name()));
        // Cohorts that it belonged to may have lost their last member.
        for queue in before.iter().chain([&queue]) {
            if let Some(cohort) = &queue.spec.cohort_name {
                self.queues.cohorts.add(Key::cluster(cohort));
            }
        }
        let same = before.as_ref().is_some_and(|old| {
            old.spec == queue.spec
                && old.metadata.deletion_timestamp == queue.metadata.deletion_timestamp
        });
        if same {
            return;
        }
        for group in before
            .iter()
            .flat_map(|old| &old.spec.resource_groups)
            .chain(&queue.spec.resource_groups)
        {
            for flavor in &group.flavors {
                self.queues.flavors.add(Key::cluster(&flavor.name));
            }
        }
        self.ask_workloads_of(|workload, local| {
            local.is_some_and(|local| local.spec.cluster_queue() == queue.name())
                || workload
                    .status
                    .as_ref()
                    .and_then(|s| s.admission.as_ref())
                    .is_some_and(|a| a.cluster_queue == queue.name())
        });
    }

    pub fn on_local_queue(&self, seen: Seen<LocalQueue>) {
        let (queue, before) = match self.keep(&self.stores.local_queues, "LocalQueue", seen) {
            Some(News::Object(queue, before)) => {
                self.change(|cache, now| cache.apply_local_queue(&queue, now));
                (queue, before)
            }
            Some(News::Gone(key, last)) => {
                let name = LocalQueueKey::new(key.namespace.as_str(), key.name.as_str());
                self.change(|cache, now| cache.delete_local_queue(&name, now));
                (last, None)
            }
            None => return,
        };
        let key = Key::of(&queue.metadata);
        self.queues.local_queues.add(key.clone());
        if before.is_none_or(|old| {
            old.spec != queue.spec
                || old.metadata.deletion_timestamp != queue.metadata.deletion_timestamp
        }) {
            self.ask_workloads_of(|workload, _| {
                workload.namespace() == key.namespace && workload.spec.queue_name() == key.name
            });
        }
    }

    /// Queues the Workloads that a test holds for, given with their LocalQueue.
    fn ask_workloads_of(&self, concerned: impl Fn(&Workload, Option<&LocalQueue>) -> bool) {
        for workload in self
            .stores
            .workloads
            .list()
            .iter()
            .filter(|w| !w.is_finished())
        {
            let local = self
                .stores
                .local_queues
                .get(&Key::new(workload.namespace(), workload.spec.queue_name()));
            if concerned(workload, local.as_deref()) {
                self.queues.workloads.add(Key::of(&workload.metadata));
            }
        }
    }

    pub fn on_workload(&self, seen: Seen<Workload>) {
        match seen {
            Seen::Object(workload) => self.saw_workload(*workload),
            Seen::Gone(key, uid) => self.lost_workload(&key, uid.as_deref()),
            Seen::Malformed(key, error) => self.unreadable("Workload", &key, &error),
        }
    }

    pub fn on_job(&self, kind: usize, seen: Seen<DynamicObject>) {
        match seen {
            Seen::Object(job) => {
                self.saw_job(kind, *job);
            }
            Seen::Gone(key, uid) => self.lost_job(kind, &key, uid.as_deref()),
            Seen::Malformed(key, error) => self.unreadable("job", &key, &error),
        }
    }
}
