//! What is to be done after a cycle. It leaves nothing to choose.

use std::sync::Arc;

use jiff::Timestamp;
use quantity::{Requests, ResourceName, SmallMap};

use crate::admitted::Admitted;
use crate::assign::{Assignment, PodSetAssignment};
use crate::names::{ClusterQueueName, FlavorName, LocalQueueKey, PodSetName, WorkloadKey};
use crate::objects::{Usage, Workload};
use crate::places::{Delayed, Topologies};
use crate::preemption::PreemptionReason;
use crate::topology::{TopologyAssignment, TopologyUsage};

/// What one pod set receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSetAdmission {
    /// Which pod set.
    pub name: PodSetName,
    /// For how many pods.
    pub count: i64,
    /// The flavor of each resource.
    pub flavors: SmallMap<ResourceName, FlavorName>,
    /// How much of each resource they hold together.
    pub usage: Requests,
    /// The domains they go to.
    pub place: Option<TopologyAssignment>,
    /// Whether they are told so later.
    pub delayed: Option<Delayed>,
}

/// Quota reserved for one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Which workload.
    pub workload: WorkloadKey,
    /// The object's UID.
    pub uid: Arc<str>,
    /// The UID of the job it stands for, where it is known.
    pub job_uid: Option<Arc<str>>,
    /// What it asked for when this was decided, as a hash.
    pub shape: u64,
    /// The LocalQueue it came through.
    pub local_queue: LocalQueueKey,
    /// The ClusterQueue whose quota it holds.
    pub cluster_queue: ClusterQueueName,
    /// What each pod set receives.
    pub pod_sets: Vec<PodSetAdmission>,
    /// What it holds in total.
    pub usage: Usage,
    /// What it takes from the domains of topologies.
    pub places: TopologyUsage,
    /// Since when it waited.
    pub waiting_since: Timestamp,
    /// What was found out about the flavors.
    pub considered: Vec<PodSetAssignment>,
    /// Whether its LocalQueue's usage rises at once.
    pub entry_penalty: bool,
    /// The slice that is finished, now that this one takes its place.
    pub replaces: Option<Arc<Admitted>>,
}

impl Admission {
    pub(crate) fn of(
        workload: &Workload,
        cluster_queue: &ClusterQueueName,
        assignment: &Assignment,
        topologies: &Topologies,
    ) -> Self {
        let pod_sets = assignment.pod_sets.iter().map(|pod_set| PodSetAdmission {
            name: pod_set.name.clone(),
            count: pod_set.count,
            flavors: pod_set
                .flavors
                .iter()
                .map(|(resource, choice)| (resource.clone(), choice.flavor.clone()))
                .collect(),
            // What is asked for in vain, zero of an unknown resource, is not held.
            usage: held(pod_set),
            place: pod_set.place.clone(),
            delayed: pod_set.delayed,
        });
        Self {
            workload: workload.key.clone(),
            uid: workload.uid.clone(),
            job_uid: workload.job_uid.clone(),
            shape: workload.shape,
            local_queue: workload.local_queue.clone(),
            cluster_queue: cluster_queue.clone(),
            pod_sets: pod_sets.collect(),
            usage: assignment.usage.clone(),
            places: assignment.places(workload, topologies),
            waiting_since: workload.waiting_since,
            considered: assignment.pod_sets.clone(),
            entry_penalty: false,
            replaces: None,
        }
    }
}

impl Admission {
    /// Whether some pod set has to wait for its place.
    #[must_use]
    pub fn waits_for_places(&self) -> bool {
        let waits = |pod_set: &PodSetAdmission| {
            pod_set.place.is_none() && pod_set.delayed == Some(Delayed::Pending)
        };
        self.pod_sets.iter().any(waits)
    }
}

fn held(pod_set: &PodSetAssignment) -> Requests {
    let with_flavor = pod_set
        .flavors
        .keys()
        .map(|resource| (resource.clone(), pod_set.requests.get(resource)));
    with_flavor.collect()
}

/// A workload that has to leave for another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preemption {
    /// For whom.
    pub preemptor: Arc<Workload>,
    /// The ClusterQueue in which that one will be admitted.
    pub cluster_queue: ClusterQueueName,
    /// Where that is: all cohorts from the top, then the ClusterQueue.
    pub preemptor_path: String,
    /// Who.
    pub target: Arc<Admitted>,
    /// The same of its ClusterQueue.
    pub target_path: String,
    /// By which right.
    pub reason: PreemptionReason,
}

/// A workload that has to leave for another reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// A variant of the same workload can have a better flavor.
    Migration {
        /// Who leaves.
        evicted: Arc<Admitted>,
        /// For whom.
        by: Arc<Workload>,
    },
    /// Nodes that it uses failed, and there are no others.
    NodeFailures {
        /// Who leaves.
        evicted: Arc<Admitted>,
        /// These nodes.
        nodes: Vec<String>,
    },
}

impl Eviction {
    /// Who leaves.
    #[must_use]
    pub fn evicted(&self) -> &Arc<Admitted> {
        match self {
            Self::Migration { evicted, .. } | Self::NodeFailures { evicted, .. } => evicted,
        }
    }
}

/// All that a cycle decided to do, in order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Plan {
    /// Workloads that receive quota.
    pub admissions: Vec<Admission>,
    /// Workloads that have to leave so that others fit.
    pub preemptions: Vec<Preemption>,
    /// Workloads that have to leave otherwise.
    pub evictions: Vec<Eviction>,
}
