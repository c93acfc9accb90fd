//! After the quota the places: whether the topologies of the chosen flavors have room, now or after preemption (section 4.14,
//! "Integration with quota").

#[cfg(test)]
mod tests;

use super::{Assigner, Assignment, Blocker, Mode, NoFitReason};
use crate::names::{FlavorName, PodSetName};
use crate::objects::Workload;
use crate::places::{Delayed, Found, Topologies, beyond};
use crate::topology::{DomainAssignment, DomainRequests, TopologyUsage};

impl Assigner<'_> {
    /// Looks for the places that the assignment needs. Where there is quota and no place, preemption may make one, unless there would be none
    /// even if nobody else were placed.
    pub(super) fn place(&self, workload: &Workload, result: &mut Assignment) {
        if result.mode() == Mode::NoFit {
            return;
        }
        result.wanted = self.wanted(workload, result);
        if result.mode() == Mode::Fit {
            let found = result.wanted.find(self.topologies, false);
            match &found.failure {
                Some((_, failure)) => {
                    let name = failure.pod_sets.first();
                    result.note(name, Blocker::Unplaced(failure.reason.clone()));
                    result.settle_for(name, Mode::Preempt);
                }
                None => result.put(&found),
            }
        }
        let replaces = result.wanted.search.unhealthy.is_some();
        if result.mode() == Mode::Preempt && !replaces {
            self.place_if_empty(result);
        }
    }

    fn place_if_empty(&self, result: &mut Assignment) {
        let found = result.wanted.find(self.topologies, true);
        if let Some((flavor, failure)) = &found.failure {
            let name = failure.pod_sets.first();
            result.never_fits(name, flavor);
            result.settle_for(name, Mode::NoFit);
            return;
        }
        // Quota may be free in pieces that are too small, so preemption may be needed in all of these flavors.
        let pod_sets = result.pod_sets.iter().map(|one| one.name.clone());
        let wanted: Vec<_> = pod_sets.filter(|name| result.wanted.names(name)).collect();
        for name in &wanted {
            result.settle_for(Some(name), Mode::Preempt);
        }
    }
}

impl Assignment {
    /// What one pod set would take. Pod sets of one group stand together, so the order need not be that of the workload.
    pub(crate) fn of(&mut self, name: Option<&PodSetName>) -> Option<&mut super::PodSetAssignment> {
        let name = name?;
        self.pod_sets.iter_mut().find(|one| one.name == *name)
    }

    fn note(&mut self, name: Option<&PodSetName>, blocker: Blocker) {
        if let Some(pod_set) = self.of(name) {
            pod_set.blockers.push(blocker);
        }
    }

    fn settle_for(&mut self, name: Option<&PodSetName>, mode: Mode) {
        let Some(pod_set) = self.of(name) else {
            return;
        };
        for choice in pod_set.flavors.values_mut() {
            choice.mode = mode;
        }
        self.decided = Some(mode);
    }

    fn never_fits(&mut self, name: Option<&PodSetName>, flavor: &FlavorName) {
        let attempts = self.of(name).map(|pod_set| &mut pod_set.attempts);
        let attempt = attempts.and_then(|all| all.iter_mut().find(|one| one.flavor == *flavor));
        if let Some(attempt) = attempt {
            attempt.mode = Mode::NoFit;
            attempt.no_fit = Some(NoFitReason::TopologyPlacementFailed);
        }
    }

    /// Notes the places that were found.
    pub(crate) fn put(&mut self, found: &Found) {
        for (name, place) in &found.placed {
            if let Some(pod_set) = self.of(Some(name)) {
                pod_set.place = Some(place.clone());
                pod_set.delayed = pod_set.delayed.map(|_| Delayed::Ready);
            }
        }
    }

    /// Notes the places it would take once others have left, or, as nobody can be made to leave, if nobody else were placed: so that nobody
    /// takes them meanwhile.
    pub(crate) fn reserve_places(&mut self, topologies: &Topologies, empty: bool) {
        let found = self.wanted.find(topologies, empty);
        self.put(&found);
    }

    /// What the assignment takes from topologies.
    #[must_use]
    pub fn places(&self, workload: &Workload, topologies: &Topologies) -> TopologyUsage {
        self.places_of(workload, topologies, false)
    }

    /// The part of it that the workload does not hold yet.
    #[must_use]
    pub fn new_places(&self, workload: &Workload, topologies: &Topologies) -> TopologyUsage {
        self.places_of(workload, topologies, true)
    }

    fn places_of(
        &self,
        workload: &Workload,
        topologies: &Topologies,
        only_new: bool,
    ) -> TopologyUsage {
        let mut usage = TopologyUsage::new();
        for pod_set in &workload.pod_sets {
            let mut all = self.pod_sets.iter();
            let Some(assigned) = all.find(|one| one.name == pod_set.name) else {
                continue;
            };
            let Some(place) = &assigned.place else {
                continue;
            };
            let chosen = assigned.flavors.values().map(|choice| &choice.flavor);
            let mut placed = chosen.filter(|flavor| topologies.contains_key(*flavor));
            let Some(flavor) = placed.next() else {
                continue;
            };
            let held = super::held::of(workload, pod_set).filter(|_| only_new);
            let taken = beyond(place, held).into_iter();
            let taken: Vec<_> = taken
                .map(|DomainAssignment { values, count }| DomainRequests {
                    values,
                    per_pod: pod_set.template.clone(),
                    count,
                })
                .collect();
            if !taken.is_empty() {
                usage.entry(flavor.clone()).or_default().extend(taken);
            }
        }
        usage
    }
}
