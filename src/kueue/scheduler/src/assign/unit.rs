//! Pod sets that have to receive the same flavors, and what one scan through the flavors knows about them.

use quantity::{Amount, Requests, ResourceName, SmallMap};

use super::assignment::{Attempt, Blocker, Choice};
use crate::objects::{PodSet, ResourceGroup, Usage, Workload};

/// The pod sets that have to receive the same flavors.
pub(super) struct Unit<'a> {
    pub(super) indices: Vec<usize>,
    pub(super) pod_sets: Vec<&'a PodSet>,
    pub(super) requests: Requests,
}

/// One scan through a group's flavors.
pub(super) struct Search<'a> {
    pub(super) workload: &'a Workload,
    pub(super) unit: &'a Unit<'a>,
    pub(super) group: usize,
    pub(super) start: usize,
    pub(super) used: &'a Usage,
}

impl Search<'_> {
    /// The requests of the unit that the group covers.
    pub(super) fn requests<'s>(
        &'s self,
        group: &'s ResourceGroup,
    ) -> impl Iterator<Item = (&'s ResourceName, Amount)> {
        let covered = self
            .unit
            .requests
            .iter()
            .filter(|(resource, _)| group.covered.contains(resource));
        covered.map(|(resource, amount)| (resource, *amount))
    }
}

/// What the pod sets of a unit have in common.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) flavors: SmallMap<ResourceName, Choice>,
    pub(super) blockers: Vec<Blocker>,
    pub(super) attempts: Vec<Attempt>,
}

impl Shared {
    pub(super) fn failed(self, blockers: Vec<Blocker>) -> Self {
        Self {
            flavors: SmallMap::new(),
            blockers,
            attempts: self.attempts,
        }
    }
}

/// Pod sets that share a group come together, in the place of the first one.
pub(super) fn units<'a>(workload: &'a Workload, sets: &[(i64, Requests)]) -> Vec<Unit<'a>> {
    let mut units: Vec<Unit<'a>> = Vec::new();
    for (index, pod_set) in workload.pod_sets.iter().enumerate() {
        let same = |unit: &&mut Unit<'_>| {
            let group = &pod_set.topology.group;
            group.is_some() && unit.pod_sets[0].topology.group == *group
        };
        if let Some(unit) = units.iter_mut().find(same) {
            unit.indices.push(index);
            unit.pod_sets.push(pod_set);
            unit.requests.add_all(&sets[index].1);
        } else {
            units.push(Unit {
                indices: vec![index],
                pod_sets: vec![pod_set],
                requests: sets[index].1.clone(),
            });
        }
    }
    units
}
