//! ClusterQueue: quotas of a group of workloads, and the policies by which they are given out.

use serde::{Deserialize, Serialize};

use super::{FairSharing, FairSharingStatus, ResourceGroup, StopPolicy};
use crate::wire::{kind, wire_enum};
use crate::{Condition, LabelSelector, Quantity};

kind! {
    ClusterQueue("clusterqueues", ClusterResourceScope) {
        spec: ClusterQueueSpec,
        status: Option<ClusterQueueStatus>,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterQueueSpec {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_groups: Vec<ResourceGroup>,
    /// Cohort this queue shares with; absent or empty stands alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cohort_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queueing_strategy: Option<QueueingStrategy>,
    /// Namespaces whose workloads may use the queue: absent matches none, `{}` matches all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<LabelSelector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flavor_fungibility: Option<FlavorFungibility>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption: Option<ClusterQueuePreemption>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admission_checks_strategy: Option<AdmissionChecksStrategy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_policy: Option<StopPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_sharing: Option<FairSharing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admission_scope: Option<AdmissionScope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrent_admission_policy: Option<ConcurrentAdmissionPolicy>,
}

impl ClusterQueueSpec {
    /// Name of the cohort, unless the queue stands alone.
    #[must_use]
    pub fn cohort(&self) -> Option<&str> {
        self.cohort_name.as_deref().filter(|name| !name.is_empty())
    }

    #[must_use]
    pub fn queueing_strategy(&self) -> QueueingStrategy {
        self.queueing_strategy
            .unwrap_or(QueueingStrategy::BestEffortFIFO)
    }

    #[must_use]
    pub fn stop_policy(&self) -> StopPolicy {
        self.stop_policy.unwrap_or(StopPolicy::None)
    }

    #[must_use]
    pub fn flavor_fungibility(&self) -> FlavorFungibility {
        self.flavor_fungibility.clone().unwrap_or_default()
    }

    #[must_use]
    pub fn preemption(&self) -> ClusterQueuePreemption {
        self.preemption.clone().unwrap_or_default()
    }

    /// The admission checks of the queue with the flavors each is limited to (none: all flavors).
    #[must_use]
    pub fn admission_checks(&self) -> &[AdmissionCheckStrategyRule] {
        self.admission_checks_strategy
            .as_ref()
            .map_or(&[], |s| &s.admission_checks)
    }

    /// Names of all flavors, group after group.
    pub fn flavor_names(&self) -> impl Iterator<Item = &str> {
        self.resource_groups
            .iter()
            .flat_map(|g| &g.flavors)
            .map(|f| f.name.as_str())
    }
}

wire_enum! {
    /// Order in which the pending workloads of a queue are tried.
    QueueingStrategy { StrictFIFO, BestEffortFIFO }
}

wire_enum! {
    /// Whether the search for a flavor ends at one that could do under a condition.
    FlavorFungibilityPolicy { MayStopSearch, TryNextFlavor }
}

wire_enum! {
    /// Which of two imperfect flavors is taken when the whole list was searched.
    FlavorFungibilityPreference { BorrowingOverPreemption, PreemptionOverBorrowing }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FlavorFungibility {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when_can_borrow: Option<FlavorFungibilityPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when_can_preempt: Option<FlavorFungibilityPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preference: Option<FlavorFungibilityPreference>,
}

impl FlavorFungibility {
    #[must_use]
    pub fn when_can_borrow(&self) -> FlavorFungibilityPolicy {
        self.when_can_borrow
            .unwrap_or(FlavorFungibilityPolicy::MayStopSearch)
    }

    #[must_use]
    pub fn when_can_preempt(&self) -> FlavorFungibilityPolicy {
        self.when_can_preempt
            .unwrap_or(FlavorFungibilityPolicy::TryNextFlavor)
    }

    #[must_use]
    pub fn preference(&self) -> FlavorFungibilityPreference {
        self.preference
            .unwrap_or(FlavorFungibilityPreference::BorrowingOverPreemption)
    }
}

wire_enum! {
    /// Which workloads of other queues of the cohort may be preempted.
    ReclaimWithinCohort { Never, LowerPriority, Any }
}

wire_enum! {
    /// Which workloads of the same queue may be preempted.
    WithinClusterQueue { Never, LowerPriority, LowerOrNewerEqualPriority }
}

wire_enum! {
    /// Which workloads of the cohort may be preempted although the preemptor will borrow.
    BorrowWithinCohortPolicy { Never, LowerPriority }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterQueuePreemption {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reclaim_within_cohort: Option<ReclaimWithinCohort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub borrow_within_cohort: Option<BorrowWithinCohort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within_cluster_queue: Option<WithinClusterQueue>,
}

impl ClusterQueuePreemption {
    #[must_use]
    pub fn reclaim_within_cohort(&self) -> ReclaimWithinCohort {
        self.reclaim_within_cohort
            .unwrap_or(ReclaimWithinCohort::Never)
    }

    #[must_use]
    pub fn within_cluster_queue(&self) -> WithinClusterQueue {
        self.within_cluster_queue
            .unwrap_or(WithinClusterQueue::Never)
    }

    #[must_use]
    pub fn borrow_within_cohort(&self) -> BorrowWithinCohortPolicy {
        self.borrow_within_cohort
            .as_ref()
            .and_then(|b| b.policy)
            .unwrap_or(BorrowWithinCohortPolicy::Never)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BorrowWithinCohort {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<BorrowWithinCohortPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_priority_threshold: Option<i32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionChecksStrategy {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub admission_checks: Vec<AdmissionCheckStrategyRule>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionCheckStrategyRule {
    pub name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_flavors: Vec<String>,
}

wire_enum! {
    /// Whether the LocalQueues of a ClusterQueue are served by their past usage.
    AdmissionMode { UsageBasedAdmissionFairSharing, NoAdmissionFairSharing }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdmissionScope {
    pub admission_mode: AdmissionMode,
}

wire_enum! {
    /// What becomes of an admitted variant when a better flavor may follow.
    ConcurrentAdmissionMode { TryPreferredFlavors, RetainFirstAdmission }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConcurrentAdmissionPolicy {
    pub migration: ConcurrentAdmissionMigration,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConcurrentAdmissionMigration {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ConcurrentAdmissionMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<ConcurrentAdmissionConstraints>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConcurrentAdmissionConstraints {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_acceptable_flavor_name: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterQueueStatus {
    #[serde(
        deserialize_with = "crate::conditions::lenient",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub conditions: Vec<Condition>,
    /// Quota held by workloads with a reservation, admitted or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flavors_reservation: Vec<FlavorUsage>,
    /// Quota held by admitted workloads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flavors_usage: Vec<FlavorUsage>,
    pub pending_workloads: i32,
    pub reserving_workloads: i32,
    pub admitted_workloads: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_sharing: Option<FairSharingStatus>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FlavorUsage {
    pub name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceUsage>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceUsage {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Quantity>,
    /// Part of `total` beyond the nominal quota; reported only inside a cohort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub borrowed: Option<Quantity>,
}
