//! Pods that were sent to nodes by a topology fit there: what all of them ask for is no more than what the node holds. Section 4.14.

use std::collections::BTreeMap;

use cache::topology::decode;
use kueue_api::v1beta2::PodSetAssignment;
use quantity::{Amount, Requests, ResourceName};

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
    let places = cycled
        .plan
        .admissions
        .iter()
        .flat_map(|admission| &admission.pod_sets);
    let nodes: Vec<&str> = places
        .filter_map(|pod_set| pod_set.place.as_ref())
        .flat_map(|place| place.nodes())
        .collect();
    if nodes.is_empty() {
        return Vec::new();
    }
    let taken = taken(world);
    let mut found = Vec::new();
    for node in nodes {
        let Some(requests) = taken.get(node) else {
            continue;
        };
        for (resource, used) in requests.iter() {
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

/// What a node has for pods.
fn room(world: &World, node: &str, resource: &ResourceName) -> Amount {
    let status = world.nodes.get(node).and_then(|node| node.status.as_ref());
    let room = status.and_then(|status| status.allocatable.as_ref());
    room.and_then(|room| room.get(resource.as_str()))
        .map(|text| amount(resource, text))
        .unwrap_or_default()
}
