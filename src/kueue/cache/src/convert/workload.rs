//! Workloads: what they ask for while they wait, and what they hold once they were admitted.

use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use kueue_api::conditions::{self, reasons, workload as types};
use kueue_api::names::{annotations, labels};
use kueue_api::v1beta2::{self as api, CheckState};
use quantity::{Amount, ResourceName};
use scheduler::{
    Defect, FlavorName, FlavorResource, LocalQueueKey, PodSet, PodSetName, Usage, Workload,
    WorkloadKey,
};

use super::places::{additions, topology_request};
use super::selectors::{affinity, preferred_nodes, toleration};
use super::{Unreadable, amount, pods};
use crate::{Options, PodsReadyTimestamp};

/// A workload as the scheduler sees it.
pub(crate) fn workload(object: &api::Workload, options: &Options) -> Workload {
    let (pod_sets, defect) = match pod_sets(object, options) {
        Ok((pod_sets, above)) if above.is_empty() => (pod_sets, None),
        Ok((pod_sets, above)) => (pod_sets, Some(Defect::RequestsAboveLimits(above))),
        Err(unreadable) => (Vec::new(), Some(Defect::Malformed(unreadable.to_string()))),
    };
    let defect = if has_failed_checks(object) {
        Some(Defect::FailedChecks)
    } else {
        defect
    };
    let created = object
        .metadata
        .creation_timestamp
        .as_ref()
        .map_or(Timestamp::UNIX_EPOCH, |time| time.0);
    let boost = priority_boost(object, options);
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
        defect,
        shape: 0,
    };
    converted.shape = shape(&converted);
    converted
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

/// What an annotation adds to the priority; what cannot be read adds nothing.
fn priority_boost(object: &api::Workload, options: &Options) -> i32 {
    let boost = object
        .metadata
        .annotations
        .as_ref()
        .and_then(|all| all.get(annotations::PRIORITY_BOOST));
    let boost = boost
        .filter(|_| options.features.priority_boost)
        .and_then(|text| text.parse::<i32>().ok());
    boost.unwrap_or(0)
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

fn pod_sets(
    object: &api::Workload,
    options: &Options,
) -> Result<(Vec<PodSet>, Vec<String>), Unreadable> {
    let mut above = Vec::new();
    let mut converted = Vec::new();
    for (index, pod_set) in object.spec.pod_sets.iter().enumerate() {
        let field = format!("spec.podSets[{index}].template.spec");
        let spec = pod_set.template.spec.clone().unwrap_or_default();
        above.extend(pods::above_limits(&spec, &field)?);
        let topology = pod_set.topology_request.as_ref();
        converted.push(PodSet {
            name: PodSetName::from(pod_set.name.as_str()),
            count: (i64::from(pod_set.count) - reclaimed(object, &pod_set.name, options)).max(0),
            min_count: pod_set.min_count.map(i64::from),
            per_pod: pods::requests(&spec, &field, options)?,
            affinity: affinity(&spec),
            tolerations: spec
                .tolerations
                .iter()
                .flatten()
                .filter_map(toleration)
                .collect(),
            topology: topology.map(topology_request).unwrap_or_default(),
            template: pods::of_template(&spec)?,
            preferred_nodes: preferred_nodes(&spec),
            added: additions(object, &pod_set.name),
        });
    }
    Ok((converted, above))
}

/// How many pods of a set were given back.
fn reclaimed(object: &api::Workload, pod_set: &str, options: &Options) -> i64 {
    let given_back = object
        .status
        .iter()
        .flat_map(|status| &status.reclaimable_pods);
    let of_set = given_back.into_iter().find(|pods| pods.name == pod_set);
    of_set
        .filter(|_| options.features.reclaimable_pods)
        .map_or(0, |pods| i64::from(pods.count))
}

/// What an admitted workload holds, without what it gave back.
pub(crate) fn held(
    object: &api::Workload,
    admission: &api::Admission,
    options: &Options,
) -> Result<Usage, Unreadable> {
    let mut usage = Usage::new();
    for assignment in &admission.pod_set_assignments {
        let spec_count = object
            .spec
            .pod_sets
            .iter()
            .find(|pod_set| pod_set.name == assignment.name)
            .map_or(0, |pod_set| pod_set.count);
        let count = i64::from(assignment.count.unwrap_or(spec_count));
        let left = (i64::from(spec_count) - reclaimed(object, &assignment.name, options))
            .clamp(0, count.max(0));
        for (resource, flavor) in &assignment.flavors {
            let of = FlavorResource::new(flavor.as_str(), resource.as_str());
            let total = total_of(assignment, &of.resource)?;
            let scaled = if left == count {
                total
            } else {
                total.per(count).times(left)
            };
            *usage.entry(of).or_default() += scaled;
        }
    }
    Ok(usage)
}

fn total_of(
    assignment: &api::PodSetAssignment,
    resource: &ResourceName,
) -> Result<Amount, Unreadable> {
    let field = format!(
        "status.admission.podSetAssignments[{}].resourceUsage[{resource}]",
        assignment.name
    );
    let total = assignment.resource_usage.get(resource.as_str());
    total.map_or(Ok(Amount::ZERO), |total| amount(&field, resource, total))
}

/// Everything in an object that, once changed, gives a parked workload another chance.
pub(crate) fn chances(object: &api::Workload, converted: &Workload) -> u64 {
    let mut hasher = DefaultHasher::new();
    converted.shape.hash(&mut hasher);
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
