//! From assigned flavors to the places they need: which pod sets have to be placed, in which flavor, and which later.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Delayed, NoRequest, Topologies, Wanted};
use crate::assign::{Assigner, Assignment, PodSetAssignment};
use crate::labels::NodeAffinity;
use crate::names::FlavorName;
use crate::objects::{ClusterQueue, Flavor, PodSet, Reservation, Workload};
use crate::topology::{Gates, PodSetRequest, Search, Unhealthy};

type Flavors = BTreeMap<FlavorName, Arc<Flavor>>;

/// Whether a pod set is placed although it does not ask for it, because the ClusterQueue has no other flavors.
pub(crate) fn is_implied(pod_set: &PodSet, queue: &ClusterQueue, flavors: &Flavors) -> bool {
    let placed = |name: &FlavorName| {
        flavors
            .get(name)
            .is_some_and(|flavor| flavor.topology.is_some())
    };
    let mut all = queue.groups.iter().flat_map(|group| &group.flavors);
    !pod_set.topology.is_explicit() && all.all(placed)
}

/// Whether a pod set has to be placed.
fn asks_for_place(pod_set: &PodSet, queue: &ClusterQueue, flavors: &Flavors) -> bool {
    pod_set.topology.is_explicit() || is_implied(pod_set, queue, flavors)
}

/// The flavors of a ClusterQueue whose topology is not there.
pub(crate) fn without_topology<'a>(
    queue: &'a ClusterQueue,
    flavors: &'a Flavors,
    topologies: &'a Topologies,
) -> impl Iterator<Item = &'a FlavorName> {
    let all = queue.groups.iter().flat_map(|group| &group.flavors);
    all.filter(|name| {
        let placed = flavors
            .get(*name)
            .is_some_and(|flavor| flavor.topology.is_some());
        placed && !topologies.contains_key(*name)
    })
}

impl Assigner<'_> {
    /// The places that the pod sets of an assignment need and do not have. What makes a request impossible is noted in the assignment,
    /// and so is what has to wait.
    pub(crate) fn wanted(&self, workload: &Workload, assignment: &mut Assignment) -> Wanted {
        let mut by_flavor: BTreeMap<FlavorName, Vec<PodSetRequest>> = BTreeMap::new();
        for pod_set in &workload.pod_sets {
            let found = assignment.of(Some(&pod_set.name));
            let Some(assigned) = found.filter(|assigned| assigned.count > 0) else {
                continue;
            };
            if !asks_for_place(pod_set, self.cluster_queue, self.flavors) {
                continue;
            }
            match self.want(workload, pod_set, assigned) {
                Ok(Some((flavor, request))) => by_flavor.entry(flavor).or_default().push(request),
                Ok(None) => {}
                Err(error) => {
                    assigned.unplaceable = Some(error);
                    assignment.decided = None;
                }
            }
        }
        Wanted {
            by_flavor,
            search: self.search_for(workload),
            overlapping: self.policy.tas_handle_overlapping_flavors,
        }
    }

    fn want(
        &self,
        workload: &Workload,
        pod_set: &PodSet,
        assigned: &mut PodSetAssignment,
    ) -> Result<Option<(FlavorName, PodSetRequest)>, NoRequest> {
        let reservation = workload.reservation.as_ref();
        let broken = |reservation: &Reservation| {
            let place = assigned.place.as_ref();
            place.is_some_and(|place| reservation.is_broken(place))
        };
        if assigned.unplaceable.is_some()
            || assigned.place.is_some() && !reservation.is_some_and(broken)
        {
            return Ok(None);
        }
        let elastic = workload.elastic && self.policy.elastic_jobs_with_tas;
        match &pod_set.topology {
            request if elastic && request.required.is_some() => {
                return Err(NoRequest::ElasticRequired);
            }
            request if elastic && request.preferred.is_some() => {
                return Err(NoRequest::ElasticPreferred);
            }
            _ => {}
        }
        let flavor = self.only_placed_flavor(assigned)?;
        let later = &self.cluster_queue.places_later;
        let provisioned = reservation.is_none() && later.until_reserved.contains(&flavor);
        if later.always || provisioned {
            assigned.delayed = Some(Delayed::Pending);
            return Ok(None);
        }
        let mut request = self.request(pod_set, assigned);
        let same = |name: &&crate::objects::HeldPodSet| name.name == pod_set.name;
        if elastic {
            let replaced = self.replaced.and_then(|held| held.iter().find(same));
            request.previous = replaced.and_then(|held| held.place.clone());
        }
        let held = reservation.and_then(|reservation| reservation.pod_sets.iter().find(same));
        request.current = held.and_then(|held| held.place.clone());
        Ok(Some((flavor, request)))
    }

    fn only_placed_flavor(&self, assigned: &PodSetAssignment) -> Result<FlavorName, NoRequest> {
        let mut known = self
            .cluster_queue
            .groups
            .iter()
            .flat_map(|group| &group.flavors);
        if !known.any(|flavor| self.topologies.contains_key(flavor)) {
            return Err(NoRequest::NoTopology);
        }
        let chosen = assigned.flavors.values().map(|choice| &choice.flavor);
        let mut placed: Vec<_> = chosen
            .filter(|flavor| self.topologies.contains_key(*flavor))
            .cloned()
            .collect();
        placed.sort_unstable();
        placed.dedup();
        match placed.as_slice() {
            [] => Err(NoRequest::NoFlavor),
            [only] => Ok(only.clone()),
            _ => Err(NoRequest::SeveralFlavors(placed)),
        }
    }

    fn request(&self, pod_set: &PodSet, assigned: &PodSetAssignment) -> PodSetRequest {
        let added = &pod_set.added;
        let mut selector = pod_set.affinity.selector.clone();
        selector.extend(added.selector.clone());
        let tolerations = pod_set.tolerations.iter().chain(&added.tolerations);
        PodSetRequest {
            request: pod_set.topology.clone(),
            implied: is_implied(pod_set, self.cluster_queue, self.flavors),
            tolerations: tolerations.cloned().collect(),
            nodes: NodeAffinity {
                selector,
                terms: pod_set.affinity.terms.clone(),
            },
            preferred_nodes: pod_set.preferred_nodes.clone(),
            ..PodSetRequest::new(
                pod_set.name.clone(),
                assigned.count,
                pod_set.template.clone(),
            )
        }
    }

    fn search_for(&self, workload: &Workload) -> Search {
        let policy = self.policy;
        let failed = workload.reservation.as_ref();
        let failed = failed.and_then(|reservation| reservation.unhealthy_nodes.first());
        Search {
            gates: Gates {
                profile_mixed: policy.tas_profile_mixed,
                balanced_placement: policy.tas_balanced_placement,
                respect_node_affinity_preferred: policy.tas_respect_preferred_affinity,
                elastic_jobs: policy.elastic_jobs_with_tas,
            },
            empty: false,
            unhealthy: failed.map(|node| Unhealthy {
                node: node.clone(),
                keep: workload.single_pod && policy.skip_reassignment_of_pods,
            }),
        }
    }
}
