//! What was nominated at the start of a cycle is looked at again when its turn comes: others may have taken the quota, or the targets.

use std::mem;
use std::sync::Arc;

use crate::admitted::Admitted;
use crate::assign::{Mode, Nomination};
use crate::names::PodSetName;
use crate::preemption::Finder;
use crate::report::Recomputation;

use super::decide::Deciding;
use super::nominate::{Nominated, Task};

/// Whether something fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fits {
    Yes,
    /// There is not enough quota.
    NoQuota,
    /// There is quota, and no room in the places.
    NoPlaces,
}

impl Deciding<'_> {
    /// Whether the candidate still fits. Before, it is assigned anew where its targets are taken by an earlier one, as if all those had left
    /// who have to: what fits then fits only once they have left; and where its places are taken. It stays with the flavors it was nominated
    /// for.
    pub(super) fn refresh(&mut self, candidate: &mut Nominated<'_>) -> bool {
        let (policy, fits) = (self.rules.policy, self.fits(candidate));
        let overlaps = policy.recompute_upon_overlap && self.overlaps(candidate);
        let displaced = fits == Fits::NoPlaces && policy.tas_recompute_within_cycle;
        if !overlaps && !displaced {
            return fits == Fits::Yes;
        }
        let gone: Vec<Arc<Admitted>> = if overlaps {
            self.victims.values().cloned().collect()
        } else {
            Vec::new()
        };
        self.assign_without(candidate, &gone);
        candidate.deferred = overlaps && candidate.mode() == Mode::Fit;
        let fits = self.fits(candidate) == Fits::Yes;
        if overlaps {
            self.note_recomputation(candidate, fits);
        }
        fits
    }

    fn assign_without(&mut self, candidate: &mut Nominated<'_>, gone: &[Arc<Admitted>]) {
        let nomination = nomination(candidate);
        for victim in gone {
            self.snapshot.remove(victim);
        }
        let task = Task {
            finder: &Finder::new(&self.snapshot, self.rules.policy, self.rules.now),
            snapshot: &self.snapshot,
            head: candidate.head,
            cluster_queue: &candidate.cluster_queue,
            node: candidate.node,
            last: None,
            nominated: Some(&nomination),
            rules: self.rules,
        };
        let nominated = mem::replace(&mut candidate.assigned, task.assign());
        let last = &mut candidate.assigned.assignment.last;
        last.repeats(&nominated.assignment.last);
        for victim in gone {
            self.snapshot.add(victim);
        }
    }

    fn note_recomputation(&mut self, candidate: &Nominated<'_>, fits: bool) {
        let found = !candidate.assigned.targets.is_empty();
        let result = if candidate.deferred {
            Recomputation::DeferredFit
        } else if found && fits && !self.overlaps(candidate) {
            Recomputation::NewTargets
        } else {
            Recomputation::Skipped
        };
        let name = candidate.cluster_queue.name.clone();
        self.report.recomputations.push((name, result));
    }

    /// Whether somebody has to leave for the candidate who leaves for an earlier one already.
    pub(super) fn overlaps(&self, candidate: &Nominated<'_>) -> bool {
        let taken = |target: &Arc<Admitted>| self.victims.contains_key(&target.workload.key);
        candidate.assigned.leaving().any(taken)
    }

    /// Whether there is room for the candidate once all have left who have to, for it and for earlier ones.
    fn fits(&mut self, candidate: &Nominated<'_>) -> Fits {
        let own = candidate.assigned.leaving();
        let own = own.filter(|target| !self.victims.contains_key(&target.workload.key));
        let own: Vec<_> = own.cloned().collect();
        for target in &own {
            self.left.remove(&target.cluster_queue, &target.usage);
        }
        let has_quota = self.left.fits(candidate.node, candidate.usage());
        for target in &own {
            self.left.add(&target.cluster_queue, &target.usage);
        }
        if !has_quota {
            Fits::NoQuota
        } else if !self.has_places(candidate, &own) {
            Fits::NoPlaces
        } else {
            Fits::Yes
        }
    }

    fn has_places(&mut self, candidate: &Nominated<'_>, own: &[Arc<Admitted>]) -> bool {
        let places = candidate.places(&self.snapshot);
        if places.is_empty() {
            return true;
        }
        let snapshot = &mut self.snapshot;
        let gone = || self.victims.values().chain(own);
        for victim in gone() {
            snapshot.give_back_places(&victim.places);
        }
        let fits = snapshot.has_places(&places);
        for victim in gone() {
            snapshot.take_places(&victim.places);
        }
        fits
    }
}

/// The flavors that a candidate was nominated for, in the order of its pod sets.
fn nomination(candidate: &Nominated<'_>) -> Nomination {
    let assigned = &candidate.assigned.assignment.pod_sets;
    let of = |name: &PodSetName| {
        let found = assigned.iter().find(|pod_set| pod_set.name == *name);
        let flavors = found.into_iter().flat_map(|pod_set| &pod_set.flavors);
        flavors
            .map(|(resource, choice)| (resource.clone(), choice.flavor.clone()))
            .collect()
    };
    let pod_sets = candidate.head.workload.pod_sets.iter();
    pod_sets.map(|pod_set| of(&pod_set.name)).collect()
}
