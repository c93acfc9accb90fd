//! Pods that were sent to nodes by a topology fit there: what all of them ask for is no more than what the node holds, each of them is
//! sent somewhere, those that have to stay together do, and slices are whole. Section 4.14.

use std::collections::{BTreeMap, BTreeSet};

use cache::topology::decode;
use kueue_api::v1beta2::PodSetAssignment;
use quantity::{Amount, Requests, ResourceName};
use scheduler::Admission;
use scheduler::topology::{TopologyAssignment, TopologyUsage};

use super::amount;
use crate::world::{Cycled, Job, World};

/// What pods take of each node, as far as assignments name nodes.
pub(crate) fn taken(world: &World) -> BTreeMap<String, Requests> {
    let mut taken: BTreeMap<String, Requests> = BTreeMap::new();
    for assignment in world.jobs.values().flat_map(held) {
        let pods = i64::from(assignment.count.unwrap_or(1)).max(1);
        let mut each = Requests::new();
        each.add(&ResourceName::from("pods"), Amount::new(1));
        for (resource, used) in &assignment.resource_usage {
            let resource = ResourceName::from(resource.as_str());
            each.add(&resource, amount(&resource, used).per(pods));
        }
        let places = assignment.topology_assignment.as_ref().and_then(decode);
        for domain in places
            .filter(|places| places.names_nodes())
            .into_iter()
            .flat_map(|places| places.domains)
        {
            if let Some(node) = domain.values.last() {
                taken
                    .entry(node.clone())
                    .or_default()
                    .add_all(&each.times(domain.count));
            }
        }
    }
    taken
}

fn held(job: &Job) -> impl Iterator<Item = &PodSetAssignment> {
    let holds = job.object.has_quota_reservation() && !job.object.is_finished();
    let admission = job
        .object
        .status
        .as_ref()
        .and_then(|status| status.admission.as_ref());
    admission
        .filter(|_| holds)
        .into_iter()
        .flat_map(|admission| &admission.pod_set_assignments)
}

/// Nodes that somebody was sent to in this cycle and that hold too much now.
pub(super) fn overfull(world: &World, cycled: &Cycled) -> Vec<String> {
    // A node that shrank may hold too much of what nobody asked for now: others of its pods, or those of a workload that only some of its
    // pods were sent elsewhere of.
    let mut asked: BTreeMap<&str, BTreeSet<&ResourceName>> = BTreeMap::new();
    for admission in &cycled.plan.admissions {
        let stayed = stayed(cycled, admission);
        for pod_set in &admission.pod_sets {
            let some = pod_set
                .usage
                .iter()
                .filter(|(_, used)| **used > Amount::ZERO);
            let some: Vec<_> = some.map(|(resource, _)| resource).collect();
            let places = pod_set.place.iter();
            let nodes = places.flat_map(|place| place.nodes());
            for node in nodes.filter(|node| !stayed.contains(*node)) {
                asked.entry(node).or_default().extend(some.iter().copied());
            }
        }
    }
    if asked.is_empty() {
        return Vec::new();
    }
    let taken = taken(world);
    let mut found = Vec::new();
    for (node, asked) in asked {
        let Some(requests) = taken.get(node) else {
            continue;
        };
        for (resource, used) in requests.iter().filter(|(name, _)| asked.contains(name)) {
            let most = room(world, node, resource);
            if *used > most {
                found.push(format!(
                    "node {node} holds {used:?} {resource}, and has {most:?}"
                ));
            }
        }
    }
    found
}

/// The nodes to which a workload that had places already got no more pods in this cycle.
fn stayed<'a>(cycled: &Cycled, admission: &'a Admission) -> BTreeSet<&'a str> {
    let mut before = cycled.before.admitted_in(&admission.cluster_queue);
    let before = before.find(|held| held.workload.key == admission.workload);
    let before = before
        .map(|held| pods_by_node(&held.places))
        .unwrap_or_default();
    let now = pods_by_node(&admission.places);
    let same = now
        .into_iter()
        .filter(|(node, pods)| before.get(node) >= Some(pods));
    same.map(|(node, _)| node).collect()
}

fn pods_by_node(places: &TopologyUsage) -> BTreeMap<&str, i64> {
    let mut pods = BTreeMap::new();
    for domain in places.values().flatten() {
        if let Some(node) = domain.values.last() {
            *pods.entry(node.as_str()).or_default() += domain.count;
        }
    }
    pods
}

/// Pod sets that were placed in this cycle, and not as they asked.
pub(super) fn misplaced(world: &World, cycled: &Cycled) -> Vec<String> {
    let mut found = Vec::new();
    for admission in &cycled.plan.admissions {
        let Some(job) = world.jobs.get(&admission.workload) else {
            continue;
        };
        let mut groups: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for assignment in held(job) {
            let mut pod_sets = job.object.spec.pod_sets.iter();
            let pod_set = pod_sets.find(|pod_set| pod_set.name == assignment.name);
            let request = pod_set.and_then(|pod_set| pod_set.topology_request.as_ref());
            let places = assignment.topology_assignment.as_ref().and_then(decode);
            let (Some(request), Some(places)) = (request, places) else {
                continue;
            };
            let about = format!("{}: pod set {}", admission.workload, assignment.name);
            let pods: i64 = places.domains.iter().map(|domain| domain.count).sum();
            if pods != i64::from(assignment.count.unwrap_or_default()) {
                let counted = assignment.count;
                found.push(format!("{about} has {counted:?} pods, {pods} are placed"));
            }
            if let Some(level) = &request.required {
                let together = by_domain(world, &places, level).into_keys();
                let group = request.pod_set_group_name.as_deref();
                let group = groups.entry(group.unwrap_or(&assignment.name)).or_default();
                group.extend(together);
                if group.len() > 1 {
                    found.push(format!("{about} has to stay in one {level}: {group:?}"));
                }
            }
            let slices = request.pod_set_slice_required_topology.as_ref();
            if let Some((level, size)) = slices.zip(request.pod_set_slice_size) {
                for (domain, pods) in by_domain(world, &places, level) {
                    if pods % i64::from(size) != 0 {
                        found.push(format!(
                            "{about}: {pods} pods in {domain}, slices of {size}"
                        ));
                    }
                }
            }
        }
    }
    found
}

/// How many pods go to each domain of a level; those on nodes that are gone are left out.
fn by_domain(world: &World, places: &TopologyAssignment, level: &str) -> BTreeMap<String, i64> {
    let mut domains = BTreeMap::new();
    for domain in &places.domains {
        let named = places.levels.iter().position(|known| known == level);
        let by_level = named.and_then(|at| domain.values.get(at));
        let node = domain.values.last().and_then(|node| world.nodes.get(node));
        let labels = node.and_then(|node| node.metadata.labels.as_ref());
        let by_node = labels.and_then(|labels| labels.get(level));
        if let Some(name) = by_level.or(by_node) {
            *domains.entry(name.clone()).or_default() += domain.count;
        }
    }
    domains
}

/// What a node has for pods.
fn room(world: &World, node: &str, resource: &ResourceName) -> Amount {
    let status = world.nodes.get(node).and_then(|node| node.status.as_ref());
    let room = status.and_then(|status| status.allocatable.as_ref());
    room.and_then(|room| room.get(resource.as_str()))
        .map(|text| amount(resource, text))
        .unwrap_or_default()
}
