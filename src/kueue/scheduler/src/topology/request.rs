//! How a pod set wants to be placed: close together at some level, in slices, or anywhere; how many pods of what size, on which nodes, and
//! under which circumstances.

use quantity::Requests;

use super::assignment::TopologyAssignment;
use crate::labels::{NodeAffinity, Requirement, Toleration};
use crate::names::PodSetName;

/// Pods that come in slices which have to stay together at some level.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SliceConstraint {
    /// The level.
    pub level: String,
    /// How many pods make a slice; 0 if nobody said it.
    pub size: i64,
}

/// What a pod set says about its place. The default says nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct TopologyRequest {
    /// All pods within one domain of this level.
    pub required: Option<String>,
    /// All pods within one domain of this level if possible.
    pub preferred: Option<String>,
    /// Anywhere, but counted; that it was said at all asks for a topology.
    pub unconstrained: Option<bool>,
    /// Slices, from the widest to the narrowest.
    pub slices: Vec<SliceConstraint>,
    /// Pod sets of one group are placed together, one of them as the leader of the other.
    pub group: Option<String>,
}

impl TopologyRequest {
    /// Whether it asks to be placed at all; the group alone does not.
    #[must_use]
    pub fn is_explicit(&self) -> bool {
        self.required.is_some()
            || self.preferred.is_some()
            || self.unconstrained.is_some()
            || !self.slices.is_empty()
    }
}

/// The pods of one pod set, to be placed in one flavor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSetRequest {
    /// The pod set.
    pub pod_set: PodSetName,
    /// How closely together. The default says nothing.
    pub request: TopologyRequest,
    /// Whether it is placed although it says nothing, because its queue has no other flavors.
    pub implied: bool,
    /// How many pods.
    pub count: i64,
    /// What each pod asks for by its own template, without the resource `pods`.
    pub per_pod: Requests,
    /// What they tolerate, admission checks' additions included, without what the flavor adds.
    pub tolerations: Vec<Toleration>,
    /// The nodes they insist on, admission checks' additions included. Looked at only if the lowest level is the host name.
    pub nodes: NodeAffinity,
    /// The nodes they would rather have.
    pub preferred_nodes: Vec<PreferredTerm>,
    /// Where the pods of the workload slice that is replaced run.
    pub previous: Option<TopologyAssignment>,
    /// Where its own pods run, if a node of them is to be replaced.
    pub current: Option<TopologyAssignment>,
}

impl PodSetRequest {
    /// A request that says nothing but how many pods of what size.
    #[must_use]
    pub fn new(pod_set: PodSetName, count: i64, per_pod: Requests) -> Self {
        Self {
            pod_set,
            request: TopologyRequest::default(),
            implied: false,
            count,
            per_pod,
            tolerations: Vec::new(),
            nodes: NodeAffinity::default(),
            preferred_nodes: Vec::new(),
            previous: None,
            current: None,
        }
    }
}

/// Labels that pods would rather have on their nodes, and how much rather.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PreferredTerm {
    /// How much it counts.
    pub weight: i64,
    /// All of them have to hold; none at all hold everywhere.
    pub requirements: Vec<Requirement>,
}

/// The circumstances of a search.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Search {
    /// The operator's switches.
    pub gates: Gates,
    /// As if all workloads placed by topology were gone.
    pub empty: bool,
    /// Look for a replacement of this node only.
    pub unhealthy: Option<Unhealthy>,
}

/// A node that failed under a running workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unhealthy {
    /// Its host name.
    pub node: String,
    /// Whether the workload is a single pod, which cannot move: its assignment stays (gate `SkipReassignmentForPodOwnedWorkloads`).
    pub keep: bool,
}

/// Feature gates that change placement. Named like the reference's, with its defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gates {
    /// `TASProfileMixed`: unconstrained pods fill the fullest domains first.
    pub profile_mixed: bool,
    /// `TASBalancedPlacement`: preferred placement spreads evenly over as few domains as possible.
    pub balanced_placement: bool,
    /// `TASRespectNodeAffinityPreferred`: preferred node affinity comes before a good fit.
    pub respect_node_affinity_preferred: bool,
    /// `ElasticJobsViaWorkloadSlicesWithTAS`: pods of a replaced slice stay where they are.
    pub elastic_jobs: bool,
}

impl Default for Gates {
    fn default() -> Self {
        Self {
            profile_mixed: true,
            balanced_placement: false,
            respect_node_affinity_preferred: false,
            elastic_jobs: false,
        }
    }
}
