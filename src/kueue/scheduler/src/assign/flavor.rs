//! Judges one flavor for one unit of pod sets: is it allowed, do the nodes suit the pods, is there quota for every resource.

use quantity::{Amount, ResourceName, SmallMap};

use super::unit::Search;
use super::{Assigner, Attempt, Blocker, Choice, Granular, Mode, NoFitReason, Nomination, Tried};
use crate::labels::untolerated;
use crate::names::{FlavorName, FlavorResource};
use crate::objects::{Flavor, PodSet, PreemptionPolicy, Workload};
use crate::places::is_implied;

/// A flavor with what would be taken from it.
pub(super) struct Judged {
    pub(super) attempt: Attempt,
    pub(super) granular: Granular,
    pub(super) choices: SmallMap<ResourceName, Choice>,
}

/// What the quota says about one resource.
struct Verdict {
    granular: Granular,
    blocker: Option<Blocker>,
    no_fit: Option<NoFitReason>,
}

impl Assigner<'_> {
    /// Why a flavor is not even looked at.
    pub(super) fn passed_over(
        &self,
        search: &Search<'_>,
        resource: &ResourceName,
        flavor: &FlavorName,
    ) -> Option<Blocker> {
        let nominated = |mapping: &Nomination| {
            let of = |index: &usize| mapping.get(*index).and_then(|taken| taken.get(resource));
            search
                .unit
                .indices
                .iter()
                .any(|index| of(index) == Some(flavor))
        };
        if self.nominated.is_some_and(|mapping| !nominated(mapping)) {
            return Some(Blocker::NotNominated(flavor.clone(), resource.clone()));
        }
        (!allows(search.workload, flavor)).then(|| Blocker::FlavorNotAllowed(flavor.clone()))
    }

    pub(super) fn judge(&self, search: &Search<'_>, name: &FlavorName) -> Judged {
        let Some(blocker) = self.unsuitable(search, name) else {
            return self.judge_quota(search, name);
        };
        let attempt = Attempt {
            flavor: name.clone(),
            mode: Mode::NoFit,
            possibility: None,
            borrow: 0,
            blockers: vec![blocker],
            no_fit: Some(NoFitReason::NoMatchingFlavor),
        };
        Judged {
            attempt,
            granular: Granular::WORST,
            choices: SmallMap::new(),
        }
    }

    /// What makes the flavor unusable whatever quota it has.
    fn unsuitable(&self, search: &Search<'_>, name: &FlavorName) -> Option<Blocker> {
        let Some(flavor) = self.flavors.get(name) else {
            return Some(Blocker::FlavorNotFound(name.clone()));
        };
        search
            .unit
            .pod_sets
            .iter()
            .find_map(|pod_set| self.unsuitable_for(search, pod_set, flavor, name))
    }

    fn unsuitable_for(
        &self,
        search: &Search<'_>,
        pod_set: &PodSet,
        flavor: &Flavor,
        name: &FlavorName,
    ) -> Option<Blocker> {
        let tolerations: [&[_]; 2] = [&pod_set.tolerations, &flavor.tolerations];
        let misplaced = self
            .policy
            .tas
            .then(|| self.misplaces(search, pod_set, flavor, name));
        if let Some(blocker) = misplaced.flatten() {
            return Some(blocker);
        }
        if let Some(taint) = untolerated(&flavor.taints, &tolerations) {
            return Some(Blocker::Untolerated(name.clone(), taint.clone()));
        }
        if !pod_set.affinity.matches_flavor(&flavor.node_labels) {
            return Some(Blocker::AffinityMismatch(name.clone()));
        }
        None
    }

    /// Why the pod set cannot be placed with this flavor, or must not use it because it does not want to be placed.
    fn misplaces(
        &self,
        search: &Search<'_>,
        pod_set: &PodSet,
        flavor: &Flavor,
        name: &FlavorName,
    ) -> Option<Blocker> {
        if is_implied(pod_set, self.cluster_queue, self.flavors) {
            return None;
        }
        let placed = flavor.topology.is_some();
        if !pod_set.topology.is_explicit() {
            return placed.then(|| Blocker::FlavorNeedsTopology(name.clone()));
        }
        if !placed {
            // What the pods themselves do not ask for may be counted in a flavor without nodes.
            let covered = &self.cluster_queue.groups[search.group].covered;
            let asked = covered
                .iter()
                .any(|resource| pod_set.template.contains(resource));
            return asked.then(|| Blocker::FlavorWithoutTopology(name.clone()));
        }
        match self.topologies.get(name) {
            None => Some(Blocker::TopologyUnknown(name.clone())),
            Some(topology) if topology.has_level(&pod_set.topology) => None,
            Some(_) => Some(Blocker::LevelMissing(name.clone())),
        }
    }

    /// Every resource is looked at, also after one that does not fit, so that people read of all that is missing.
    fn judge_quota(&self, search: &Search<'_>, name: &FlavorName) -> Judged {
        let group = &self.cluster_queue.groups[search.group];
        let mut worst = Granular::BEST;
        let mut choices = SmallMap::new();
        let (mut blockers, mut no_fit, mut borrow) = (Vec::new(), None, 0);
        for (resource, requested) in search.requests(group) {
            let of = FlavorResource {
                flavor: name.clone(),
                resource: resource.clone(),
            };
            let (requested, other) = self.beyond_the_slice(search, &of, requested);
            if let Some(other) = other {
                worst = Granular::WORST;
                no_fit = no_fit.max(Some(NoFitReason::NoMatchingFlavor));
                blockers.push(other);
            }
            let assumed = search.used.get(&of).copied().unwrap_or_default();
            let verdict = self.judge_resource(&of, assumed, requested);
            blockers.extend(verdict.blocker);
            no_fit = no_fit.max(verdict.no_fit);
            borrow = borrow.max(verdict.granular.borrow);
            worst = self.worse_of(worst, verdict.granular);
            let choice = Choice {
                flavor: name.clone(),
                mode: verdict.granular.mode,
                borrow: verdict.granular.borrow,
                tried: Tried::default(),
            };
            choices.insert(resource.clone(), choice);
        }
        let attempt = Attempt {
            flavor: name.clone(),
            mode: worst.mode,
            possibility: worst.possibility,
            borrow,
            blockers,
            no_fit,
        };
        Judged {
            attempt,
            granular: worst,
            choices,
        }
    }

    /// What is asked for beyond what the replaced slice holds, and what is wrong if that slice holds it in another flavor.
    fn beyond_the_slice(
        &self,
        search: &Search<'_>,
        of: &FlavorResource,
        requested: Amount,
    ) -> (Amount, Option<Blocker>) {
        let Some(replaced) = self.replaced else {
            return (requested, None);
        };
        let held = search
            .unit
            .indices
            .iter()
            .filter_map(|index| replaced.get(*index));
        let mut rest = requested;
        for held in held {
            let flavor = held.flavors.get(&of.resource);
            if flavor != Some(&of.flavor) {
                let other = Blocker::SliceHoldsOther(of.flavor.clone(), flavor.cloned());
                return (rest, Some(other));
            }
            rest -= held.requests.get(&of.resource);
        }
        (rest, None)
    }

    /// How well a flavor fits of which two resources fit so well. It never fits if one of them does not: where preemption is preferred over
    /// borrowing the reference says it does, and then finds for ever that it no longer fits (DIFFERENCES.md).
    fn worse_of(&self, a: Granular, b: Granular) -> Granular {
        let preference = self.cluster_queue.fungibility.preference;
        let worse = if a.preferred_over(b, preference) {
            b
        } else {
            a
        };
        match [a, b].into_iter().find(|one| !one.fits()) {
            Some(unfit) if worse.fits() => Granular {
                borrow: unfit.borrow.max(worse.borrow),
                ..unfit
            },
            _ => worse,
        }
    }

    fn judge_resource(&self, of: &FlavorResource, assumed: Amount, requested: Amount) -> Verdict {
        let needed = assumed + requested;
        let maximum = self.tree.potential(self.node, of);
        if needed > maximum {
            let blocker = Blocker::ExceedsMaximum {
                of: of.clone(),
                assumed,
                requested,
                maximum,
            };
            return Verdict::no_fit(blocker, 0, NoFitReason::ExceedsMaxQuota);
        }
        let level = self.tree.level(self.node, of, needed);
        let available = self.tree.available(self.node, of);
        if needed <= available {
            let granular = Granular {
                mode: Mode::Fit,
                possibility: None,
                borrow: level.height,
            };
            return Verdict {
                granular,
                blocker: None,
                no_fit: None,
            };
        }
        let blocker = Blocker::Lacks {
            of: of.clone(),
            missing: needed - available,
        };
        let nominal = self.cluster_queue.quota(of).nominal;
        if nominal >= needed || level.may_reclaim || self.may_preempt_while_borrowing() {
            let (possibility, borrow) = self.oracle.ask(of, needed, level.height);
            let granular = Granular {
                mode: Mode::Preempt,
                possibility: Some(possibility),
                borrow,
            };
            return Verdict {
                granular,
                blocker: Some(blocker),
                no_fit: None,
            };
        }
        Verdict::no_fit(blocker, level.height, NoFitReason::WaitingForQuota)
    }

    fn may_preempt_while_borrowing(&self) -> bool {
        let preemption = &self.cluster_queue.preemption;
        preemption.borrow_within_cohort != PreemptionPolicy::Never
            || self.policy.fair_sharing.is_some()
                && preemption.reclaim_within_cohort != PreemptionPolicy::Never
    }
}

impl Verdict {
    fn no_fit(blocker: Blocker, borrow: usize, reason: NoFitReason) -> Self {
        let granular = Granular {
            mode: Mode::NoFit,
            possibility: None,
            borrow,
        };
        Self {
            granular,
            blocker: Some(blocker),
            no_fit: Some(reason),
        }
    }
}

fn allows(workload: &Workload, flavor: &FlavorName) -> bool {
    workload
        .allowed_flavors
        .as_ref()
        .is_none_or(|allowed| allowed.contains(flavor))
}
