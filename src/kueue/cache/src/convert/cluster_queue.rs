//! ClusterQueues and Cohorts.

use kueue_api::v1beta2::{
    self as api, AdmissionMode, BorrowWithinCohortPolicy, FlavorFungibilityPolicy,
    FlavorFungibilityPreference,
};
use kueue_api::v1beta2::{QueueingStrategy, ReclaimWithinCohort, WithinClusterQueue};
use quantity::ResourceName;
use scheduler::{
    ClusterQueue, ClusterQueueName, CohortName, CohortQuotas, FlavorName, FlavorResource,
    Fungibility, PlacesLater, Preemption, PreemptionPolicy, Preference, Quota, Quotas,
    ResourceGroup, Strategy, Weight, WhenPossible,
};

use super::{Unreadable, amount, quantity, selectors::selector};

/// The ClusterQueue as the scheduler sees it, not active yet.
pub(crate) fn cluster_queue(object: &api::ClusterQueue) -> Result<ClusterQueue, Unreadable> {
    let spec = &object.spec;
    Ok(ClusterQueue {
        name: ClusterQueueName::from(object.name()),
        cohort: spec.cohort().map(CohortName::from),
        groups: spec.resource_groups.iter().map(group).collect(),
        quotas: quotas(&spec.resource_groups)?,
        namespaces: spec.namespace_selector.as_ref().map(selector),
        strategy: match spec.queueing_strategy() {
            QueueingStrategy::StrictFIFO => Strategy::StrictFifo,
            QueueingStrategy::BestEffortFIFO => Strategy::BestEffortFifo,
        },
        fungibility: fungibility(&spec.flavor_fungibility()),
        preemption: preemption_of(spec),
        weight: weight(spec.fair_sharing.as_ref())?,
        places_later: PlacesLater::default(),
        usage_based: spec.admission_scope.as_ref().is_some_and(|scope| {
            scope.admission_mode == AdmissionMode::UsageBasedAdmissionFairSharing
        }),
        last_acceptable_flavor: last_acceptable_flavor(spec),
        active: false,
    })
}

fn last_acceptable_flavor(spec: &api::ClusterQueueSpec) -> Option<FlavorName> {
    let policy = spec.concurrent_admission_policy.as_ref()?;
    let constraints = policy.migration.constraints.as_ref()?;
    let name = constraints.last_acceptable_flavor_name.as_ref()?;
    Some(FlavorName::from(name.as_str()))
}

/// What a Cohort object says.
pub(crate) fn cohort(object: &api::Cohort) -> Result<CohortQuotas, Unreadable> {
    let spec = &object.spec;
    Ok(CohortQuotas {
        parent: spec.parent().map(CohortName::from),
        quotas: quotas(&spec.resource_groups)?,
        weight: weight(spec.fair_sharing.as_ref())?,
    })
}

fn weight(sharing: Option<&api::FairSharing>) -> Result<Weight, Unreadable> {
    let weight = sharing.and_then(|sharing| sharing.weight.as_ref());
    let read = weight.map(|weight| quantity("spec.fairSharing.weight", weight));
    Ok(read
        .transpose()?
        .map_or_else(Weight::default, |weight| Weight::from_nano(weight.nano())))
}

/// A queue that says nothing preempts nobody; one that says something leaves open what it does not say.
fn preemption_of(spec: &api::ClusterQueueSpec) -> Preemption {
    let policies = spec.preemption();
    let unsaid = if spec.preemption.is_some() {
        PreemptionPolicy::Unsaid
    } else {
        PreemptionPolicy::Never
    };
    Preemption {
        within_cluster_queue: match policies.within_cluster_queue {
            None => unsaid,
            Some(WithinClusterQueue::Never) => PreemptionPolicy::Never,
            Some(WithinClusterQueue::LowerPriority) => PreemptionPolicy::LowerPriority,
            Some(WithinClusterQueue::LowerOrNewerEqualPriority) => {
                PreemptionPolicy::LowerOrNewerEqualPriority
            }
        },
        reclaim_within_cohort: match policies.reclaim_within_cohort {
            None => unsaid,
            Some(ReclaimWithinCohort::Never) => PreemptionPolicy::Never,
            Some(ReclaimWithinCohort::LowerPriority) => PreemptionPolicy::LowerPriority,
            Some(ReclaimWithinCohort::Any) => PreemptionPolicy::Any,
        },
        borrow_within_cohort: match policies.borrow_within_cohort() {
            BorrowWithinCohortPolicy::Never => PreemptionPolicy::Never,
            BorrowWithinCohortPolicy::LowerPriority => PreemptionPolicy::LowerPriority,
        },
        max_priority_threshold: policies
            .borrow_within_cohort
            .as_ref()
            .and_then(|borrow| borrow.max_priority_threshold),
    }
}

fn fungibility(fungibility: &api::FlavorFungibility) -> Fungibility {
    let policy = |policy| match policy {
        FlavorFungibilityPolicy::MayStopSearch => WhenPossible::MayStopSearch,
        FlavorFungibilityPolicy::TryNextFlavor => WhenPossible::TryNextFlavor,
    };
    Fungibility {
        when_can_borrow: policy(fungibility.when_can_borrow()),
        when_can_preempt: policy(fungibility.when_can_preempt()),
        preference: match fungibility.preference() {
            FlavorFungibilityPreference::BorrowingOverPreemption => {
                Preference::BorrowingOverPreemption
            }
            FlavorFungibilityPreference::PreemptionOverBorrowing => {
                Preference::PreemptionOverBorrowing
            }
        },
    }
}

fn group(group: &api::ResourceGroup) -> ResourceGroup {
    ResourceGroup {
        covered: group
            .covered_resources
            .iter()
            .map(|name| ResourceName::from(name.as_str()))
            .collect(),
        flavors: group
            .flavors
            .iter()
            .map(|flavor| FlavorName::from(flavor.name.as_str()))
            .collect(),
    }
}

fn quotas(groups: &[api::ResourceGroup]) -> Result<Quotas, Unreadable> {
    let mut quotas = Quotas::new();
    for flavor in groups.iter().flat_map(|group| &group.flavors) {
        for resource in &flavor.resources {
            let of = FlavorResource::new(flavor.name.as_str(), resource.name.as_str());
            let quota = quota(&of, resource)?;
            quotas.insert(of, quota);
        }
    }
    Ok(quotas)
}

fn quota(of: &FlavorResource, resource: &api::ResourceQuota) -> Result<Quota, Unreadable> {
    let field = |name: &str| {
        format!(
            "spec.resourceGroups, flavor {}, resource {}, {name}",
            of.flavor, of.resource
        )
    };
    let limit = |name: &str, limit: &Option<kueue_api::Quantity>| {
        limit
            .as_ref()
            .map(|limit| amount(&field(name), &of.resource, limit))
            .transpose()
    };
    Ok(Quota {
        nominal: amount(
            &field("nominalQuota"),
            &of.resource,
            &resource.nominal_quota,
        )?,
        borrowing_limit: limit("borrowingLimit", &resource.borrowing_limit)?,
        lending_limit: limit("lendingLimit", &resource.lending_limit)?,
    })
}
