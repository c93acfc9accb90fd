//! Everything the scheduler has to remember between two cycles, and the quota tree that follows from it.
//!
//! The tree is rebuilt at most once a cycle, when quotas or cohorts changed; usage is moved in it as workloads come and go. What may
//! give parked workloads another chance is noted in `touched` and acted upon before the next cycle, so that a burst costs one pass.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Namespace;
use kueue_api::Condition;
use kueue_api::conditions;
use kueue_api::v1beta2 as api;
use scheduler::{
    AdmittedByQueue, ClusterQueue, ClusterQueueName, CohortName, CohortQuotas, Flavor, FlavorName,
    Labels, Ledger, LocalQueueKey, Member, NamespaceName, QuotaTree, Snapshot, Unsupported,
    Workload, WorkloadKey,
};

use crate::holdings::Holdings;
use crate::pending::PendingQueue;
use crate::second_pass::SecondPasses;
use crate::shared_names::FlavorNames;
use crate::topology::Places;
use crate::workloads::Shelf;
use crate::{Affected, Options, Surroundings, convert};

/// The watched world of one controller.
#[derive(Debug, Default)]
pub struct Cache {
    pub(crate) options: Options,
    pub(crate) flavors: Arc<BTreeMap<FlavorName, Arc<Flavor>>>,
    pub(crate) flavor_names: FlavorNames,
    pub(crate) checks: BTreeMap<String, Check>,
    pub(crate) cohorts: BTreeMap<CohortName, CohortQuotas>,
    pub(crate) specs: Arc<BTreeMap<ClusterQueueName, Arc<ClusterQueue>>>,
    pub(crate) queues: BTreeMap<ClusterQueueName, QueueState>,
    pub(crate) local_queues: BTreeMap<LocalQueueKey, LocalQueueState>,
    pub(crate) namespaces: BTreeMap<NamespaceName, Arc<Labels>>,
    pub(crate) surroundings: Surroundings,
    pub(crate) priority_classes: BTreeMap<String, i32>,
    pub(crate) workloads: Shelf,
    pub(crate) by_local_queue: BTreeMap<LocalQueueKey, BTreeSet<WorkloadKey>>,
    /// How many workloads of a LocalQueue stand in a queue.
    pub(crate) standing: BTreeMap<LocalQueueKey, usize>,
    pub(crate) held: BTreeMap<ClusterQueueName, Holdings>,
    pub(crate) held_locally: BTreeMap<LocalQueueKey, Holdings>,
    /// The workloads behind `held`, as preemption looks at them.
    pub(crate) admitted: Arc<AdmittedByQueue>,
    pub(crate) tree: QuotaTree,
    /// The places that workloads are sent to by topology.
    pub(crate) places: Places,
    /// Workloads that are tried once more although they hold quota.
    pub(crate) second_passes: SecondPasses,
    pub(crate) stale_tree: bool,
    /// Whether the tree was rebuilt since parked workloads last got their chance.
    pub(crate) quota_changed: bool,
    pub(crate) touched: Touched,
    /// Who was parked because of room that was only held for the length of the last cycle.
    pub(crate) outpaced: Vec<(ClusterQueueName, WorkloadKey)>,
    pub(crate) cycles: u64,
    /// When the last cycle began.
    pub(crate) began: Timestamp,
    /// What LocalQueues have used.
    pub(crate) ledger: Ledger,
    /// Whether the last cycle stopped at workloads whose pods are not ready.
    pub(crate) stopped_by_pods: bool,
}

/// An `AdmissionCheck`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) active: bool,
    pub(crate) controller: String,
}

/// A ClusterQueue beside what the scheduler sees of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueState {
    pub(crate) pending: PendingQueue,
    /// Rises whenever quota may have become available.
    pub(crate) generation: u64,
    pub(crate) stopped: bool,
    pub(crate) terminating: bool,
    /// Whether it serves its LocalQueues by their past usage.
    pub(crate) fair: bool,
    pub(crate) checks: Vec<api::AdmissionCheckStrategyRule>,
    pub(crate) asks_for: Vec<Unsupported>,
    pub(crate) unreadable: Option<String>,
    pub(crate) observed: Observed,
}

/// A LocalQueue.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LocalQueueState {
    pub(crate) cluster_queue: Option<ClusterQueueName>,
    pub(crate) stopped: bool,
    pub(crate) terminating: bool,
    /// Its share where LocalQueues are served by their past usage.
    pub(crate) weight: f64,
    pub(crate) observed: Observed,
}

/// What an object said about itself when it was applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Observed {
    pub(crate) generation: Option<i64>,
    pub(crate) conditions: Vec<Condition>,
}

/// Where parked workloads deserve another chance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched {
    pub(crate) cluster_queues: BTreeSet<ClusterQueueName>,
    pub(crate) cohorts: BTreeSet<CohortName>,
}

impl Cache {
    /// An empty cache.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let places = Places::new(options.features.tas_handle_overlapping_flavors);
        Self {
            options,
            places,
            ..Self::default()
        }
    }

    /// A ResourceFlavor appeared or changed.
    pub fn apply_resource_flavor(&mut self, object: &api::ResourceFlavor) -> Affected {
        let name = FlavorName::from(object.name());
        let flavor = convert::flavor(object);
        if self
            .flavors
            .get(&name)
            .is_some_and(|known| **known == flavor)
        {
            return Affected::default();
        }
        Arc::make_mut(&mut self.flavors).insert(name.clone(), Arc::new(flavor));
        self.flavor_changed(&name)
    }

    /// A ResourceFlavor is gone.
    pub fn delete_resource_flavor(&mut self, name: &FlavorName) -> Affected {
        if Arc::make_mut(&mut self.flavors).remove(name).is_none() {
            return Affected::default();
        }
        self.flavor_changed(name)
    }

    fn flavor_changed(&mut self, flavor: &FlavorName) -> Affected {
        self.places.flavor_changed(flavor, &self.flavors);
        self.users_affected(|used| used == flavor)
    }

    /// ClusterQueues that use one of these flavors have to be looked at again, and their workloads too.
    pub(crate) fn users_affected(&mut self, concerned: impl Fn(&FlavorName) -> bool) -> Affected {
        let users = self.users(concerned);
        let mut affected = self.revise(&users);
        affected.wake |= !users.is_empty();
        self.touched.cluster_queues.extend(users);
        affected
    }

    /// The ClusterQueues that name one of these flavors.
    pub(crate) fn users(&self, concerned: impl Fn(&FlavorName) -> bool) -> Vec<ClusterQueueName> {
        let uses = |queue: &ClusterQueue| {
            queue
                .groups
                .iter()
                .any(|group| group.flavors.iter().any(&concerned))
        };
        let users = self.specs.values().filter(|queue| uses(queue));
        users.map(|queue| queue.name.clone()).collect()
    }

    /// An `AdmissionCheck` appeared or changed.
    pub fn apply_admission_check(&mut self, object: &api::AdmissionCheck) -> Affected {
        let stated = object
            .status
            .as_ref()
            .map_or(&[][..], |status| &status.conditions);
        let check = Check {
            active: conditions::is_true(stated, conditions::queue::ACTIVE),
            controller: object.spec.controller_name.clone(),
        };
        let known = self.checks.insert(object.name().to_owned(), check.clone());
        if known.as_ref() == Some(&check) {
            Affected::default()
        } else {
            self.check_changed(object.name())
        }
    }

    /// An `AdmissionCheck` is gone.
    pub fn delete_admission_check(&mut self, name: &str) -> Affected {
        if self.checks.remove(name).is_none() {
            Affected::default()
        } else {
            self.check_changed(name)
        }
    }

    fn check_changed(&mut self, name: &str) -> Affected {
        let uses = |state: &QueueState| state.checks.iter().any(|rule| rule.name == name);
        let users: Vec<_> = self
            .queues
            .iter()
            .filter(|(_, state)| uses(state))
            .map(|(name, _)| name.clone())
            .collect();
        self.revise(&users)
    }

    /// A Cohort appeared or changed. What cannot be read in it counts as no quota at all.
    pub fn apply_cohort(&mut self, object: &api::Cohort) -> Affected {
        let name = CohortName::from(object.name());
        let cohort = convert::cohort(object).unwrap_or_else(|_| CohortQuotas {
            parent: object.spec.parent().map(CohortName::from),
            ..CohortQuotas::default()
        });
        if self.cohorts.get(&name) == Some(&cohort) {
            return Affected::default();
        }
        let before = self.cohorts.insert(name.clone(), cohort);
        self.cohort_changed(name, before)
    }

    /// A Cohort is gone; its members now share nothing but their own quotas.
    pub fn delete_cohort(&mut self, name: &CohortName) -> Affected {
        match self.cohorts.remove(name) {
            Some(before) => self.cohort_changed(name.clone(), Some(before)),
            None => Affected::default(),
        }
    }

    fn cohort_changed(&mut self, name: CohortName, before: Option<CohortQuotas>) -> Affected {
        self.stale_tree = true;
        self.touched
            .cohorts
            .extend(before.and_then(|before| before.parent));
        self.touched.cohorts.insert(name);
        Affected {
            wake: true,
            ..Affected::default()
        }
    }

    /// A Namespace appeared or changed its labels.
    pub fn apply_namespace(&mut self, object: &Namespace) -> Affected {
        let labels: Labels = object.metadata.labels.clone().unwrap_or_default();
        let name = NamespaceName::new(object.metadata.name.as_deref().unwrap_or_default());
        let before = self.namespaces.insert(name, Arc::new(labels.clone()));
        if before.as_ref().is_some_and(|before| **before == labels) {
            return Affected::default();
        }
        let matches = |queue: &ClusterQueue, labels: &Labels| {
            queue
                .namespaces
                .as_ref()
                .is_some_and(|selector| selector.matches(labels))
        };
        let newly = |queue: &&Arc<ClusterQueue>| {
            matches(queue, &labels) && before.as_ref().is_none_or(|before| !matches(queue, before))
        };
        let opened: Vec<_> = self
            .specs
            .values()
            .filter(newly)
            .map(|queue| queue.name.clone())
            .collect();
        self.touched.cluster_queues.extend(opened.iter().cloned());
        Affected {
            wake: !opened.is_empty(),
            ..Affected::default()
        }
    }

    /// A Namespace is gone.
    pub fn delete_namespace(&mut self, name: &NamespaceName) -> Affected {
        self.namespaces.remove(name);
        Affected::default()
    }

    /// A WorkloadPriorityClass appeared or changed. Its value reaches workloads by their own priority.
    pub fn apply_workload_priority_class(
        &mut self,
        object: &api::WorkloadPriorityClass,
    ) -> Affected {
        self.priority_classes
            .insert(object.name().to_owned(), object.value);
        Affected::default()
    }

    /// A WorkloadPriorityClass is gone.
    pub fn delete_workload_priority_class(&mut self, name: &str) -> Affected {
        self.priority_classes.remove(name);
        Affected::default()
    }

    /// The value of a WorkloadPriorityClass.
    #[must_use]
    pub fn priority_class_value(&self, name: &str) -> Option<i32> {
        self.priority_classes.get(name).copied()
    }

    /// The world as a cycle would see it now. Cheap: it shares everything with the cache until one of them is written to.
    #[must_use]
    pub fn snapshot(&mut self) -> Snapshot {
        self.fresh_tree();
        Snapshot {
            tree: self.tree.clone(),
            cluster_queues: self.specs.clone(),
            flavors: self.flavors.clone(),
            topologies: self.topologies(),
            admitted: self.admitted.clone(),
            past_usage: self.all_past_usage(),
            pods_not_ready: self.pods_not_ready(),
        }
    }

    /// The ClusterQueue in whose queue a workload stands, if it waits at all.
    #[must_use]
    pub fn stands_in(&self, key: &WorkloadKey) -> Option<&ClusterQueueName> {
        self.workloads.get(key)?.queued_in.as_ref()
    }

    /// A workload as the scheduler sees it.
    #[must_use]
    pub fn workload(&self, key: &WorkloadKey) -> Option<Arc<Workload>> {
        self.workloads.get(key).map(|state| state.info.clone())
    }

    /// Rebuilds the tree if quotas or cohorts changed since.
    pub(crate) fn fresh_tree(&mut self) {
        if !self.stale_tree {
            return;
        }
        let members = self.specs.values().map(|queue| Member {
            name: &queue.name,
            cohort: queue.cohort.as_ref(),
            quotas: &queue.quotas,
            weight: queue.weight,
        });
        let usage = self
            .held
            .iter()
            .map(|(name, held)| (name.clone(), held.reserved.clone()))
            .collect();
        self.tree = QuotaTree::build(members, &self.cohorts, &usage);
        self.stale_tree = false;
        self.quota_changed = true;
    }
}
