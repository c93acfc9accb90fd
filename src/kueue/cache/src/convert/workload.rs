//! Workloads: what they ask for while they wait, and what they hold once they were admitted.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use k8s_openapi::api::core::v1 as core;
use kueue_api::conditions::{self, reasons, workload as types};
use kueue_api::names::{annotations, labels};
use kueue_api::v1beta2::{self as api, CheckState};
use kueue_api::workload::{priority, slices};
use quantity::{Requests, ResourceName};
use scheduler::{
    Defect, FlavorName, FlavorResource, LocalQueueKey, OutOfBounds, PodSet, PodSetName, Usage,
    Workload, WorkloadKey,
};

use super::places::{additions, reservation, topology_request};
use super::selectors::{affinity, preferred_nodes, toleration};
use super::{Limits, Unreadable, pods, relations, transform};
use crate::{Options, PodsReadyTimestamp, Surroundings};

/// When an object was created that does not say it: the first moment of the reference's calendar.
const LONG_AGO: Timestamp = Timestamp::constant(-62_135_596_800, 0);

/// A workload as the scheduler sees it: what it asks for, who may go first, and what keeps it from being considered at all.
#[must_use]
pub fn workload(object: &api::Workload, options: &Options, around: &Surroundings) -> Workload {
    let templates = templates(object, around);
    let (pod_sets, defect) = match pod_sets(object, &templates, options) {
        Ok(pod_sets) => (pod_sets, None),
        Err(unreadable) => (Vec::new(), Some(Defect::Malformed(unreadable.to_string()))),
    };
    let defect = defect.or_else(|| {
        let limits = around.limits(object.namespace());
        match (
            templates_above_limits(&templates),
            outside(&templates, limits),
        ) {
            (Ok(above), _) if !above.is_empty() => Some(Defect::RequestsAboveLimits(above)),
            (Ok(_), Ok(outside)) if outside.is_empty() => None,
            (Ok(_), Ok(outside)) => Some(Defect::OutsideLimitRange(outside)),
            (Err(unreadable), _) | (_, Err(unreadable)) => {
                Some(Defect::Malformed(unreadable.to_string()))
            }
        }
    });
    let defect = if has_failed_checks(object) {
        Some(Defect::FailedChecks)
    } else {
        defect
    };
    let created = object
        .metadata
        .creation_timestamp
        .as_ref()
        .map_or(LONG_AGO, |time| time.0);
    // What is no number adds nothing: the webhook refuses it.
    let boost = priority::boost(object, options.features.priority_boost).unwrap_or(0);
    let elastic = options.features.elastic_jobs && slices::is_marked(&object.metadata);
    let mut converted = Workload {
        key: WorkloadKey::new(object.namespace(), object.name()),
        uid: object.metadata.uid.as_deref().unwrap_or_default().into(),
        local_queue: LocalQueueKey::new(object.namespace(), object.spec.queue_name()),
        job_uid: job_uid(object),
        priority: i64::from(object.priority()) + i64::from(boost),
        boost,
        created,
        queued: queued(object, created, options),
        waiting_since: conditions::find(object.conditions(), types::REQUEUED)
            .map_or(created, |found| found.last_transition_time.0),
        pod_sets,
        allowed_flavors: allowed_flavors(object, options),
        reservation: reservation(object, elastic, options),
        elastic,
        single_pod: is_single_pod(object),
        variant_of: relations::variant_of(object),
        replaces: relations::replaces(object),
        preemption_gated: relations::preemption_gated(object),
        reserved: object.has_quota_reservation(),
        defect,
        shape: 0,
    };
    converted.shape = shape(&converted);
    converted
}

/// Whether it stands for one plain pod.
fn is_single_pod(object: &api::Workload) -> bool {
    let annotations = object.metadata.annotations.as_ref();
    let group = annotations.and_then(|all| all.get(annotations::IS_GROUP_WORKLOAD));
    let owners = object
        .metadata
        .owner_references
        .as_deref()
        .unwrap_or_default();
    matches!(owners, [owner] if owner.kind == "Pod" && owner.api_version == "v1")
        && group.is_none_or(|group| group != "true")
}

/// Equal for workloads that get the same answer from the same queue.
fn shape(workload: &Workload) -> u64 {
    let mut hasher = DefaultHasher::new();
    workload.priority.hash(&mut hasher);
    workload.pod_sets.hash(&mut hasher);
    workload.allowed_flavors.hash(&mut hasher);
    hasher.finish()
}

fn job_uid(object: &api::Workload) -> Option<std::sync::Arc<str>> {
    let labels = object.metadata.labels.as_ref()?;
    labels.get(labels::JOB_UID).map(|uid| uid.as_str().into())
}

fn has_failed_checks(object: &api::Workload) -> bool {
    let states = object
        .status
        .iter()
        .flat_map(|status| &status.admission_checks);
    states
        .into_iter()
        .any(|check| matches!(check.state, CheckState::Retry | CheckState::Rejected))
}

fn allowed_flavors(object: &api::Workload, options: &Options) -> Option<Vec<FlavorName>> {
    let listed = object
        .metadata
        .annotations
        .as_ref()?
        .get(annotations::ALLOWED_RESOURCE_FLAVORS)?;
    options.features.concurrent_admission.then(|| {
        listed
            .split(',')
            .map(|name| FlavorName::from(name.trim()))
            .collect()
    })
}

/// Since when it stands in the queue: some evictions send a workload to the end, others let it keep its place.
fn queued(object: &api::Workload, created: Timestamp, options: &Options) -> Timestamp {
    let evicted = conditions::find(object.conditions(), types::EVICTED)
        .filter(|found| found.status == "True");
    let Some(evicted) = evicted else {
        return reclaimed_later(object, created, options);
    };
    let to_the_end = match evicted.reason.as_str() {
        reasons::PODS_READY_TIMEOUT => options.pods_ready_timestamp == PodsReadyTimestamp::Eviction,
        reasons::ADMISSION_CHECK => true,
        _ => false,
    };
    if to_the_end {
        evicted.last_transition_time.0
    } else {
        reclaimed_later(object, created, options)
    }
}

/// Without sorting by priority, whoever was evicted for having borrowed stands behind the one it made room for.
fn reclaimed_later(object: &api::Workload, created: Timestamp, options: &Options) -> Timestamp {
    let preempted = conditions::find(object.conditions(), types::PREEMPTED)
        .filter(|found| found.status == "True");
    match preempted {
        Some(found)
            if !options.features.priority_sorting_within_cohort
                && found.reason == reasons::IN_COHORT_RECLAIM_WHILE_BORROWING =>
        {
            found.last_transition_time.0 + jiff::SignedDuration::from_millis(1)
        }
        _ => created,
    }
}

/// The templates as their pods will be, each with the field it stands in.
fn templates(object: &api::Workload, around: &Surroundings) -> Vec<(String, core::PodSpec)> {
    let sets = object.spec.pod_sets.iter().enumerate();
    sets.map(|(index, set)| {
        let mut spec = set.template.spec.clone().unwrap_or_default();
        around.adjust(object.namespace(), &mut spec);
        (format!("spec.podSets[{index}].template.spec"), spec)
    })
    .collect()
}

fn templates_above_limits(
    templates: &[(String, core::PodSpec)],
) -> Result<Vec<OutOfBounds>, Unreadable> {
    let mut found = Vec::new();
    for (field, spec) in templates {
        found.extend(pods::above_limits(spec, field)?);
    }
    Ok(found)
}

fn outside(
    templates: &[(String, core::PodSpec)],
    limits: Option<&Limits>,
) -> Result<Vec<OutOfBounds>, Unreadable> {
    let mut found = Vec::new();
    if let Some(limits) = limits {
        for (field, spec) in templates {
            found.extend(limits.broken_by(spec, field)?);
        }
    }
    Ok(found)
}

fn pod_sets(
    object: &api::Workload,
    templates: &[(String, core::PodSpec)],
    options: &Options,
) -> Result<Vec<PodSet>, Unreadable> {
    let mut converted = Vec::new();
    for (pod_set, (field, spec)) in object.spec.pod_sets.iter().zip(templates) {
        let topology = pod_set.topology_request.as_ref();
        let exact = transform::charged(pods::total(spec, field)?, options);
        converted.push(PodSet {
            name: PodSetName::from(pod_set.name.as_str()),
            count: left(object, &pod_set.name, options).unwrap_or_default(),
            min_count: pod_set.min_count.map(i64::from),
            per_pod: pods::amounts(exact).floor_zero(),
            affinity: affinity(spec),
            tolerations: spec
                .tolerations
                .iter()
                .flatten()
                .filter_map(toleration)
                .collect(),
            topology: topology.map(topology_request).unwrap_or_default(),
            template: pods::of_template(spec)?,
            preferred_nodes: preferred_nodes(spec),
            added: additions(object, &pod_set.name),
        });
    }
    Ok(converted)
}

/// How many pods of a set are left after those that were given back. `None` if there is no such set.
fn left(object: &api::Workload, name: &str, options: &Options) -> Option<i64> {
    let count = count(object, name)?;
    let status = object.status.iter();
    let mut given_back = status.flat_map(|status| &status.reclaimable_pods);
    let of_set = given_back.find(|pods| pods.name == name && options.features.reclaimable_pods);
    Some((count - of_set.map_or(0, |pods| i64::from(pods.count))).max(0))
}

fn count(object: &api::Workload, name: &str) -> Option<i64> {
    let set = object.spec.pod_set(name)?;
    Some(i64::from(set.count))
}

/// What a workload with quota holds for one of its pod sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSetHolding {
    /// The pod set.
    pub name: PodSetName,
    /// How many of its pods still hold quota.
    pub count: i64,
    /// What they hold together.
    pub requests: Requests,
    /// The flavor of each resource; a resource without one is not charged.
    pub flavors: BTreeMap<ResourceName, FlavorName>,
}

/// What an admitted workload holds, pod set by pod set, without what it gave back.
///
/// # Errors
/// When an amount cannot be read.
pub fn held_by_pod_set(
    object: &api::Workload,
    admission: &api::Admission,
    options: &Options,
) -> Result<Vec<PodSetHolding>, Unreadable> {
    let of = |assignment| pod_set_holding(object, assignment, options);
    admission.pod_set_assignments.iter().map(of).collect()
}

fn pod_set_holding(
    object: &api::Workload,
    assignment: &api::PodSetAssignment,
    options: &Options,
) -> Result<PodSetHolding, Unreadable> {
    let name = &assignment.name;
    let field = format!("status.admission.podSetAssignments[{name}].resourceUsage");
    let total = pods::amounts(pods::read(Some(&assignment.resource_usage), &field)?);
    let spec_count = count(object, name).unwrap_or_default();
    let count = assignment.count.map_or(spec_count, i64::from);
    // Fewer pods in the assignment than are left: it was admitted in part.
    let left = left(object, name, options).unwrap_or_default().min(count);
    let flavors = assignment.flavors.iter();
    Ok(PodSetHolding {
        name: PodSetName::from(name.as_str()),
        count: left,
        requests: if left == count {
            total
        } else {
            total.per(count).times(left)
        },
        flavors: flavors
            .map(|(resource, flavor)| (resource.as_str().into(), flavor.as_str().into()))
            .collect(),
    })
}

/// What an admitted workload holds, without what it gave back.
pub(crate) fn held(
    object: &api::Workload,
    admission: &api::Admission,
    options: &Options,
) -> Result<Usage, Unreadable> {
    let (usage, _) = usage(&held_by_pod_set(object, admission, options)?);
    Ok(usage)
}

/// The sum of what pod sets hold, and apart from it what has no flavor and is not charged.
#[must_use]
pub fn usage(holdings: &[PodSetHolding]) -> (Usage, Requests) {
    let (mut charged, mut free) = (Usage::new(), Requests::new());
    for holding in holdings {
        for (resource, amount) in &holding.requests {
            let Some(flavor) = holding.flavors.get(resource) else {
                free.add(resource, *amount);
                continue;
            };
            let of = FlavorResource {
                flavor: flavor.clone(),
                resource: resource.clone(),
            };
            *charged.entry(of).or_default() += *amount;
        }
    }
    (charged, free)
}

/// Everything in an object that, once changed, gives a parked workload another chance.
pub(crate) fn chances(object: &api::Workload, converted: &Workload) -> u64 {
    let mut hasher = DefaultHasher::new();
    converted.shape.hash(&mut hasher);
    // A defect that comes or goes with a LimitRange changes nothing in the object.
    format!("{:?}", converted.defect).hash(&mut hasher);
    converted.local_queue.hash(&mut hasher);
    converted.uid.hash(&mut hasher);
    object.metadata.generation.hash(&mut hasher);
    for type_ in [types::EVICTED, types::REQUEUED] {
        let found = conditions::find(object.conditions(), type_);
        found
            .map(|found| (&found.status, &found.reason, found.last_transition_time.0))
            .hash(&mut hasher);
    }
    let gated = object
        .metadata
        .annotations
        .as_ref()
        .and_then(|all| all.get(annotations::ADMISSION_GATED_BY));
    gated.hash(&mut hasher);
    hasher.finish()
}
