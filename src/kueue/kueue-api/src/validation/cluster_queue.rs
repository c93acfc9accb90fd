//! Rules of ClusterQueues.

use serde_json::Value;

use super::quotas::{self, Owner};
use super::selector::selector;
use crate::features::{Features, gate};
use crate::field::{FieldError, Path};
use crate::v1beta2::{
    AdmissionCheckStrategyRule, BorrowWithinCohortPolicy, ClusterQueue, ClusterQueueSpec,
    ConcurrentAdmissionMode, ConcurrentAdmissionPolicy, FlavorFungibilityPolicy, QueueingStrategy,
    ReclaimWithinCohort,
};

const MAX_CONCURRENT_FLAVORS: usize = 16;

/// What is wrong with a new ClusterQueue.
#[must_use]
pub fn cluster_queue(queue: &ClusterQueue, features: &Features) -> Vec<FieldError> {
    let mut errors = without_checks(&queue.spec, features);
    errors.extend(checks(&queue.spec, None));
    errors
}

/// What is wrong with a change of a ClusterQueue.
#[must_use]
pub fn cluster_queue_update(
    old: &ClusterQueue,
    new: &ClusterQueue,
    features: &Features,
) -> Vec<FieldError> {
    let mut errors = without_checks(&new.spec, features);
    let same_flavors = || {
        old.spec
            .flavor_names()
            .collect::<std::collections::BTreeSet<_>>()
            == new.spec.flavor_names().collect()
    };
    let tolerated = !features.on(gate::REJECT_INVALID_ON_FLAVORS) && same_flavors();
    errors.extend(checks(&new.spec, tolerated.then_some(&old.spec)));
    if old.spec.concurrent_admission_policy != new.spec.concurrent_admission_policy {
        let value =
            serde_json::to_value(&new.spec.concurrent_admission_policy).unwrap_or(Value::Null);
        errors.push(FieldError::invalid(
            &spec().child("concurrentAdmissionPolicy"),
            value,
            "field is immutable",
        ));
    }
    errors
}

fn spec() -> Path {
    Path::new("spec")
}

fn without_checks(queue: &ClusterQueueSpec, features: &Features) -> Vec<FieldError> {
    let groups = spec().child("resourceGroups");
    let owner = Owner {
        connected: queue.cohort().is_some(),
        alone: "must be nil when cohort is empty",
        lends_own: true,
    };
    let mut errors = quotas::resource_groups(&groups, &queue.resource_groups, owner);
    errors.extend(
        queue
            .namespace_selector
            .iter()
            .flat_map(|s| selector(&spec().child("namespaceSelector"), s)),
    );
    errors.extend(preemption(queue));
    errors.extend(fungibility(queue));
    errors.extend(quotas::fair_weight(
        &spec().child("fairSharing"),
        queue.fair_sharing.as_ref(),
    ));
    errors.extend(quotas::totals(&groups, &queue.resource_groups));
    if features.on(gate::CONCURRENT_ADMISSION) {
        errors.extend(
            queue
                .concurrent_admission_policy
                .iter()
                .flat_map(|policy| concurrent_admission(queue, policy)),
        );
    }
    errors
}

fn preemption(queue: &ClusterQueueSpec) -> Option<FieldError> {
    let preemption = queue.preemption();
    let contradiction = preemption.reclaim_within_cohort() == ReclaimWithinCohort::Never
        && preemption.borrow_within_cohort() != BorrowWithinCohortPolicy::Never;
    let value = || serde_json::to_value(&preemption).unwrap_or(Value::Null);
    contradiction.then(|| {
        FieldError::invalid(
            &spec().child("preemption"),
            value(),
            "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
        )
    })
}

fn fungibility(queue: &ClusterQueueSpec) -> Option<FieldError> {
    let fungibility = queue.flavor_fungibility();
    let preference = fungibility.preference?;
    let both = [
        fungibility.when_can_borrow(),
        fungibility.when_can_preempt(),
    ] == [FlavorFungibilityPolicy::TryNextFlavor; 2];
    let detail = format!(
        "preference \"{preference}\" requires both whenCanBorrow and whenCanPreempt to be TryNextFlavor"
    );
    (!both).then(|| {
        FieldError::invalid(
            &spec().child("flavorFungibility").child("preference"),
            preference.as_str(),
            &detail,
        )
    })
}

/// Checks may only be limited to flavors of the queue. What was wrong before and did not change is let through, so that a queue
/// from older days can still be updated.
fn checks(queue: &ClusterQueueSpec, old: Option<&ClusterQueueSpec>) -> Vec<FieldError> {
    let path = spec()
        .child("admissionChecksStrategy")
        .child("admissionChecks");
    let mut errors = Vec::new();
    for (i, rule) in queue.admission_checks().iter().enumerate() {
        for (j, flavor) in rule.on_flavors.iter().enumerate() {
            if queue.flavor_names().any(|name| name == flavor)
                || old.is_some_and(|old| had(old, rule, flavor))
            {
                continue;
            }
            let path = path.index(i).child("onFlavors").index(j);
            errors.push(FieldError::not_supported(
                &path,
                flavor.as_str(),
                queue.flavor_names(),
            ));
        }
    }
    errors
}

fn had(old: &ClusterQueueSpec, rule: &AdmissionCheckStrategyRule, flavor: &String) -> bool {
    old.admission_checks()
        .iter()
        .any(|was| was.name == rule.name && was.on_flavors.contains(flavor))
}

fn concurrent_admission(
    queue: &ClusterQueueSpec,
    policy: &ConcurrentAdmissionPolicy,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let groups = spec().child("resourceGroups");
    if let [group] = queue.resource_groups.as_slice() {
        let count = group.flavors.len();
        if count > MAX_CONCURRENT_FLAVORS {
            let detail = "cannot have more than 16 resource flavors in the ResourceGroup when ConcurrentAdmissionPolicy is defined";
            errors.push(FieldError::invalid(
                &groups.index(0).child("flavors"),
                count,
                detail,
            ));
        }
    } else {
        let detail =
            "must have exactly one ResourceGroup when ConcurrentAdmissionPolicy is defined";
        errors.push(FieldError::invalid(
            &groups,
            queue.resource_groups.len(),
            detail,
        ));
    }
    if queue.queueing_strategy() == QueueingStrategy::StrictFIFO {
        let detail =
            "StrictFIFO queueing strategy cannot be used when ConcurrentAdmissionPolicy is defined";
        errors.push(FieldError::invalid(
            &spec().child("queueingStrategy"),
            "StrictFIFO",
            detail,
        ));
    }
    errors.extend(migration(queue, policy));
    errors
}

fn migration(queue: &ClusterQueueSpec, policy: &ConcurrentAdmissionPolicy) -> Option<FieldError> {
    let path = spec()
        .child("concurrentAdmissionPolicy")
        .child("migration")
        .child("constraints");
    let constraints = policy.migration.constraints.as_ref()?;
    if let Some(mode) = policy
        .migration
        .mode
        .filter(|mode| *mode != ConcurrentAdmissionMode::TryPreferredFlavors)
    {
        let detail = format!(
            "may only be set when migration.mode is \"TryPreferredFlavors\" (got \"{mode}\")"
        );
        return Some(FieldError::forbidden(&path, &detail));
    }
    let last = constraints.last_acceptable_flavor_name.as_deref()?;
    let names: Vec<_> = queue.flavor_names().collect();
    let detail = format!(
        "must be one of the flavors defined in the ClusterQueue: [{}]",
        names.join(" ")
    );
    (!names.contains(&last))
        .then(|| FieldError::invalid(&path.child("lastAcceptableFlavorName"), last, &detail))
}
