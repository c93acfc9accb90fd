//! What a cycle decides about: flavors, ClusterQueues and workloads, as values without anything the decision does not need.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use quantity::{Amount, Requests, ResourceName, SmallMap};

use crate::labels::{Labels, NodeAffinity, Selector, Taint, Toleration};
use crate::names::{
    ClusterQueueName, CohortName, FlavorName, FlavorResource, LocalQueueKey, PodSetName,
    WorkloadKey,
};
use crate::places::Delayed;
use crate::policy::Policy;
use crate::quota::Quota;
use crate::share::Weight;
use crate::topology::{PreferredTerm, TopologyAssignment, TopologyRequest};

/// A kind of node that quota is given for.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Flavor {
    /// Labels that all its nodes have.
    pub node_labels: Labels,
    /// Taints that all its nodes have.
    pub taints: Vec<Taint>,
    /// Tolerations that its pods receive on admission.
    pub tolerations: Vec<Toleration>,
    /// The topology its nodes are arranged in.
    pub topology: Option<String>,
}

/// Resources that are always taken from the same flavor, and the flavors in the order they are tried.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ResourceGroup {
    /// The resources, in the order of the object.
    pub covered: Vec<ResourceName>,
    /// The flavors, in the order they are tried.
    pub flavors: Vec<FlavorName>,
}

/// The order in which pending workloads of a ClusterQueue get their turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strategy {
    /// The first one blocks the others until it is admitted.
    StrictFifo,
    /// One that does not fit is set aside.
    #[default]
    BestEffortFifo,
}

/// What to do with a flavor that would do under a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenPossible {
    /// Take it.
    MayStopSearch,
    /// See whether a later one is better.
    TryNextFlavor,
}

/// Which of two imperfect flavors is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Preference {
    /// Rather borrow than preempt.
    #[default]
    BorrowingOverPreemption,
    /// Rather preempt than borrow.
    PreemptionOverBorrowing,
}

/// How far the search through the flavors goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fungibility {
    /// At a flavor that fits by borrowing.
    pub when_can_borrow: WhenPossible,
    /// At a flavor that fits after preemption.
    pub when_can_preempt: WhenPossible,
    /// Which one is better when all were seen.
    pub preference: Preference,
}

impl Default for Fungibility {
    fn default() -> Self {
        Self {
            when_can_borrow: WhenPossible::MayStopSearch,
            when_can_preempt: WhenPossible::TryNextFlavor,
            preference: Preference::default(),
        }
    }
}

/// Whom a ClusterQueue may preempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PreemptionPolicy {
    /// Nobody.
    #[default]
    Never,
    /// Nobody, because nobody said whom. The API server fills this in with `Never`; where it did not, the reference still assigns flavors in
    /// the hope of preemption, and then finds nobody.
    Unsaid,
    /// Workloads of lower priority.
    LowerPriority,
    /// Those, and newer ones of the same priority.
    LowerOrNewerEqualPriority,
    /// Anybody.
    Any,
}

/// The preemption policies of a ClusterQueue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Preemption {
    /// In its own queue.
    pub within_cluster_queue: PreemptionPolicy,
    /// In the cohort, to get back what was lent.
    pub reclaim_within_cohort: PreemptionPolicy,
    /// In the cohort, while borrowing itself.
    pub borrow_within_cohort: PreemptionPolicy,
    /// While borrowing, nobody of a higher priority than this; nobody is spared if `None`.
    pub max_priority_threshold: Option<i32>,
}

/// A ClusterQueue as it stands during a cycle. Its usage is in the quota tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterQueue {
    /// Its name.
    pub name: ClusterQueueName,
    /// The cohort it shares with.
    pub cohort: Option<CohortName>,
    /// What it covers.
    pub groups: Vec<ResourceGroup>,
    /// How much of it.
    pub quotas: BTreeMap<FlavorResource, Quota>,
    /// Namespaces that may use it; `None` means none may.
    pub namespaces: Option<Selector>,
    /// The order of its pending workloads.
    pub strategy: Strategy,
    /// How flavors are searched.
    pub fungibility: Fungibility,
    /// Whom it may preempt.
    pub preemption: Preemption,
    /// How much it counts when its cohort is shared.
    pub weight: Weight,
    /// Which places are found later.
    pub places_later: PlacesLater,
    /// Whether its LocalQueues are served by their past usage.
    pub usage_based: bool,
    /// The last flavor to which a variant that runs may be moved.
    pub last_acceptable_flavor: Option<FlavorName>,
    /// Whether it admits anything at all.
    pub active: bool,
}

impl ClusterQueue {
    /// A ClusterQueue that covers nothing and admits nobody.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: ClusterQueueName::from(name),
            cohort: None,
            groups: Vec::new(),
            quotas: BTreeMap::new(),
            namespaces: None,
            strategy: Strategy::default(),
            fungibility: Fungibility::default(),
            preemption: Preemption::default(),
            weight: Weight::default(),
            places_later: PlacesLater::default(),
            usage_based: false,
            last_acceptable_flavor: None,
            active: false,
        }
    }

    /// Whether admitting a workload raises the usage of its LocalQueue at once. A second pass does not: the first one did.
    #[must_use]
    pub fn owes_entry_penalty(&self, workload: &Workload, policy: &Policy) -> bool {
        policy.admission_fair_sharing && self.usage_based && !workload.reserved
    }

    /// The group that covers a resource.
    #[must_use]
    pub fn group_of(&self, resource: &ResourceName) -> Option<&ResourceGroup> {
        self.groups
            .iter()
            .find(|group| group.covered.contains(resource))
    }

    /// The quota it has of its own.
    #[must_use]
    pub fn quota(&self, of: &FlavorResource) -> Quota {
        self.quotas.get(of).copied().unwrap_or_default()
    }
}

/// Pods of one template.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PodSet {
    /// Its name.
    pub name: PodSetName,
    /// How many pods are asked for, without those already given back.
    pub count: i64,
    /// With how many it could begin, if fewer.
    pub min_count: Option<i64>,
    /// What each pod asks for.
    pub per_pod: Requests,
    /// The nodes it insists on.
    pub affinity: NodeAffinity,
    /// The taints it tolerates.
    pub tolerations: Vec<Toleration>,
    /// How it asks to be placed. Pod sets with the same group receive the same flavors.
    pub topology: TopologyRequest,
    /// What each pod takes from its node by its template, whatever quota counts.
    pub template: Requests,
    /// The nodes it would rather have.
    pub preferred_nodes: Vec<PreferredTerm>,
    /// What admission checks added.
    pub added: PodSetAdditions,
}

/// What admission checks add to the pods of a set, as far as the choice of nodes depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct PodSetAdditions {
    /// Labels that their nodes have to have.
    pub selector: Labels,
    /// Taints that they tolerate.
    pub tolerations: Vec<Toleration>,
}

/// What a pod set holds that was admitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldPodSet {
    /// Its name.
    pub name: PodSetName,
    /// How many pods of it hold quota.
    pub count: i64,
    /// The flavor of each resource.
    pub flavors: BTreeMap<ResourceName, FlavorName>,
    /// What they hold together.
    pub requests: Requests,
    /// The domains its pods were given.
    pub place: Option<TopologyAssignment>,
    /// Whether its place is, or was, found after its quota.
    pub delayed: Option<Delayed>,
}

/// Quota that a workload holds already. Known of those that are tried once more, to be given a place or another one (section 4.15), and of
/// those whose job may grow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// What each pod set holds.
    pub pod_sets: Vec<HeldPodSet>,
    /// Whether its pods may run already.
    pub admitted: bool,
    /// Nodes that it uses and that failed.
    pub unhealthy_nodes: Vec<String>,
    /// Whether it has to be tried once more.
    pub again: bool,
}

impl Reservation {
    /// Whether a place contains a node that failed.
    #[must_use]
    pub fn is_broken(&self, place: &TopologyAssignment) -> bool {
        let failed = |value: &String| self.unhealthy_nodes.contains(value);
        let mut domains = place.domains.iter();
        domains.any(|domain| domain.values.last().is_some_and(failed))
    }

    /// Whether some pod set runs on a node that failed.
    #[must_use]
    pub fn needs_replacement(&self) -> bool {
        let mut places = self.pod_sets.iter().filter_map(|held| held.place.as_ref());
        self.admitted && places.any(|place| self.is_broken(place))
    }
}

/// Which places are found after the quota was reserved, because an admission check has to answer first.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PlacesLater {
    /// All of them: another cluster decides.
    pub always: bool,
    /// Those in these flavors, whose nodes are provisioned first.
    pub until_reserved: Vec<FlavorName>,
}

/// A bound that a pod template has to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Requests are at most limits.
    AboveLimits,
    /// Nothing is above the maximum of a `LimitRange`.
    AboveMax,
    /// Nothing is below the minimum of a `LimitRange`.
    BelowMin,
}

/// Part of a pod template that does not keep to a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfBounds {
    /// Where it is.
    pub field: String,
    /// The resources concerned, in the order of their names.
    pub resources: Vec<ResourceName>,
    /// The bound.
    pub rule: Rule,
}

/// Why a workload cannot be considered, whatever quota is there. Found while it was converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Some admission check said Retry or Rejected.
    FailedChecks,
    /// Containers ask for more than their limits.
    RequestsAboveLimits(Vec<OutOfBounds>),
    /// Containers or pods are not what the `LimitRanges` of the namespace let them be.
    OutsideLimitRange(Vec<OutOfBounds>),
    /// Something in it cannot be read.
    Malformed(String),
}

/// A workload that waits for quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Which one.
    pub key: WorkloadKey,
    /// The object's UID, which also breaks ties.
    pub uid: Arc<str>,
    /// The LocalQueue it was sent to.
    pub local_queue: LocalQueueKey,
    /// The UID of the job it stands for, where it is known.
    pub job_uid: Option<Arc<str>>,
    /// Its effective priority.
    pub priority: i64,
    /// The part of it that was added to the priority of its class.
    pub boost: i32,
    /// When it was created.
    pub created: Timestamp,
    /// Since when it stands in the queue, as far as order is concerned.
    pub queued: Timestamp,
    /// Since when it waits, as far as people are concerned.
    pub waiting_since: Timestamp,
    /// Its pods.
    pub pod_sets: Vec<PodSet>,
    /// The flavors it may use, if not all.
    pub allowed_flavors: Option<Vec<FlavorName>>,
    /// What it holds already.
    pub reservation: Option<Reservation>,
    /// Whether it may grow while it runs.
    pub elastic: bool,
    /// Whether it stands for one pod, which cannot move.
    pub single_pod: bool,
    /// The UID of the workload of which it is a variant.
    pub variant_of: Option<Arc<str>>,
    /// The slice that it grew out of and takes the place of.
    pub replaces: Option<WorkloadKey>,
    /// Whether it may not preempt yet.
    pub preemption_gated: bool,
    /// Whether it holds quota already and is tried once more for a place only.
    pub reserved: bool,
    /// What is wrong with it.
    pub defect: Option<Defect>,
    /// Changes when what it asks for changes.
    pub shape: u64,
}

impl Workload {
    /// The priority of its class.
    #[must_use]
    pub fn base_priority(&self) -> i64 {
        self.priority - i64::from(self.boost)
    }
}

/// What a workload holds, by flavor and resource.
pub type Usage = SmallMap<FlavorResource, Amount>;
