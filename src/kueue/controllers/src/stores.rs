//! The watched objects of every kind, and which Workloads belong to which job.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jobs::{GenericJob, JobKind};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{LimitRange, Namespace, Node, Pod};
use k8s_openapi::api::node::v1::RuntimeClass;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kueue_api::v1beta2::{
    AdmissionCheck, ClusterQueue, Cohort, LocalQueue, ResourceFlavor, ResourceFlavorSpec, Topology,
    Workload, WorkloadPriorityClass,
};
use kueue_api::workload::pods::workload_of;
use parking_lot::RwLock;

use crate::key::Key;
use crate::pods::key::single_owner;
use crate::pods::shelf::Shelf;
use crate::store::{Put, Store, Stored};

/// A job of whatever kind, as it is kept.
#[derive(Debug)]
pub struct Job(pub Box<dyn GenericJob>);

impl Stored for Job {
    fn meta(&self) -> &ObjectMeta {
        self.0.meta()
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
    /// Pods that say which Workload they are of; others are only counted by the cache.
    pub pods: Store<Pod>,
    /// Pods to look after.
    pub shelf: Shelf,
    pub jobs: Vec<Jobs>,
    owned: RwLock<BTreeMap<OwnerKey, BTreeSet<Key>>>,
    pods_of: RwLock<BTreeMap<Key, BTreeSet<Key>>>,
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
            pods: Store::default(),
            jobs: kinds
                .iter()
                .map(|kind| Jobs {
                    kind,
                    objects: Store::default(),
                })
                .collect(),
            shelf: Shelf::default(),
            owned: RwLock::default(),
            pods_of: RwLock::default(),
        }
    }

    /// Takes a Workload in and notes whose it is.
    pub fn put_workload(&self, workload: &Arc<Workload>) -> Put<Workload> {
        let put = self.workloads.put(workload.clone());
        if let Put::Taken(before) = &put {
            let mut owned = self.owned.write();
            let key = Key::of(&workload.metadata);
            if let Some(owner) = before.as_ref().and_then(|w| owner_key(w)) {
                forget(&mut owned, &owner, &key);
            }
            if let Some(owner) = owner_key(workload) {
                owned.entry(owner).or_default().insert(key);
            }
        }
        put
    }

    /// Forgets a Workload.
    pub fn remove_workload(&self, key: &Key, uid: Option<&str>) -> Option<Arc<Workload>> {
        let removed = self.workloads.remove(key, uid)?;
        if let Some(owner) = owner_key(&removed) {
            forget(&mut self.owned.write(), &owner, key);
        }
        Some(removed)
    }

    /// The Workloads whose controller is a job of this kind and name, by their own names. It may be an earlier one of that name.
    #[must_use]
    pub fn workloads_of(&self, kind: &'static JobKind, job: &Key) -> Vec<Arc<Workload>> {
        let owned = self.owned.read();
        owned
            .get(&(kind.framework, job.clone()))
            .into_iter()
            .flatten()
            .filter_map(|key| self.workloads.get(key))
            .collect()
    }

    /// The Workloads that were made for a single pod of this name.
    #[must_use]
    pub fn workloads_of_pod(&self, pod: &Key) -> Vec<Arc<Workload>> {
        let owned = self.owned.read();
        let keys = owned.get(&(jobs::pods::POD.framework, pod.clone()));
        let keys = keys.into_iter().flatten();
        keys.filter_map(|key| self.workloads.get(key)).collect()
    }

    /// Takes in a pod that names its Workload, and gives that Workload's key.
    pub fn put_pod(&self, pod: &Arc<Pod>, workload: &str) -> Key {
        let key = Key::of(&pod.metadata);
        let of = Key::new(&key.namespace, workload);
        if let Put::Taken(_) = self.pods.put(pod.clone()) {
            self.pods_of
                .write()
                .entry(of.clone())
                .or_default()
                .insert(key);
        }
        of
    }

    /// Forgets a pod, and gives the key of its Workload.
    pub fn remove_pod(&self, key: &Key, uid: Option<&str>) -> Option<Key> {
        let pod = self.pods.remove(key, uid)?;
        let of = Key::new(&key.namespace, workload_of(&pod)?);
        let mut pods_of = self.pods_of.write();
        if let Some(pods) = pods_of.get_mut(&of) {
            pods.remove(key);
            if pods.is_empty() {
                pods_of.remove(&of);
            }
        }
        Some(of)
    }

    /// The pods that name a Workload, by name.
    #[must_use]
    pub fn pods_of(&self, workload: &Key) -> Vec<Arc<Pod>> {
        let pods_of = self.pods_of.read();
        let keys = pods_of.get(workload).into_iter().flatten();
        keys.filter_map(|key| self.pods.get(key)).collect()
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

fn forget(owned: &mut BTreeMap<OwnerKey, BTreeSet<Key>>, owner: &OwnerKey, key: &Key) {
    if let Some(keys) = owned.get_mut(owner) {
        keys.remove(key);
        if keys.is_empty() {
            owned.remove(owner);
        }
    }
}

/// The job that a Workload was made for.
#[must_use]
pub fn job_owner(workload: &Workload) -> Option<&OwnerReference> {
    let owners = workload.metadata.owner_references.as_ref()?;
    owners
        .iter()
        .find(|owner| owner.controller == Some(true) && jobs::kind::of_owner(owner).is_some())
}
