//! The places of every flavor with a topology, ready for the next cycle: shared with cycles that run, copied when something changes,
//! built anew only when nodes or levels changed.
//!
//! What workloads take is kept by domain beside it, so that it counts again when a topology or a node comes back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use quantity::Requests;
use scheduler::topology::{HOSTNAME, Node, Snapshot, TopologyUsage, Tree};
use scheduler::{Flavor, FlavorName};

use super::foreign::{Change, Foreign};
use super::nodes::{Nodes, belongs};

/// The flavors of a cache.
pub(crate) type Flavors = BTreeMap<FlavorName, Arc<Flavor>>;
type Taken = BTreeMap<Vec<String>, Requests>;

/// Nodes, topologies, and what is taken from them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    levels: BTreeMap<String, Vec<String>>,
    nodes: Nodes,
    foreign: Foreign,
    taken: BTreeMap<FlavorName, Taken>,
    views: Arc<BTreeMap<FlavorName, Arc<Snapshot>>>,
    /// Flavors whose view has to be built anew.
    stale: BTreeSet<FlavorName>,
    /// Whether what one flavor takes from a node is missing in all others (gate `TASHandleOverlappingFlavors`).
    overlapping: bool,
}

impl Places {
    pub(crate) fn new(overlapping: bool) -> Self {
        Self {
            overlapping,
            ..Self::default()
        }
    }

    /// A Topology appeared or changed. Returns the flavors it concerns.
    pub(crate) fn apply_topology(
        &mut self,
        name: &str,
        levels: Vec<String>,
        flavors: &Flavors,
    ) -> Vec<FlavorName> {
        if self.levels.get(name) == Some(&levels) {
            return Vec::new();
        }
        self.levels.insert(name.to_owned(), levels);
        self.topology_changed(name, flavors)
    }

    /// A Topology is gone. Returns the flavors it concerns.
    pub(crate) fn delete_topology(&mut self, name: &str, flavors: &Flavors) -> Vec<FlavorName> {
        if self.levels.remove(name).is_none() {
            return Vec::new();
        }
        self.topology_changed(name, flavors)
    }

    fn topology_changed(&mut self, name: &str, flavors: &Flavors) -> Vec<FlavorName> {
        self.spoil(flavors);
        let concerned = |flavor: &Flavor| flavor.topology.as_deref() == Some(name);
        let names = flavors.iter().filter(|(_, flavor)| concerned(flavor));
        names.map(|(name, _)| name.clone()).collect()
    }

    /// A ResourceFlavor appeared, changed or is gone.
    pub(crate) fn flavor_changed(&mut self, name: &FlavorName, flavors: &Flavors) {
        let placed = flavors
            .get(name)
            .is_some_and(|flavor| flavor.topology.is_some());
        if placed || self.views.contains_key(name) {
            self.stale.insert(name.clone());
            self.spoil(flavors);
        }
    }

    /// All views have to be built anew: what one flavor takes may count in another, so it matters to all which flavors there are.
    fn spoil(&mut self, flavors: &Flavors) {
        let placed = flavors
            .iter()
            .filter(|(_, flavor)| flavor.topology.is_some());
        self.stale.extend(placed.map(|(name, _)| name.clone()));
    }

    /// A Node appeared or changed. Returns the flavors it concerns.
    pub(crate) fn apply_node(&mut self, object: &core::Node, flavors: &Flavors) -> Vec<FlavorName> {
        let changed = self.nodes.apply(object);
        self.node_changed(&changed, flavors)
    }

    /// A Node is gone. Returns the flavors it concerns.
    pub(crate) fn delete_node(&mut self, name: &str, flavors: &Flavors) -> Vec<FlavorName> {
        let gone = self.nodes.delete(name);
        self.node_changed(gone.as_slice(), flavors)
    }

    fn node_changed(&mut self, changed: &[Arc<Node>], flavors: &Flavors) -> Vec<FlavorName> {
        let has = |flavor: &Flavor| {
            let levels = self.levels_of(flavor);
            levels.is_some_and(|levels| {
                let mut nodes = changed.iter();
                nodes.any(|node| belongs(node, &flavor.node_labels, levels))
            })
        };
        let concerned = flavors.iter().filter(|(_, flavor)| has(flavor));
        let names: Vec<_> = concerned.map(|(name, _)| name.clone()).collect();
        self.stale.extend(names.iter().cloned());
        names
    }

    /// A pod appeared or changed. Returns the flavors in which something became free.
    pub(crate) fn apply_pod(&mut self, pod: &core::Pod) -> Vec<FlavorName> {
        let change = self.foreign.apply(pod);
        self.pod_changed(&change)
    }

    /// A pod is gone. Returns the flavors in which something became free.
    pub(crate) fn delete_pod(&mut self, namespace: &str, name: &str) -> Vec<FlavorName> {
        let change = self.foreign.delete(namespace, name);
        self.pod_changed(&change)
    }

    fn pod_changed(&mut self, change: &Change) -> Vec<FlavorName> {
        let mut freed = Vec::new();
        if change.before.is_none() && change.after.is_none() {
            return freed;
        }
        for (name, view) in Arc::make_mut(&mut self.views) {
            let view = Arc::make_mut(view);
            if let Some(before) = &change.before
                && view.return_foreign(&before.node, &before.requests)
                && change.frees()
            {
                freed.push(name.clone());
            }
            if let Some(after) = &change.after {
                view.subtract_foreign(&after.node, &after.requests);
            }
        }
        freed
    }

    /// A workload takes this.
    pub(crate) fn take(&mut self, usage: &TopologyUsage) {
        self.change(usage, 1);
    }

    /// A workload gives this back.
    pub(crate) fn give_back(&mut self, usage: &TopologyUsage) {
        self.change(usage, -1);
    }

    fn change(&mut self, usage: &TopologyUsage, sign: i64) {
        for (flavor, domains) in usage {
            for domain in domains {
                let total = domain.total();
                let taken = self.taken.entry(flavor.clone()).or_default();
                let sum = taken.entry(domain.values.clone()).or_default();
                sum.add_all(&total.times(sign));
                if sum.iter().all(|(_, amount)| amount.value() == 0) {
                    taken.remove(&domain.values);
                }
                self.change_views(flavor, &domain.values, &total, sign);
            }
        }
        self.taken.retain(|_, taken| !taken.is_empty());
    }

    fn change_views(
        &mut self,
        flavor: &FlavorName,
        values: &[String],
        total: &Requests,
        sign: i64,
    ) {
        let shares = self.overlapping
            && self
                .views
                .get(flavor)
                .is_some_and(|view| view.lowest_is_hostname());
        let concerned: Vec<FlavorName> = self
            .views
            .iter()
            .filter(|(name, view)| *name == flavor || shares && view.lowest_is_hostname())
            .map(|(name, _)| name.clone())
            .collect();
        let views = Arc::make_mut(&mut self.views);
        for name in concerned {
            if let Some(view) = views.get_mut(&name) {
                let view = Arc::make_mut(view);
                if sign > 0 {
                    view.add_usage(values, total);
                } else {
                    view.remove_usage(values, total);
                }
            }
        }
    }

    /// The places of all flavors whose topology is there.
    pub(crate) fn snapshot(
        &mut self,
        flavors: &Flavors,
    ) -> Arc<BTreeMap<FlavorName, Arc<Snapshot>>> {
        for name in std::mem::take(&mut self.stale) {
            let fresh = self.view(&name, flavors);
            let views = Arc::make_mut(&mut self.views);
            match fresh {
                Some(fresh) => views.insert(name, Arc::new(fresh)),
                None => views.remove(&name),
            };
        }
        self.views.clone()
    }

    /// The levels of a flavor's topology, if both are there.
    pub(crate) fn levels_of(&self, flavor: &Flavor) -> Option<&[String]> {
        let levels = self.levels.get(flavor.topology.as_ref()?)?;
        Some(levels)
    }

    fn view(&self, name: &FlavorName, flavors: &Flavors) -> Option<Snapshot> {
        let flavor = flavors.get(name)?;
        let levels = self.levels_of(flavor)?;
        let tree = Tree::build(levels, self.nodes.find(&flavor.node_labels, levels));
        let topology = flavor.topology.as_deref().unwrap_or_default();
        let mut view = Snapshot::new(topology, Arc::new(tree), &flavor.tolerations);
        for (node, requests) in self.foreign.by_node() {
            view.subtract_foreign(node, requests);
        }
        let takes_nodes = |other: &FlavorName| {
            let levels = flavors.get(other).and_then(|other| self.levels_of(other));
            levels.is_some_and(by_host)
        };
        let shared = self.overlapping && by_host(levels);
        for (other, taken) in &self.taken {
            if other == name || shared && takes_nodes(other) {
                for (values, total) in taken {
                    view.add_usage(values, total);
                }
            }
        }
        Some(view)
    }
}

fn by_host(levels: &[String]) -> bool {
    levels.last().is_some_and(|level| level == HOSTNAME)
}
