//! The watched objects of every kind, and which Workloads belong to which job.

mod index;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use jobs::serving::leader_worker_set::LeaderWorkerSet;
use jobs::{GenericJob, JobKind, RuntimeRef};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{LimitRange, Namespace, Node, Pod};
use k8s_openapi::api::node::v1::RuntimeClass;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kueue_api::v1beta2::{
    AdmissionCheck, ClusterQueue, Cohort, LocalQueue, MultiKueueCluster, MultiKueueConfig,
    ProvisioningRequestConfig, ResourceFlavor, ResourceFlavorSpec, Topology, Workload,
    WorkloadPriorityClass,
};
use kueue_api::workload::slices::{self, chain_of_pod};
use serde_json::Value;

use crate::key::Key;
use crate::pods::key::single_owner;
use crate::pods::shelf::Shelf;
use crate::provisioning::request::Request;
use crate::store::{Put, Store, Stored};
use index::Index;

/// A job of whatever kind, as it is kept.
#[derive(Debug)]
pub struct Job(pub Box<dyn GenericJob>);

impl Stored for Job {
    fn meta(&self) -> &ObjectMeta {
        self.0.meta()
    }
}

/// What describes the pods of jobs that do not do that themselves.
#[derive(Debug)]
pub struct Runtime {
    pub metadata: ObjectMeta,
    pub object: Arc<Value>,
}

impl Stored for Runtime {
    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
}

/// The jobs of one kind.
#[derive(Debug)]
pub struct Jobs {
    pub kind: &'static JobKind,
    pub objects: Store<Job>,
}

/// Everything watched.
#[derive(Debug)]
pub struct Stores {
    pub namespaces: Store<Namespace>,
    pub limit_ranges: Store<LimitRange>,
    pub runtime_classes: Store<RuntimeClass>,
    pub priority_classes: Store<PriorityClass>,
    pub flavors: Store<ResourceFlavor>,
    pub checks: Store<AdmissionCheck>,
    pub topologies: Store<Topology>,
    pub cohorts: Store<Cohort>,
    pub cluster_queues: Store<ClusterQueue>,
    pub local_queues: Store<LocalQueue>,
    pub classes: Store<WorkloadPriorityClass>,
    pub workloads: Store<Workload>,
    pub nodes: Store<Node>,
    pub stateful_sets: Store<StatefulSet>,
    pub leader_worker_sets: Store<LeaderWorkerSet>,
    pub configs: Store<MultiKueueConfig>,
    pub provisioning_configs: Store<ProvisioningRequestConfig>,
    pub requests: Store<Request>,
    pub clusters: Store<MultiKueueCluster>,
    /// Those of a namespace, and those of all.
    pub runtimes: Store<Runtime>,
    /// Pods that say which Workload they are of; others are only counted by the cache.
    pub pods: Store<Pod>,
    /// Pods that are to end, and may be ended by force.
    pub ending: Store<Pod>,
    /// Pods to look after.
    pub shelf: Shelf,
    pub jobs: Vec<Jobs>,
    /// Workloads by job.
    owned: Index<OwnerKey>,
    /// Workloads by chain of slices.
    chains: Index<Key>,
    /// Pods by Workload or chain of slices.
    pods_of: Index<Key>,
    /// Requests by Workload.
    asked_for: Index<Key>,
}

impl Stores {
    /// Empty stores for these kinds of jobs.
    #[must_use]
    pub fn new(kinds: &[&'static JobKind]) -> Self {
        Self {
            namespaces: Store::default(),
            limit_ranges: Store::default(),
            runtime_classes: Store::default(),
            priority_classes: Store::default(),
            flavors: Store::default(),
            checks: Store::default(),
            topologies: Store::default(),
            cohorts: Store::default(),
            cluster_queues: Store::default(),
            local_queues: Store::default(),
            classes: Store::default(),
            workloads: Store::default(),
            nodes: Store::default(),
            stateful_sets: Store::default(),
            leader_worker_sets: Store::default(),
            configs: Store::default(),
            provisioning_configs: Store::default(),
            requests: Store::default(),
            clusters: Store::default(),
            runtimes: Store::default(),
            pods: Store::default(),
            ending: Store::default(),
            jobs: kinds
                .iter()
                .map(|kind| Jobs {
                    kind,
                    objects: Store::default(),
                })
                .collect(),
            shelf: Shelf::default(),
            owned: Index::default(),
            chains: Index::default(),
            pods_of: Index::default(),
            asked_for: Index::default(),
        }
    }

    /// Takes a Workload in and notes whose it is.
    pub fn put_workload(&self, workload: &Arc<Workload>) -> Put<Workload> {
        let put = self.workloads.put(workload.clone());
        if let Put::Taken(before) = &put {
            let key = Key::of(&workload.metadata);
            self.chains.set(
                &key,
                before.as_deref().and_then(chain_of),
                chain_of(workload),
            );
            self.owned.set(
                &key,
                before.as_deref().and_then(owner_key),
                owner_key(workload),
            );
        }
        put
    }

    /// Forgets a Workload.
    pub fn remove_workload(&self, key: &Key, uid: Option<&str>) -> Option<Arc<Workload>> {
        let removed = self.workloads.remove(key, uid)?;
        self.owned.set(key, owner_key(&removed), None);
        self.chains.set(key, chain_of(&removed), None);
        Some(removed)
    }

    /// The Workloads whose controller is a job of this kind and name, by their own names. It may be an earlier one of that name.
    #[must_use]
    pub fn workloads_of(&self, kind: &'static JobKind, job: &Key) -> Vec<Arc<Workload>> {
        let of = (kind.framework, job.clone());
        self.owned.find(&of, &self.workloads)
    }

    /// The slices of a job that grows, by the name of their chain.
    #[must_use]
    pub fn slices_of(&self, chain: &Key) -> Vec<Arc<Workload>> {
        self.chains.find(chain, &self.workloads)
    }

    /// The Workloads that were made for a single pod of this name.
    #[must_use]
    pub fn workloads_of_pod(&self, pod: &Key) -> Vec<Arc<Workload>> {
        self.workloads_of(&jobs::pods::POD, pod)
    }

    /// Takes in a pod that names its Workload or its chain of slices, and gives the key of that. Other pods are not kept.
    pub fn put_pod(&self, pod: &Arc<Pod>) -> Option<Key> {
        let of = group_of(pod)?;
        if let Put::Taken(before) = self.pods.put(pod.clone()) {
            let before = before.as_deref().and_then(group_of);
            self.pods_of
                .set(&Key::of(&pod.metadata), before, Some(of.clone()));
        }
        Some(of)
    }

    /// Forgets a pod, and gives the key of its Workload.
    pub fn remove_pod(&self, key: &Key, uid: Option<&str>) -> Option<Key> {
        let pod = self.pods.remove(key, uid)?;
        let of = group_of(&pod);
        self.pods_of.set(key, of.clone(), None);
        of
    }

    /// The pods that name a Workload, by name.
    #[must_use]
    pub fn pods_of(&self, workload: &Key) -> Vec<Arc<Pod>> {
        self.pods_of.find(workload, &self.pods)
    }

    /// Takes a request in and notes for which Workload it was made.
    pub fn put_request(&self, request: &Arc<Request>) -> Put<Request> {
        let put = self.requests.put(request.clone());
        if let Put::Taken(before) = &put {
            let key = Key::of(&request.metadata);
            let before = before.as_deref().and_then(Request::workload);
            self.asked_for.set(&key, before, request.workload());
        }
        put
    }

    /// Forgets a request.
    pub fn remove_request(&self, key: &Key) -> Option<Arc<Request>> {
        let request = self.requests.remove(key, None)?;
        self.asked_for.set(key, request.workload(), None);
        Some(request)
    }

    /// The requests that were made for a Workload.
    #[must_use]
    pub fn requests_of(&self, workload: &Key) -> Vec<Arc<Request>> {
        self.asked_for.find(workload, &self.requests)
    }

    /// Specifications of all flavors, by name.
    #[must_use]
    pub fn flavor_specs(&self) -> BTreeMap<String, ResourceFlavorSpec> {
        self.flavors
            .list()
            .iter()
            .map(|flavor| (flavor.name().to_owned(), flavor.spec.clone()))
            .collect()
    }

    /// The jobs of the kind an owner reference points at, with its place in the list.
    #[must_use]
    pub fn jobs_of(&self, owner: &OwnerReference) -> Option<(usize, &Jobs)> {
        self.jobs
            .iter()
            .enumerate()
            .find(|(_, jobs)| jobs.kind.owns(owner))
    }

    /// What a job names as the description of its pods.
    #[must_use]
    pub fn runtime(&self, of: &RuntimeRef) -> Option<Arc<Runtime>> {
        let namespace = of.namespace.as_deref().unwrap_or_default();
        self.runtimes.get(&Key::new(namespace, &of.name))
    }

    /// Labels of a namespace, if it is known.
    #[must_use]
    pub fn namespace_labels(&self, name: &str) -> Option<BTreeMap<String, String>> {
        let namespace = self.namespaces.get(&Key::cluster(name))?;
        Some(namespace.metadata.labels.clone().unwrap_or_default())
    }
}

/// The framework of a job, and its name.
type OwnerKey = (&'static str, Key);

fn owner_key(workload: &Workload) -> Option<OwnerKey> {
    if let Some(pod) = single_owner(workload) {
        let key = Key::new(workload.namespace(), pod);
        return Some((jobs::pods::POD.framework, key));
    }
    let owner = job_owner(workload)?;
    let kind = jobs::kind::of_owner(owner)?;
    Some((kind.framework, Key::new(workload.namespace(), &owner.name)))
}

/// The chain of a slice of a job that grows.
fn chain_of(workload: &Workload) -> Option<Key> {
    let chain = || Key::new(workload.namespace(), slices::chain_of(workload));
    slices::is_marked(&workload.metadata).then(chain)
}

/// The Workload or the chain of slices that a pod names.
fn group_of(pod: &Pod) -> Option<Key> {
    let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    chain_of_pod(pod).map(|name| Key::new(namespace, name))
}

/// The job that a Workload was made for.
#[must_use]
pub fn job_owner(workload: &Workload) -> Option<&OwnerReference> {
    let owners = workload.metadata.owner_references.as_ref()?;
    owners
        .iter()
        .find(|owner| owner.controller == Some(true) && jobs::kind::of_owner(owner).is_some())
}
