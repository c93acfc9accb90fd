//! Which flavors a workload would take: the pod sets in order, each resource from the first flavor that is good enough.
//!
//! (kueue-reference.md, section 4.4.) The result says for every flavor that was looked at why it was not taken. `flavor.rs` judges one flavor, `fungibility.rs` compares
//! two, `partial.rs` looks for the largest number of pods that fits. Nothing is reserved here.

mod assignment;
mod attempts;
mod flavor;
mod fungibility;
mod held;
mod partial;
mod place;
mod progress;
mod unit;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use quantity::{Amount, Requests, ResourceName, SmallMap};

use crate::names::{FlavorName, PodSetName};
use crate::objects::{ClusterQueue, Flavor, HeldPodSet, PodSet, Usage, Workload};
use crate::places::{Topologies, Wanted};
use crate::policy::Policy;
use crate::preemption::Oracle;
use crate::quota::{NodeId, QuotaTree};

pub use assignment::{Assignment, Attempt, Blocker, Choice, Mode, NoFitReason, PodSetAssignment};
pub use fungibility::Granular;
pub use partial::largest_that;
pub use progress::{LastAssignment, Tried};

use assignment::reason_of;
use flavor::Judged;
use unit::{Search, Shared, Unit, units};

/// Everything an assignment depends on, but the workload.
#[derive(Clone, Copy)]
pub struct Assigner<'a> {
    /// Quotas and usage as they stand.
    pub tree: &'a QuotaTree,
    /// The ClusterQueue.
    pub cluster_queue: &'a ClusterQueue,
    /// Its node in the tree.
    pub node: NodeId,
    /// The flavors there are.
    pub flavors: &'a BTreeMap<FlavorName, Arc<Flavor>>,
    /// Who knows whether eviction would help.
    pub oracle: &'a dyn Oracle,
    /// The operator's choices.
    pub policy: &'a Policy,
    /// The only flavors that may be taken, when this is decided once more within a cycle.
    pub nominated: Option<&'a Nomination>,
    /// What the workload holds already as the slice that it replaces: only the difference is charged.
    pub replaced: Option<&'a [HeldPodSet]>,
    /// What is free in topologies.
    pub topologies: &'a Topologies,
}

/// The flavors that an earlier assignment of the same cycle took, by pod set in order.
pub type Nomination = Vec<SmallMap<ResourceName, FlavorName>>;

impl std::fmt::Debug for Assigner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Assigner")
            .field("cluster_queue", &self.cluster_queue.name)
            .finish_non_exhaustive()
    }
}

impl Assigner<'_> {
    /// Assigns flavors for the full counts, or for `counts` in the order of the pod sets.
    #[must_use]
    pub fn assign(
        &self,
        workload: &Workload,
        counts: Option<&[i64]>,
        last: Option<&LastAssignment>,
    ) -> Assignment {
        let total = |(index, pod_set): (usize, &PodSet)| match held::of(workload, pod_set) {
            Some(held) => (held.count, held.requests.clone()),
            None => self.total(
                pod_set,
                counts.map_or(pod_set.count, |counts| counts[index]),
            ),
        };
        let mut result = Assignment {
            pod_sets: Vec::new(),
            usage: Usage::new(),
            borrowing: 0,
            no_fit: None,
            last: LastAssignment::default(),
            decided: None,
            wanted: Wanted::default(),
        };
        let pod_sets = workload.pod_sets.iter().enumerate();
        let sets: Vec<(i64, Requests)> = pod_sets.map(total).collect();
        let mut complete = true;
        for unit in units(workload, &sets) {
            let (shared, failed) = self.assign_unit(workload, &unit, last, &mut result);
            for index in unit.indices {
                let (count, requests) = &sets[index];
                let pod_set = &workload.pod_sets[index];
                let flavors = self.own_flavors(pod_set, requests, &shared);
                let held = self.held(&pod_set.name);
                result.push(pod_set, (*count, requests), &shared, held, flavors);
            }
            if failed {
                complete = false;
                break;
            }
        }
        held::keep_places(workload, &mut result);
        if complete && self.policy.tas {
            self.place(workload, &mut result);
        }
        let unfit = result
            .pod_sets
            .iter()
            .filter(|pod_set| pod_set.mode() == Mode::NoFit);
        result.no_fit = unfit
            .map(|pod_set| reason_of(pod_set, &self.cluster_queue.groups))
            .max();
        result
    }

    /// What the slice that is replaced holds for a pod set.
    fn held(&self, pod_set: &PodSetName) -> Option<&HeldPodSet> {
        self.replaced?.iter().find(|held| held.name == *pod_set)
    }

    /// What the pods ask for together, pods included where the ClusterQueue counts them.
    fn total(&self, pod_set: &PodSet, count: i64) -> (i64, Requests) {
        let mut requests = pod_set.per_pod.times(count);
        if self.cluster_queue.group_of(&ResourceName::pods()).is_some() {
            requests.set(ResourceName::pods(), Amount::new(count));
        }
        (count, requests)
    }

    fn assign_unit(
        &self,
        workload: &Workload,
        unit: &Unit<'_>,
        last: Option<&LastAssignment>,
        so_far: &mut Assignment,
    ) -> (Shared, bool) {
        let mut shared = Shared {
            flavors: held::flavors(workload, unit),
            ..Shared::default()
        };
        for (resource, amount) in &unit.requests {
            if shared.flavors.contains_key(resource) {
                continue;
            }
            let found = self
                .cluster_queue
                .groups
                .iter()
                .position(|group| group.covered.contains(resource));
            let Some(group) = found else {
                if *amount == Amount::ZERO || self.policy.ignore_undeclared {
                    continue;
                }
                return (
                    shared.failed(vec![Blocker::ResourceUnavailable(resource.clone())]),
                    true,
                );
            };
            let start = last.map_or(0, |last| last.next(unit.indices[0], resource));
            let search = Search {
                workload,
                unit,
                group,
                start,
                used: &so_far.usage,
            };
            let (best, blockers, attempts) = self.search(&search, resource);
            attempts::merge(
                &mut shared.attempts,
                attempts,
                resource,
                &self.cluster_queue.groups[group],
            );
            let Some(best) = best else {
                return (shared.failed(blockers), true);
            };
            shared.flavors.extend(best.choices);
            shared.blockers.extend(blockers);
        }
        (shared, false)
    }

    /// Scans the flavors of one group. Returns the best usable one, what kept it from fitting as it is, and all that was looked at.
    fn search(
        &self,
        search: &Search<'_>,
        resource: &ResourceName,
    ) -> (Option<Judged>, Vec<Blocker>, Vec<Attempt>) {
        let group = &self.cluster_queue.groups[search.group];
        let mut best: Option<Judged> = None;
        let (mut blockers, mut attempts) = (Vec::new(), Vec::new());
        let mut stopped = None;
        // A remembered index may come from a time when the group had more flavors.
        let start = if search.start < group.flavors.len() {
            search.start
        } else {
            0
        };
        for (index, flavor) in group.flavors.iter().enumerate().skip(start) {
            stopped = Some(index);
            if let Some(blocker) = self.passed_over(search, resource, flavor) {
                blockers.push(blocker);
                continue;
            }
            let judged = self.judge(search, flavor);
            attempts.push(judged.attempt.clone());
            blockers.extend(judged.attempt.blockers.iter().cloned());
            let granular = judged.granular;
            let better = granular.usable()
                && best
                    .as_ref()
                    .is_none_or(|best| self.prefers(granular, best.granular));
            let stops = self.stops_at(granular);
            if stops || better {
                best = Some(judged);
            }
            if stops {
                break;
            }
        }
        let tried = Tried(
            stopped
                .filter(|index| self.policy.flavor_fungibility && index + 1 < group.flavors.len()),
        );
        if let Some(best) = &mut best {
            for choice in best.choices.values_mut() {
                choice.tried = tried;
            }
            if best.granular.fits() {
                blockers.clear();
            }
        }
        (best, blockers, attempts)
    }
}
