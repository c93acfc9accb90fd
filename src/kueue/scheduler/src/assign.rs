//! Which flavors a workload would take: the pod sets in order, each resource from the first flavor that is good enough.
//!
//! The result says for every flavor that was looked at why it was not taken. `flavor.rs` judges one flavor, `fungibility.rs` compares
//! two, `partial.rs` looks for the largest number of pods that fits. Nothing is reserved here.

mod flavor;
mod fungibility;
mod partial;
mod progress;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use quantity::{Amount, Requests, ResourceName};

use crate::labels::Taint;
use crate::names::{FlavorName, FlavorResource, PodSetName};
use crate::objects::{ClusterQueue, Flavor, PodSet, ResourceGroup, Usage, Workload};
use crate::policy::Policy;
use crate::preemption::{Oracle, Possibility};
use crate::quota::{NodeId, QuotaTree};

pub use fungibility::Granular;
pub(crate) use partial::largest_that;
pub use progress::{LastAssignment, Tried};

use flavor::Judged;

/// How well something fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Not at all.
    NoFit,
    /// If others were evicted, whether or not some can be.
    Preempt,
    /// As things stand.
    Fit,
}

/// One reason why a flavor was not good enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocker {
    /// No group of the ClusterQueue covers the resource.
    ResourceUnavailable(ResourceName),
    /// There is no such ResourceFlavor.
    FlavorNotFound(FlavorName),
    /// The workload may not use it.
    FlavorNotAllowed(FlavorName),
    /// The pod set asks for a topology, the flavor has none.
    FlavorWithoutTopology(FlavorName),
    /// The flavor has a topology, which is not supported yet.
    TopologyUnsupported(FlavorName),
    /// Its nodes keep the pods away.
    Untolerated(FlavorName, Taint),
    /// The pods insist on other nodes.
    AffinityMismatch(FlavorName),
    /// More than the ClusterQueue could ever get.
    ExceedsMaximum {
        /// Of what.
        of: FlavorResource,
        /// What earlier pod sets of the workload take.
        assumed: Amount,
        /// What this one asks for.
        requested: Amount,
        /// The most there can be.
        maximum: Amount,
    },
    /// More than is free now.
    Lacks {
        /// Of what.
        of: FlavorResource,
        /// How much more would be needed.
        missing: Amount,
    },
}

/// Why nothing fits, in the words of the QuotaReserved condition. The later the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoFitReason {
    /// There is quota, but no place that satisfies the topology.
    TopologyPlacementFailed,
    /// Others use what is needed.
    WaitingForQuota,
    /// It could never fit.
    ExceedsMaxQuota,
    /// No flavor suits the pods.
    NoMatchingFlavor,
}

/// What was found out about one flavor for one pod set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The index of the resource group.
    pub group: usize,
    /// The flavor.
    pub flavor: FlavorName,
    /// How well it fits.
    pub mode: Mode,
    /// Whether eviction would help, if it was asked.
    pub possibility: Option<Possibility>,
    /// From how far up it would be borrowed.
    pub borrow: usize,
    /// What is in the way.
    pub blockers: Vec<Blocker>,
    /// The reason, if it does not fit at all.
    pub no_fit: Option<NoFitReason>,
}

/// The flavor that a resource is taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The flavor.
    pub flavor: FlavorName,
    /// How well it fits.
    pub mode: Mode,
    /// How far the search went.
    pub tried: Tried,
}

/// The flavors of one pod set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSetAssignment {
    /// Which pod set.
    pub name: PodSetName,
    /// For how many pods.
    pub count: i64,
    /// What they ask for together.
    pub requests: Requests,
    /// The flavor of each resource; empty if some resource found none.
    pub flavors: BTreeMap<ResourceName, Choice>,
    /// What was in the way of a better result.
    pub blockers: Vec<Blocker>,
    /// Every flavor that was looked at.
    pub attempts: Vec<Attempt>,
}

impl PodSetAssignment {
    /// The worst mode of its resources.
    #[must_use]
    pub fn mode(&self) -> Mode {
        if self.blockers.is_empty() {
            return Mode::Fit;
        }
        self.flavors
            .values()
            .map(|choice| choice.mode)
            .min()
            .unwrap_or(Mode::NoFit)
    }
}

/// The flavors of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// By pod set, up to the first one that found none.
    pub pod_sets: Vec<PodSetAssignment>,
    /// What it would use in total.
    pub usage: Usage,
    /// From how far up it would be borrowed at most.
    pub borrowing: usize,
    /// Why it does not fit, if it does not fit at all.
    no_fit: Option<NoFitReason>,
    /// Where to go on next time.
    pub last: LastAssignment,
}

impl Assignment {
    /// The worst mode of its pod sets.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.pod_sets
            .iter()
            .map(PodSetAssignment::mode)
            .min()
            .unwrap_or(Mode::NoFit)
    }

    /// Why it does not fit at all.
    #[must_use]
    pub fn no_fit_reason(&self) -> Option<NoFitReason> {
        self.no_fit
    }
}

/// The best flavor of each group, of these the worst group. A flavor counts in every group that lists it.
fn reason_of(pod_set: &PodSetAssignment, groups: &[ResourceGroup]) -> NoFitReason {
    let of_flavor = |flavor: &FlavorName| {
        pod_set
            .attempts
            .iter()
            .rfind(|attempt| attempt.flavor == *flavor)
    };
    let of_group = |group: &ResourceGroup| {
        group
            .flavors
            .iter()
            .filter_map(of_flavor)
            .map(|attempt| attempt.no_fit)
            .min()
            .flatten()
    };
    let unavailable = pod_set
        .blockers
        .iter()
        .any(|blocker| matches!(blocker, Blocker::ResourceUnavailable(_)));
    let worst = groups.iter().filter_map(of_group).max();
    worst
        .filter(|_| !unavailable)
        .unwrap_or(NoFitReason::NoMatchingFlavor)
}

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
}

impl std::fmt::Debug for Assigner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Assigner")
            .field("cluster_queue", &self.cluster_queue.name)
            .finish_non_exhaustive()
    }
}

/// The pod sets that have to receive the same flavors.
struct Unit<'a> {
    indices: Vec<usize>,
    pod_sets: Vec<&'a PodSet>,
    requests: Requests,
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
        let count =
            |index: usize, pod_set: &PodSet| counts.map_or(pod_set.count, |counts| counts[index]);
        let mut result = Assignment {
            pod_sets: Vec::new(),
            usage: Usage::new(),
            borrowing: 0,
            no_fit: None,
            last: LastAssignment::default(),
        };
        let sets: Vec<(i64, Requests)> = workload
            .pod_sets
            .iter()
            .enumerate()
            .map(|(index, pod_set)| self.total(pod_set, count(index, pod_set)))
            .collect();
        for unit in units(workload, &sets) {
            let (shared, failed) = self.assign_unit(workload, &unit, last, &mut result);
            for index in unit.indices {
                let (count, requests) = &sets[index];
                result.push(&workload.pod_sets[index], *count, requests, &shared);
            }
            if failed {
                break;
            }
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
        let mut shared = Shared::default();
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
            let (best, blockers) = self.search(&search, &mut shared.attempts);
            let Some(best) = best else {
                return (shared.failed(blockers), true);
            };
            so_far.borrowing = so_far.borrowing.max(best.granular.borrow);
            shared.flavors.extend(best.choices);
            shared.blockers.extend(blockers);
        }
        (shared, false)
    }

    /// Scans the flavors of one group. Returns the best usable one, and what kept it from fitting as it is.
    fn search(
        &self,
        search: &Search<'_>,
        attempts: &mut Vec<Attempt>,
    ) -> (Option<Judged>, Vec<Blocker>) {
        let group = &self.cluster_queue.groups[search.group];
        let mut best: Option<Judged> = None;
        let mut blockers = Vec::new();
        let mut stopped = None;
        // A remembered index may come from a time when the group had more flavors.
        let start = if search.start < group.flavors.len() {
            search.start
        } else {
            0
        };
        for (index, flavor) in group.flavors.iter().enumerate().skip(start) {
            stopped = Some(index);
            let judged = self.judge(search, flavor);
            attempts.push(judged.attempt.clone());
            blockers.extend(judged.attempt.blockers.iter().cloned());
            let granular = judged.granular;
            let better = granular.usable()
                && best
                    .as_ref()
                    .is_none_or(|best| self.prefers(granular, best.granular));
            if self.stops_at(granular) {
                best = Some(judged);
                break;
            }
            if better {
                best = Some(judged);
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
        (best, blockers)
    }
}

/// One scan through a group's flavors.
struct Search<'a> {
    workload: &'a Workload,
    unit: &'a Unit<'a>,
    group: usize,
    start: usize,
    used: &'a Usage,
}

impl Search<'_> {
    /// The requests of the unit that the group covers.
    fn requests<'s>(
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
struct Shared {
    flavors: BTreeMap<ResourceName, Choice>,
    blockers: Vec<Blocker>,
    attempts: Vec<Attempt>,
}

impl Shared {
    fn failed(self, blockers: Vec<Blocker>) -> Self {
        Self {
            flavors: BTreeMap::new(),
            blockers,
            attempts: self.attempts,
        }
    }
}

impl Assignment {
    fn push(&mut self, pod_set: &PodSet, count: i64, requests: &Requests, shared: &Shared) {
        let own = shared
            .flavors
            .iter()
            .filter(|(resource, _)| requests.contains(resource));
        let flavors: BTreeMap<_, _> = own
            .map(|(resource, choice)| (resource.clone(), choice.clone()))
            .collect();
        for (resource, choice) in &flavors {
            let of = FlavorResource {
                flavor: choice.flavor.clone(),
                resource: resource.clone(),
            };
            *self.usage.entry(of).or_default() += requests.get(resource);
        }
        self.last.push(
            flavors
                .iter()
                .map(|(resource, choice)| (resource.clone(), choice.tried)),
        );
        self.pod_sets.push(PodSetAssignment {
            name: pod_set.name.clone(),
            count,
            requests: requests.clone(),
            flavors,
            blockers: shared.blockers.clone(),
            attempts: shared.attempts.clone(),
        });
    }
}

/// Pod sets that share a group come together, in the place of the first one.
fn units<'a>(workload: &'a Workload, sets: &[(i64, Requests)]) -> Vec<Unit<'a>> {
    let mut units: Vec<Unit<'a>> = Vec::new();
    for (index, pod_set) in workload.pod_sets.iter().enumerate() {
        let same = |unit: &&mut Unit<'_>| {
            pod_set.group.is_some() && unit.pod_sets[0].group == pod_set.group
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
