//! The result of flavor assignment: what each pod set would take, and for every flavor that was looked at why it was not taken.

use quantity::{Amount, Requests, ResourceName, SmallMap};

use super::progress::{LastAssignment, Tried};
use super::unit::Shared;
use crate::labels::Taint;
use crate::names::{FlavorName, FlavorResource, PodSetName};
use crate::objects::{HeldPodSet, PodSet, ResourceGroup, Usage};
use crate::places::{Delayed, NoRequest, Wanted};
use crate::preemption::Possibility;
use crate::topology::{self, TopologyAssignment};

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
    /// Another flavor was nominated for the resource earlier in the cycle.
    NotNominated(FlavorName, ResourceName),
    /// The workload grows out of a slice that holds another flavor, if any.
    SliceHoldsOther(FlavorName, Option<FlavorName>),
    /// The search for this resource did not come to it.
    DoesNotProvide(FlavorName, ResourceName),
    /// The pod set asks for a topology, the flavor has none.
    FlavorWithoutTopology(FlavorName),
    /// The flavor has a topology, the pod set does not ask for one.
    FlavorNeedsTopology(FlavorName),
    /// Nobody knows the topology of the flavor.
    TopologyUnknown(FlavorName),
    /// The flavor's topology lacks a level that the pod set asks for.
    LevelMissing(FlavorName),
    /// There is no place for the pods in the topology.
    Unplaced(topology::Reason),
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

/// Why nothing fits, in the words of the condition `QuotaReserved`. The later the worse.
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
    /// From how far up it is borrowed.
    pub borrow: usize,
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
    pub flavors: SmallMap<ResourceName, Choice>,
    /// What was in the way of a better result.
    pub blockers: Vec<Blocker>,
    /// Every flavor that was looked at.
    pub attempts: Vec<Attempt>,
    /// The domains the pods go to.
    pub place: Option<TopologyAssignment>,
    /// Whether they are told so later.
    pub delayed: Option<Delayed>,
    /// Why no place can be looked for at all.
    pub unplaceable: Option<NoRequest>,
}

impl PodSetAssignment {
    /// The worst mode of its resources.
    #[must_use]
    pub fn mode(&self) -> Mode {
        if self.unplaceable.is_some() {
            return Mode::NoFit;
        }
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
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Assignment {
    /// By pod set, up to the first one that found none.
    pub pod_sets: Vec<PodSetAssignment>,
    /// What it would use in total.
    pub usage: Usage,
    /// From how far up it would be borrowed at most.
    pub borrowing: usize,
    /// Why it does not fit, if it does not fit at all.
    pub(super) no_fit: Option<NoFitReason>,
    /// Where to go on next time.
    pub last: LastAssignment,
    /// What the search for places made of the mode.
    pub(crate) decided: Option<Mode>,
    /// The places that were asked for.
    pub wanted: Wanted,
}

impl Assignment {
    /// The worst mode of its pod sets.
    #[must_use]
    pub fn mode(&self) -> Mode {
        let modes = self.pod_sets.iter().map(PodSetAssignment::mode);
        let worst = modes.min().unwrap_or(Mode::NoFit);
        self.decided.unwrap_or(worst)
    }

    /// Why it does not fit at all.
    #[must_use]
    pub fn no_fit_reason(&self) -> Option<NoFitReason> {
        self.no_fit
    }
}

/// The best flavor of each group, of these the worst group. A flavor counts in every group that lists it.
pub(super) fn reason_of(pod_set: &PodSetAssignment, groups: &[ResourceGroup]) -> NoFitReason {
    let of_flavor = |flavor: &FlavorName| {
        let of = |attempt: &&Attempt| attempt.flavor == *flavor && attempt.mode == Mode::NoFit;
        pod_set.attempts.iter().find(of)
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

impl Assignment {
    pub(super) fn push(
        &mut self,
        pod_set: &PodSet,
        (count, requests): (i64, &Requests),
        shared: &Shared,
        held: Option<&HeldPodSet>,
        flavors: SmallMap<ResourceName, Choice>,
    ) {
        for (resource, choice) in &flavors {
            self.borrowing = self.borrowing.max(choice.borrow);
            let of = FlavorResource {
                flavor: choice.flavor.clone(),
                resource: resource.clone(),
            };
            let held = held.map_or(Amount::ZERO, |held| held.requests.get(resource));
            *self.usage.entry(of).or_default() += requests.get(resource) - held;
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
            place: None,
            delayed: None,
            unplaceable: None,
        });
    }
}
