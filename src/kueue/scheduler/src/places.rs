//! The places that an assignment of flavors still needs, all flavors of a workload together (kueue-reference.md, section 4.14).
//!
//! `wanted.rs` derives them from the flavors that were assigned; [`Wanted::find`] asks the topology of each flavor. Placement itself, within
//! one topology, is in `topology.rs`.

mod wanted;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cycle::Snapshot;
use crate::names::{FlavorName, PodSetName};
use crate::objects::HeldPodSet;
use crate::topology::{
    self, AssumedUsage, DomainAssignment, DomainRequests, Failure, PodSetRequest, Search,
    TopologyAssignment, TopologyUsage,
};

pub(crate) use wanted::{is_implied, without_topology};

/// The topologies of a snapshot, by flavor.
pub type Topologies = BTreeMap<FlavorName, Arc<topology::Snapshot>>;

/// Why the place of a pod set cannot even be looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRequest {
    /// The ClusterQueue has no flavor with a topology that is known.
    NoTopology,
    /// None of the assigned flavors has a topology.
    NoFlavor,
    /// Several of them have.
    SeveralFlavors(Vec<FlavorName>),
    /// A growing workload cannot ask for a required topology.
    ElasticRequired,
    /// A growing workload cannot ask for a preferred topology.
    ElasticPreferred,
}

/// An answer that is given after the quota was reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delayed {
    /// Not yet.
    Pending,
    /// It has been.
    Ready,
}

/// The places that are asked for, by flavor.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Wanted {
    /// In the order of the pod sets.
    pub by_flavor: BTreeMap<FlavorName, Vec<PodSetRequest>>,
    /// Under which circumstances.
    pub search: Search,
    /// Whether what is found in one flavor is missing in all others with the same nodes (gate `TASHandleOverlappingFlavors`).
    pub overlapping: bool,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Found {
    /// The places of pod sets that have one.
    pub placed: Vec<(PodSetName, TopologyAssignment)>,
    /// The first flavor in which some pod set has none.
    pub failure: Option<(FlavorName, Failure)>,
}

impl Wanted {
    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_flavor.is_empty()
    }

    /// Whether some place is asked for this pod set.
    #[must_use]
    pub fn names(&self, pod_set: &PodSetName) -> bool {
        let mut all = self.by_flavor.values().flatten();
        all.any(|request| request.pod_set == *pod_set)
    }

    /// Looks for all of them, as things stand or as if nothing placed by topology were running.
    #[must_use]
    pub fn find(&self, topologies: &Topologies, empty: bool) -> Found {
        let search = Search {
            empty,
            ..self.search.clone()
        };
        let mut found = Found::default();
        let mut shared = AssumedUsage::new();
        for (flavor, requests) in &self.by_flavor {
            let Some(topology) = topologies.get(flavor) else {
                continue;
            };
            let mut own = AssumedUsage::new();
            let assumed = if self.overlapping && topology.lowest_is_hostname() {
                &mut shared
            } else {
                &mut own
            };
            match topology.find(requests, assumed, &search) {
                Ok(placed) => found.placed.extend(placed),
                Err(failure) => {
                    found.placed.extend(failure.placed.iter().cloned());
                    found.failure.get_or_insert((flavor.clone(), failure));
                }
            }
        }
        found
    }

    /// Whether there is a place for everything.
    #[must_use]
    pub fn fit(&self, topologies: &Topologies) -> bool {
        self.is_empty() || self.find(topologies, false).failure.is_none()
    }
}

/// Changes what is free in the topologies that are known.
pub(crate) fn change(
    topologies: &mut Arc<Topologies>,
    usage: &TopologyUsage,
    change: impl Fn(&mut topology::Snapshot, &[DomainRequests]),
) {
    if usage.is_empty() {
        return;
    }
    let all = Arc::make_mut(topologies);
    for (flavor, domains) in usage {
        if let Some(topology) = all.get_mut(flavor) {
            change(Arc::make_mut(topology), domains);
        }
    }
}

impl Snapshot {
    /// Some workload takes this from the domains of topologies.
    pub fn take_places(&mut self, usage: &TopologyUsage) {
        change(&mut self.topologies, usage, topology::Snapshot::take);
    }

    /// Some workload gives this back.
    pub fn give_back_places(&mut self, usage: &TopologyUsage) {
        change(&mut self.topologies, usage, topology::Snapshot::give_back);
    }

    /// Whether there is room for this in every domain.
    #[must_use]
    pub fn has_places(&self, usage: &TopologyUsage) -> bool {
        usage.iter().all(|(flavor, domains)| {
            let topology = self.topologies.get(flavor);
            topology.is_some_and(|topology| topology.fits(domains))
        })
    }
}

/// The pods of an assignment that nobody has counted yet: those beyond what the workload holds in the same domain.
pub(crate) fn beyond(
    place: &TopologyAssignment,
    held: Option<&HeldPodSet>,
) -> Vec<DomainAssignment> {
    let counted = |values: &[String]| -> i64 {
        let held = held.and_then(|held| held.place.as_ref());
        let same = held
            .iter()
            .flat_map(|held| &held.domains)
            .filter(|domain| domain.values == values);
        same.map(|domain| domain.count).sum()
    };
    let rest = place.domains.iter().map(|domain| DomainAssignment {
        values: domain.values.clone(),
        count: domain.count - counted(&domain.values),
    });
    rest.filter(|domain| domain.count > 0).collect()
}
