//! A cluster in memory: its objects, a clock that is only moved by hand, and the cache that is told of everything. Each change is a
//! method here or in the folder `world`: `jobs.rs` for what happens to jobs, `cycle.rs` for scheduling.

mod cycle;
mod jobs;
mod nodes;
mod objects;
mod past;

use std::collections::{BTreeMap, BTreeSet};

use cache::{
    Cache, ClusterQueueName, CohortName, Features, FlavorName, LocalQueueKey, Options, WorkloadKey,
};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Namespace, Node};
use kueue_api::features::{self, GATES};
use kueue_api::v1beta2::{self as api, StopPolicy};
use scheduler::Snapshot;

use crate::script::{Command, Kind, Object, Setting, door, put};

pub use cycle::{Busy, Cycled, MOST_CYCLES};
pub(crate) use jobs::admitted_by;
pub use jobs::{Happening, Job};
pub(crate) use past::Past;

/// What cannot be done, and why.
pub type Refused = String;

/// When every world begins: a Monday morning.
const BEGIN: Timestamp = Timestamp::constant(1_767_600_000, 0);

/// A cluster in memory.
#[derive(Debug)]
pub struct World {
    pub(crate) cache: Cache,
    pub(crate) now: Timestamp,
    gates: BTreeMap<String, bool>,
    pub(crate) fair_sharing: bool,
    version: u64,
    pub(crate) namespaces: BTreeMap<String, Namespace>,
    pub(crate) flavors: BTreeMap<String, api::ResourceFlavor>,
    pub(crate) topologies: BTreeMap<String, api::Topology>,
    pub(crate) nodes: BTreeMap<String, Node>,
    pub(crate) cohorts: BTreeMap<String, api::Cohort>,
    pub(crate) queues: BTreeMap<String, api::ClusterQueue>,
    pub(crate) locals: BTreeMap<LocalQueueKey, api::LocalQueue>,
    pub(crate) jobs: BTreeMap<WorkloadKey, Job>,
    /// Jobs by their names alone, which are unique in a script.
    names: BTreeMap<String, WorkloadKey>,
    /// What cycles did, for the checks.
    pub(crate) past: Past,
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// A cluster without anything.
    #[must_use]
    pub fn new() -> Self {
        Self {
            cache: Cache::new(Options::default()),
            now: BEGIN,
            gates: BTreeMap::new(),
            fair_sharing: false,
            version: 0,
            namespaces: BTreeMap::new(),
            flavors: BTreeMap::new(),
            topologies: BTreeMap::new(),
            nodes: BTreeMap::new(),
            cohorts: BTreeMap::new(),
            queues: BTreeMap::new(),
            locals: BTreeMap::new(),
            jobs: BTreeMap::new(),
            names: BTreeMap::new(),
            past: Past::default(),
        }
    }

    /// The world as a cycle would see it.
    #[must_use]
    pub fn snapshot(&mut self) -> Snapshot {
        self.cache.snapshot()
    }

    /// Seconds since the beginning.
    #[must_use]
    pub fn seconds(&self) -> i64 {
        self.now.duration_since(BEGIN).as_secs()
    }

    /// Chooses what an operator chooses.
    ///
    /// # Errors
    /// When something exists already, or the gate is unknown.
    pub fn set(&mut self, setting: &Setting) -> Result<(), Refused> {
        if !self.queues.is_empty() || !self.flavors.is_empty() || !self.jobs.is_empty() {
            return Err("expected `set` before everything else, as a controller reads its configuration when it starts".to_owned());
        }
        match setting {
            Setting::FairSharing(on) => self.fair_sharing = *on,
            Setting::Gate(name, on) => {
                if !GATES.iter().any(|gate| gate.name == name) {
                    return Err(format!("expected a feature gate of Kueue, found `{name}`"));
                }
                self.gates.insert(name.clone(), *on);
            }
        }
        let gates = features::Features::with(self.gates.clone());
        self.cache = Cache::new(Options {
            features: Features::read(|name| gates.on(name)),
            fair_sharing: self.fair_sharing.then(Default::default),
            ..Options::default()
        });
        Ok(())
    }

    /// Creates or replaces an object that is not a job.
    pub fn apply(&mut self, object: Object) {
        let now = self.now;
        match object {
            Object::Namespace(object) => {
                let _ = self.cache.apply_namespace(&object);
                self.namespaces.insert(name_of(&object.metadata), *object);
            }
            Object::Node(object) => {
                let _ = self.cache.apply_node(&object);
                self.nodes.insert(name_of(&object.metadata), *object);
            }
            Object::Topology(object) => {
                let _ = self.cache.apply_topology(&object);
                self.topologies.insert(object.name().to_owned(), *object);
            }
            Object::Flavor(object) => {
                let _ = self.cache.apply_resource_flavor(&object);
                self.flavors.insert(object.name().to_owned(), *object);
            }
            Object::Cohort(object) => {
                let _ = self.cache.apply_cohort(&object);
                self.cohorts.insert(object.name().to_owned(), *object);
            }
            Object::ClusterQueue(object) => self.apply_queue(*object),
            Object::LocalQueue(object) => {
                let key = key_of(&object);
                self.know_namespace(key.namespace.as_str());
                let _ = self.cache.apply_local_queue(&object, now);
                self.locals.insert(key, *object);
            }
            Object::PriorityClass(object) => {
                let _ = self.cache.apply_workload_priority_class(&object);
            }
            Object::Workload(object) => {
                let _ = self.submit(*object, None);
            }
        }
    }

    fn apply_queue(&mut self, mut object: api::ClusterQueue) {
        let name = object.name().to_owned();
        let before = self.queues.get(&name);
        object.metadata.generation =
            Some(before.map_or(0, |known| known.metadata.generation.unwrap_or(0)) + 1);
        default_preemption(&mut object);
        let _ = self.cache.apply_cluster_queue(&object, self.now);
        self.queues.insert(name, object);
    }

    /// A new ClusterQueue gets a LocalQueue of its name in the namespace `default` when none leads to it yet.
    fn open_door(&mut self, name: &str) {
        let leads = |local: &api::LocalQueue| local.spec.cluster_queue() == name;
        if !self.queues.contains_key(name) && !self.locals.values().any(leads) {
            self.apply(Object::LocalQueue(Box::new(door(name, name))));
        }
    }

    pub(crate) fn know_namespace(&mut self, name: &str) {
        if self.namespaces.contains_key(name) {
            return;
        }
        let labels = BTreeMap::from([("kubernetes.io/metadata.name".to_owned(), name.to_owned())]);
        let mut object = Namespace::default();
        object.metadata.name = Some(name.to_owned());
        object.metadata.labels = Some(labels);
        self.apply(Object::Namespace(Box::new(object)));
    }

    /// Replaces one quota.
    ///
    /// # Errors
    /// When there is neither a queue nor a cohort of that name.
    pub fn quota(&mut self, name: &str, quota: api::FlavorQuotas) -> Result<(), Refused> {
        if let Some(queue) = self.queues.get(name) {
            let mut queue = queue.clone();
            put(&mut queue.spec.resource_groups, quota);
            self.apply(Object::ClusterQueue(Box::new(queue)));
            return Ok(());
        }
        let Some(cohort) = self.cohorts.get(name) else {
            return Err(expected(
                "a queue or cohort",
                name,
                self.queues.keys().chain(self.cohorts.keys()),
            ));
        };
        let mut cohort = cohort.clone();
        put(&mut cohort.spec.resource_groups, quota);
        self.apply(Object::Cohort(Box::new(cohort)));
        Ok(())
    }

    /// Stops a ClusterQueue or lets it go on.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn stop(&mut self, name: &str, policy: StopPolicy) -> Result<Vec<Happening>, Refused> {
        let Some(queue) = self.queues.get(name) else {
            return Err(expected("a queue", name, self.queues.keys()));
        };
        let mut queue = queue.clone();
        queue.spec.stop_policy = Some(policy);
        self.apply(Object::ClusterQueue(Box::new(queue)));
        Ok(match policy {
            StopPolicy::None => self.restart(name),
            StopPolicy::Hold => Vec::new(),
            StopPolicy::HoldAndDrain => self.drain(name),
        })
    }

    /// Deletes an object.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn delete(&mut self, kind: Kind, name: &str) -> Result<(), Refused> {
        let now = self.now;
        let known = match kind {
            Kind::Job => return self.delete_job(name),
            Kind::Queue => {
                let _ = self
                    .cache
                    .delete_cluster_queue(&ClusterQueueName::from(name));
                self.queues.remove(name).is_some()
            }
            Kind::Cohort => {
                let _ = self.cache.delete_cohort(&CohortName::from(name));
                self.cohorts.remove(name).is_some()
            }
            Kind::Flavor => {
                let _ = self.cache.delete_resource_flavor(&FlavorName::from(name));
                self.flavors.remove(name).is_some()
            }
            Kind::Node => {
                let _ = self.cache.delete_node(name);
                self.nodes.remove(name).is_some()
            }
            Kind::Local => {
                let (namespace, name) = name.split_once('/').unwrap_or(("default", name));
                let key = LocalQueueKey::new(namespace, name);
                let _ = self.cache.delete_local_queue(&key, now);
                self.locals.remove(&key).is_some()
            }
        };
        if known {
            Ok(())
        } else {
            Err(format!("expected a {kind:?} that exists, found `{name}`").to_lowercase())
        }
    }

    /// Moves the clock; jobs whose time is over finish on the way.
    pub fn advance(&mut self, by: SignedDuration) -> Vec<Happening> {
        self.now = self.now.checked_add(by).unwrap_or(self.now);
        self.finish_due()
    }

    /// The same objects, told to a controller that has just started.
    #[must_use]
    pub fn retold(&self) -> Self {
        let mut fresh = Self {
            now: self.now,
            gates: self.gates.clone(),
            fair_sharing: self.fair_sharing,
            ..Self::new()
        };
        let _ = fresh.set(&Setting::FairSharing(self.fair_sharing));
        let namespaces = self.namespaces.values().cloned().map(Box::new);
        let flavors = self.flavors.values().cloned().map(Box::new);
        let topologies = self.topologies.values().cloned().map(Box::new);
        let nodes = self.nodes.values().cloned().map(Box::new);
        let cohorts = self.cohorts.values().cloned().map(Box::new);
        let locals = self.locals.values().cloned().map(Box::new);
        let queues = self.queues.values().cloned().map(Box::new);
        namespaces
            .map(Object::Namespace)
            .chain(topologies.map(Object::Topology))
            .chain(flavors.map(Object::Flavor))
            .chain(nodes.map(Object::Node))
            .chain(cohorts.map(Object::Cohort))
            .chain(locals.map(Object::LocalQueue))
            .chain(queues.map(Object::ClusterQueue))
            .for_each(|object| fresh.apply(object));
        fresh.retell_jobs(self);
        fresh
    }

    /// Carries out a command that changes the world; what it prints is not its matter.
    ///
    /// # Errors
    /// What cannot be done, and why.
    pub fn act(&mut self, command: Command) -> Result<Vec<Happening>, Refused> {
        match command {
            Command::Say(_) | Command::Show(_) | Command::Cycles(_) | Command::Run => {
                Ok(Vec::new())
            }
            Command::Set(setting) => self.set(&setting).map(|()| Vec::new()),
            Command::Apply(object) => {
                if let Object::ClusterQueue(queue) = &object {
                    self.open_door(queue.name());
                }
                let node = match &object {
                    Object::Node(node) => Some(name_of(&node.metadata)),
                    _ => None,
                };
                self.apply(object);
                Ok(node.map_or_else(Vec::new, |name| self.node_changed(&name)))
            }
            Command::Quota(name, quota) => self.quota(&name, quota).map(|()| Vec::new()),
            Command::Stop(name, policy) => self.stop(&name, policy),
            Command::Submit(workload, runs) => self.submit(*workload, runs).map(|()| Vec::new()),
            Command::Change(job, change) => self.change(&job, change),
            Command::Delete(kind, name) => {
                self.delete(kind, &name)?;
                Ok(match kind {
                    Kind::Node => self.node_changed(&name),
                    _ => Vec::new(),
                })
            }
            Command::Advance(by) => Ok(self.advance(by)),
        }
    }
}

/// What the API server fills in.
fn default_preemption(object: &mut api::ClusterQueue) {
    let preemption = object.spec.preemption.get_or_insert_default();
    let (own, reclaim) = (
        preemption.within_cluster_queue(),
        preemption.reclaim_within_cohort(),
    );
    preemption.within_cluster_queue = Some(own);
    preemption.reclaim_within_cohort = Some(reclaim);
    let policy = preemption.borrow_within_cohort();
    let borrowing = preemption.borrow_within_cohort.get_or_insert_default();
    borrowing.policy = Some(policy);
}

fn name_of(metadata: &kueue_api::ObjectMeta) -> String {
    metadata.name.clone().unwrap_or_default()
}

fn key_of(local: &api::LocalQueue) -> LocalQueueKey {
    LocalQueueKey::new(
        local.metadata.namespace.as_deref().unwrap_or("default"),
        local.name(),
    )
}

/// A complaint that lists what there is.
pub(crate) fn expected<'a>(
    what: &str,
    found: &str,
    known: impl Iterator<Item = &'a String>,
) -> Refused {
    let known: BTreeSet<&str> = known.map(String::as_str).collect();
    let list: Vec<_> = known.into_iter().take(12).collect();
    match list.as_slice() {
        [] => format!("expected {what} that exists, found `{found}`; there is none yet"),
        list => format!(
            "expected {what} that exists ({}), found `{found}`",
            list.join(", ")
        ),
    }
}
