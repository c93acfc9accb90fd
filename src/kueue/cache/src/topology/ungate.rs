//! Which gated pods of an admitted workload go where. Takes the Workload and its pods as they are, gives the node selector each pod that may
//! start now receives. Reference section 4.14 ("Pods").
//!
//! Pods with a number of their own fill the domains in the order of their numbers, so that neighbours stay neighbours; where numbers are missing,
//! wrong or taken, the remaining room is filled in any order.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::{annotations, gates, labels};
use kueue_api::v1beta2 as api;
use kueue_api::workload::pods;
use scheduler::topology::{DomainAssignment, HOSTNAME, TopologyAssignment};

use super::decode;

/// A pod whose gate is to be taken away, and where it is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The pod's name; it is in the Workload's namespace.
    pub pod: String,
    /// What its node selector gains: a value for each level.
    pub node_selector: BTreeMap<String, String>,
}

/// A pod whose numbers cannot be read, so that nothing of its workload is let start: a guess would put neighbours apart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "pod {pod}: annotation {}: {value:?} is not a number",
    annotations::POD_INDEX_OFFSET
)]
pub struct OffsetError {
    /// The pod.
    pub pod: String,
    /// What the annotation says.
    pub value: String,
}

/// Decides for all podsets of a Workload. `pods` may be any pods of its namespace.
///
/// # Errors
/// When a pod's offset is not a number.
pub fn ungate<'a>(
    workload: &api::Workload,
    pods: impl IntoIterator<Item = &'a Pod>,
) -> Result<Vec<Placement>, OffsetError> {
    let status = workload.status.as_ref();
    let Some(admission) = status
        .and_then(|status| status.admission.as_ref())
        .filter(|_| workload.is_admitted())
    else {
        return Ok(Vec::new());
    };
    let unhealthy: BTreeSet<&str> = status
        .into_iter()
        .flat_map(|status| &status.unhealthy_nodes)
        .map(|node| node.name.as_str())
        .collect();
    let own: Vec<&Pod> = pods
        .into_iter()
        .filter(|pod| is_of(pod, workload) && !pods::is_over(pod))
        .collect();
    own.iter().try_for_each(|pod| readable_offset(pod))?;
    let of_pod_set = |assigned: &api::PodSetAssignment| {
        let assignment = decode(assigned.topology_assignment.as_ref()?)?;
        let members: Vec<&Pod> = own
            .iter()
            .filter(|pod| label(pod, labels::POD_SET) == Some(&assigned.name))
            .copied()
            .collect();
        let request = workload
            .spec
            .pod_sets
            .iter()
            .find(|set| set.name == assigned.name)
            .and_then(|set| set.topology_request.as_ref());
        Some(places(&assignment, request, &members, &unhealthy))
    };
    let assigned = admission.pod_set_assignments.iter();
    Ok(assigned.filter_map(of_pod_set).flatten().collect())
}

fn readable_offset(pod: &Pod) -> Result<(), OffsetError> {
    match note(pod, annotations::POD_INDEX_OFFSET) {
        Some(value) if value.parse::<usize>().is_err() => Err(OffsetError {
            pod: pod.metadata.name.clone().unwrap_or_default(),
            value: value.to_owned(),
        }),
        _ => Ok(()),
    }
}

fn is_of(pod: &Pod, workload: &api::Workload) -> bool {
    let own = |key: &str| {
        let notes = workload.metadata.annotations.as_ref();
        notes.and_then(|notes| notes.get(key)).map(String::as_str)
    };
    let slice = own(annotations::WORKLOAD_SLICE_NAME);
    note(pod, annotations::WORKLOAD) == Some(workload.name())
        || slice.is_some() && note(pod, annotations::WORKLOAD_SLICE_NAME) == slice
}

fn label<'a>(pod: &'a Pod, key: &str) -> Option<&'a String> {
    pod.metadata.labels.as_ref()?.get(key)
}

fn note<'a>(pod: &'a Pod, key: &str) -> Option<&'a str> {
    pod.metadata
        .annotations
        .as_ref()?
        .get(key)
        .map(String::as_str)
}

/// Whether a pod still waits for its place.
#[must_use]
pub fn is_gated(pod: &Pod) -> bool {
    let gates = pod
        .spec
        .as_ref()
        .and_then(|spec| spec.scheduling_gates.as_ref());
    gates
        .into_iter()
        .flatten()
        .any(|gate| gate.name == gates::TOPOLOGY)
}

fn places(
    assignment: &TopologyAssignment,
    request: Option<&api::PodSetTopologyRequest>,
    pods: &[&Pod],
    unhealthy: &BTreeSet<&str>,
) -> Vec<Placement> {
    let of = |domain: &DomainAssignment| -> BTreeMap<String, String> {
        let levels = assignment.levels.iter().cloned();
        levels.zip(domain.values.iter().cloned()).collect()
    };
    let ranked = request.and_then(|request| by_rank(assignment, request, pods, unhealthy));
    let chosen = ranked.unwrap_or_else(|| greedily(assignment, pods, unhealthy));
    chosen
        .into_iter()
        .map(|(pod, domain)| Placement {
            pod: pod.metadata.name.clone().unwrap_or_default(),
            node_selector: of(domain),
        })
        .collect()
}

type Chosen<'a> = Vec<(&'a Pod, &'a DomainAssignment)>;

/// The domain a pod was given, as its node selector says.
fn stands_in(pod: &Pod, assignment: &TopologyAssignment, domain: &DomainAssignment) -> bool {
    let selector = pod
        .spec
        .as_ref()
        .and_then(|spec| spec.node_selector.as_ref());
    let mut wanted = assignment.levels.iter().zip(&domain.values);
    wanted.all(|(level, value)| selector.and_then(|all| all.get(level)) == Some(value))
}

/// A domain that a failed node is.
fn is_lost(
    assignment: &TopologyAssignment,
    domain: &DomainAssignment,
    unhealthy: &BTreeSet<&str>,
) -> bool {
    assignment
        .levels
        .last()
        .is_some_and(|level| level == HOSTNAME)
        && domain
            .values
            .last()
            .is_some_and(|name| unhealthy.contains(name.as_str()))
}

/// Every pod in the domain that its number says; none if the numbers cannot be trusted.
fn by_rank<'a>(
    assignment: &'a TopologyAssignment,
    request: &api::PodSetTopologyRequest,
    pods: &[&'a Pod],
    unhealthy: &BTreeSet<&str>,
) -> Option<Chosen<'a>> {
    let seats: Vec<&DomainAssignment> = assignment
        .domains
        .iter()
        .flat_map(|domain| {
            let count = usize::try_from(domain.count).unwrap_or(0);
            std::iter::repeat_n(domain, count)
        })
        .collect();
    let mut taken = BTreeMap::new();
    for pod in pods {
        let rank = rank(pod, request, seats.len())?;
        if taken.insert(rank, *pod).is_some() {
            return None;
        }
    }
    let mut chosen = Vec::new();
    for (rank, pod) in taken {
        let domain = *seats.get(rank)?;
        if is_gated(pod) {
            if !is_lost(assignment, domain, unhealthy) {
                chosen.push((pod, domain));
            }
        } else if !stands_in(pod, assignment, domain) {
            // It runs where another number belongs: from here on only the room that is left counts.
            return None;
        }
    }
    Some(chosen)
}

/// The place of a pod in the order of its podset.
fn rank(pod: &Pod, request: &api::PodSetTopologyRequest, size: usize) -> Option<usize> {
    let number = |key: &str| label(pod, key)?.parse::<usize>().ok();
    let index = number(request.pod_index_label.as_deref()?)?;
    let offset = note(pod, annotations::POD_INDEX_OFFSET)
        .and_then(|text| text.parse::<usize>().ok())
        .unwrap_or(0);
    let index = index.checked_sub(offset)?;
    let rank = match &request.sub_group_index_label {
        None => index,
        Some(label) => {
            let groups = usize::try_from(request.sub_group_count?)
                .ok()
                .filter(|n| *n > 0)?;
            let in_group = size / groups;
            let group = number(label)?;
            if index >= in_group || group >= groups {
                return None;
            }
            group * in_group + index
        }
    };
    (rank < size).then_some(rank)
}

/// The gated pods, in their order, into what is left of each domain.
fn greedily<'a>(
    assignment: &'a TopologyAssignment,
    pods: &[&'a Pod],
    unhealthy: &BTreeSet<&str>,
) -> Chosen<'a> {
    let mut gated = pods.iter().filter(|pod| is_gated(pod)).copied();
    let mut chosen = Vec::new();
    for domain in &assignment.domains {
        if is_lost(assignment, domain, unhealthy) {
            continue;
        }
        let running = pods
            .iter()
            .filter(|pod| !is_gated(pod) && stands_in(pod, assignment, domain))
            .count();
        let room = usize::try_from(domain.count)
            .unwrap_or(0)
            .saturating_sub(running);
        chosen.extend(gated.by_ref().take(room).map(|pod| (pod, domain)));
    }
    chosen
}
