//! Workloads that hold quota already and are tried once more (section 4.15): their flavors, amounts and healthy places stay as they are.

use quantity::{Requests, ResourceName, SmallMap};

use super::unit::{Shared, Unit};
use super::{Assigner, Assignment, Choice, Mode, Tried};
use crate::objects::{HeldPodSet, PodSet, Workload};

/// What a pod set holds.
pub(super) fn of<'a>(workload: &'a Workload, pod_set: &PodSet) -> Option<&'a HeldPodSet> {
    let held = &workload.reservation.as_ref()?.pod_sets;
    held.iter().find(|held| held.name == pod_set.name)
}

/// The flavors that the pod sets of a unit hold.
pub(super) fn flavors(workload: &Workload, unit: &Unit<'_>) -> SmallMap<ResourceName, Choice> {
    let pod_sets = unit.pod_sets.iter();
    let held = pod_sets.filter_map(|pod_set| of(workload, pod_set));
    let choices = held
        .flat_map(|held| &held.flavors)
        .map(|(resource, flavor)| {
            let choice = Choice {
                flavor: flavor.clone(),
                mode: Mode::Fit,
                borrow: 0,
                tried: Tried::default(),
            };
            (resource.clone(), choice)
        });
    choices.collect()
}

/// Notes the places that pod sets have, or wait for.
pub(super) fn keep_places(workload: &Workload, assignment: &mut Assignment) {
    for pod_set in &workload.pod_sets {
        let assigned = assignment.of(Some(&pod_set.name));
        if let Some((assigned, held)) = assigned.zip(of(workload, pod_set)) {
            assigned.place.clone_from(&held.place);
            assigned.delayed = held.delayed;
        }
    }
}

impl Assigner<'_> {
    /// The flavors that one pod set of a unit takes: of the resources that it asks for. One that asks for nothing, and belongs to a group,
    /// goes where the group is placed.
    pub(super) fn own_flavors(
        &self,
        pod_set: &PodSet,
        requests: &Requests,
        shared: &Shared,
    ) -> SmallMap<ResourceName, Choice> {
        let follows = requests.is_empty() && pod_set.topology.group.is_some();
        let own = shared.flavors.iter().filter(|(resource, choice)| {
            if follows {
                self.topologies.contains_key(&choice.flavor)
            } else {
                requests.contains(resource)
            }
        });
        own.map(|(resource, choice)| (resource.clone(), choice.clone()))
            .collect()
    }
}
