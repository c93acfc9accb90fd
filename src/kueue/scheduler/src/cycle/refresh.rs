//! What was nominated at the start of a cycle is looked at again when its turn comes: others may have taken the quota, or the targets.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::admitted::Admitted;
use crate::assign::{Mode, Nomination};
use crate::preemption::Finder;
use crate::report::Recomputation;

use super::decide::Deciding;
use super::nominate::{Nominated, Task};

impl Deciding<'_> {
    /// Whether the candidate still fits. Where its targets are taken by an earlier one, it is first assigned anew as if all those had left,
    /// to the flavors it was nominated for; what fits then fits only once they have left.
    pub(super) fn refresh(&mut self, candidate: &mut Nominated<'_>) -> bool {
        let fits = self.fits(candidate);
        if !self.rules.policy.recompute_upon_overlap || !self.overlaps(candidate) {
            return fits;
        }
        let nomination = nomination(candidate);
        let gone: Vec<Arc<Admitted>> = self.victims.values().cloned().collect();
        for victim in &gone {
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
        candidate.assigned = task.assign();
        for victim in &gone {
            self.snapshot.add(victim);
        }
        candidate.deferred = candidate.mode() == Mode::Fit;
        let fits = self.fits(candidate);
        let result = if candidate.deferred {
            Recomputation::DeferredFit
        } else if !candidate.assigned.targets.is_empty() && fits && !self.overlaps(candidate) {
            Recomputation::NewTargets
        } else {
            Recomputation::Skipped
        };
        let name = candidate.cluster_queue.name.clone();
        self.report.recomputations.push((name, result));
        fits
    }

    /// Whether somebody has to leave for the candidate who leaves for an earlier one already.
    pub(super) fn overlaps(&self, candidate: &Nominated<'_>) -> bool {
        let taken = |target: &Arc<Admitted>| self.victims.contains_key(&target.workload.key);
        candidate.leaving().any(taken)
    }

    /// Whether there is room for the candidate once all have left who have to, for it and for earlier ones.
    pub(super) fn fits(&mut self, candidate: &Nominated<'_>) -> bool {
        let mut gone: BTreeMap<_, _> = self.victims.clone();
        for target in candidate.leaving() {
            gone.insert(target.workload.key.clone(), target.clone());
        }
        for victim in gone.values() {
            self.snapshot.tree.remove(&victim.cluster_queue, &victim.usage);
        }
        let fits = self.snapshot.tree.fits(candidate.node, &candidate.usage());
        for victim in gone.values() {
            self.snapshot.tree.add(&victim.cluster_queue, &victim.usage);
        }
        fits
    }
}

/// The flavors that a candidate was nominated for, in the order of its pod sets.
fn nomination(candidate: &Nominated<'_>) -> Nomination {
    let assigned = &candidate.assigned.assignment.pod_sets;
    let of = |name| {
        let found = assigned.iter().find(|pod_set| pod_set.name == *name);
        let flavors = found.into_iter().flat_map(|pod_set| &pod_set.flavors);
        flavors
            .map(|(resource, choice)| (resource.clone(), choice.flavor.clone()))
            .collect()
    };
    let pod_sets = candidate.head.workload.pod_sets.iter();
    pod_sets.map(|pod_set| of(&pod_set.name)).collect()
}
