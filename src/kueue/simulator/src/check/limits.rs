//! Quotas, limits and usage, computed from the objects alone: what each node of the cohort tree brings in, what is used below it, and
//! whether somebody was admitted beyond a borrowing limit, a lending limit or the end of the tree. Section 4.3 of the reference.

use std::collections::{BTreeMap, BTreeSet};

use kueue_api::v1beta2 as api;
use quantity::{Amount, ResourceName};
use scheduler::{FlavorResource, Usage};

use crate::world::{Cycled, World};

/// What an object says about one resource in one flavor.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    nominal: Amount,
    borrow: Option<Amount>,
    lend: Option<Amount>,
}

/// A ClusterQueue (`true`) or a cohort, by name.
pub(crate) type Name = (bool, String);

/// Every node with its quotas, and what the admitted workloads of every queue hold.
#[derive(Debug)]
pub(crate) struct Ledger {
    quotas: BTreeMap<Name, BTreeMap<FlavorResource, Limits>>,
    parents: BTreeMap<Name, Name>,
    held: BTreeMap<String, Usage>,
    nothing: Usage,
}

/// A node for one resource: what it brings in, what is used below it, what it keeps for itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Balance {
    pub(crate) quota: Amount,
    pub(crate) used: Amount,
    pub(crate) kept: Amount,
}

impl Ledger {
    pub(crate) fn of(world: &World) -> Self {
        let mut ledger = Self {
            quotas: BTreeMap::new(),
            parents: BTreeMap::new(),
            held: held(world),
            nothing: Usage::new(),
        };
        for (name, queue) in &world.queues {
            let spec = &queue.spec;
            ledger.node((true, name.clone()), &spec.resource_groups, spec.cohort());
        }
        for (name, cohort) in &world.cohorts {
            let spec = &cohort.spec;
            ledger.node((false, name.clone()), &spec.resource_groups, spec.parent());
        }
        ledger
    }

    fn node(&mut self, name: Name, groups: &[api::ResourceGroup], parent: Option<&str>) {
        self.quotas.insert(name.clone(), limits(groups));
        if let Some(parent) = parent {
            let parent = (false, parent.to_owned());
            self.quotas.entry(parent.clone()).or_default();
            self.parents.insert(name, parent);
        }
    }

    /// What the admitted workloads of a queue hold.
    pub(crate) fn held(&self, queue: &str) -> &Usage {
        self.held.get(queue).unwrap_or(&self.nothing)
    }

    /// One resource in every node, with usage less `minus`. Nodes in a circle are left out.
    pub(crate) fn balances(
        &self,
        of: &FlavorResource,
        minus: &BTreeMap<String, Usage>,
    ) -> BTreeMap<Name, Balance> {
        let mut balances = BTreeMap::new();
        for name in self.quotas.keys().filter(|name| self.depth(name).is_some()) {
            self.balance(name, of, minus, &mut balances);
        }
        balances
    }

    /// Children first; cohorts that people nest are a few levels deep.
    fn balance(
        &self,
        name: &Name,
        of: &FlavorResource,
        minus: &BTreeMap<String, Usage>,
        known: &mut BTreeMap<Name, Balance>,
    ) -> Balance {
        if let Some(balance) = known.get(name) {
            return *balance;
        }
        let own = self.limits(name, of);
        let amount = |usage: &Usage| usage.get(of).copied().unwrap_or_default();
        let mut balance = Balance {
            quota: own.nominal,
            ..Balance::default()
        };
        if name.0 {
            let less = minus.get(&name.1).map(amount).unwrap_or_default();
            balance.used = amount(self.held(&name.1)) - less;
        }
        let children = self.parents.iter().filter(|(_, parent)| *parent == name);
        for (child, _) in children {
            let child = self.balance(child, of, minus, known);
            balance.quota += child.quota - child.kept;
            balance.used += (child.used - child.kept).floor_zero();
        }
        if let Some(limit) = own.lend {
            balance.kept = (balance.quota - limit).floor_zero();
        }
        known.insert(name.clone(), balance);
        balance
    }

    /// Every resource that somebody has quota for or uses.
    pub(crate) fn resources(&self) -> BTreeSet<FlavorResource> {
        let quotas = self.quotas.values().flat_map(BTreeMap::keys);
        let held = self.held.values().flat_map(Usage::keys);
        quotas.chain(held).cloned().collect()
    }

    /// Those of one node and all below.
    pub(crate) fn resources_of(&self, name: &Name) -> BTreeSet<FlavorResource> {
        let own = self.quotas.get(name).into_iter().flat_map(BTreeMap::keys);
        let mut all: BTreeSet<_> = own.cloned().collect();
        if name.0 {
            all.extend(self.held(&name.1).keys().cloned());
        }
        for child in self.children(name) {
            all.extend(self.resources_of(child));
        }
        all
    }

    /// Nodes without anything above.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Name> {
        self.quotas
            .keys()
            .filter(|name| !self.parents.contains_key(*name))
    }

    /// Nodes whose way up never ends.
    pub(crate) fn in_circles(&self) -> impl Iterator<Item = &Name> {
        self.quotas.keys().filter(|name| self.depth(name).is_none())
    }

    pub(crate) fn parent(&self, name: &Name) -> Option<&Name> {
        self.parents.get(name)
    }

    pub(crate) fn children(&self, name: &Name) -> Vec<&Name> {
        let below = self.parents.iter().filter(|(_, parent)| *parent == name);
        below.map(|(child, _)| child).collect()
    }

    /// What a node brings in beside its members.
    pub(crate) fn nominal(&self, name: &Name, of: &FlavorResource) -> Amount {
        self.limits(name, of).nominal
    }

    fn limits(&self, name: &Name, of: &FlavorResource) -> Limits {
        let quotas = self.quotas.get(name);
        quotas
            .and_then(|all| all.get(of))
            .copied()
            .unwrap_or_default()
    }

    pub(crate) fn in_circle(&self, name: &Name) -> bool {
        self.depth(name).is_none()
    }

    /// What a node could use of one resource if nobody else used anything.
    pub(crate) fn most(
        &self,
        name: &Name,
        of: &FlavorResource,
        balances: &BTreeMap<Name, Balance>,
    ) -> Amount {
        let balance = balances.get(name).copied().unwrap_or_default();
        let Some(parent) = self.parent(name) else {
            return balance.quota;
        };
        let most = balance.kept + self.most(parent, of, balances);
        let limit = self.limits(name, of).borrow;
        limit.map_or(most, |limit| most.min(balance.quota + limit))
    }

    /// How many nodes are above; `None` in a circle.
    fn depth(&self, name: &Name) -> Option<usize> {
        let mut at = name;
        for depth in 0..=self.quotas.len() {
            match self.parents.get(at) {
                Some(parent) => at = parent,
                None => return Some(depth),
            }
        }
        None
    }
}

/// Everything that somebody was given in this cycle beyond a limit.
pub(super) fn exceeded(world: &World, cycled: &Cycled) -> Vec<String> {
    if cycled.plan.admissions.is_empty() {
        return Vec::new();
    }
    let ledger = Ledger::of(world);
    let mut given: BTreeMap<String, Usage> = BTreeMap::new();
    for admission in &cycled.plan.admissions {
        let to = given
            .entry(admission.cluster_queue.to_string())
            .or_default();
        // Who only moves to another node held its quota before, whatever became of the limits since.
        let mut before = cycled.before.admitted_in(&admission.cluster_queue);
        let before = before.find(|held| held.workload.key == admission.workload);
        for (of, amount) in &admission.usage {
            let held = before.and_then(|held| held.usage.get(of)).copied();
            let more = *amount - held.unwrap_or_default();
            *to.entry(of.clone()).or_default() += more.floor_zero();
        }
    }
    let mut all: Vec<_> = given.values().flat_map(Usage::keys).collect();
    all.sort();
    all.dedup();
    all.into_iter()
        .flat_map(|of| exceeded_in(&ledger, of, &given))
        .collect()
}

fn exceeded_in(
    ledger: &Ledger,
    of: &FlavorResource,
    given: &BTreeMap<String, Usage>,
) -> Vec<String> {
    let after = ledger.balances(of, &BTreeMap::new());
    let before = ledger.balances(of, given);
    let mut found = Vec::new();
    for (name, balance) in after {
        let was = before.get(&name).copied().unwrap_or_default();
        if balance.used <= was.used {
            continue;
        }
        let most = match ledger.parents.get(&name) {
            None => Some(balance.quota),
            Some(_) => ledger
                .limits(&name, of)
                .borrow
                .map(|limit| balance.quota + limit),
        };
        if most.is_some_and(|most| balance.used > most) {
            found.push(format!(
                "{} {}: {of} rises from {:?} to {:?}, beyond {:?}",
                if name.0 { "queue" } else { "cohort" },
                name.1,
                was.used,
                balance.used,
                most.unwrap_or_default(),
            ));
        }
    }
    found
}

fn limits(groups: &[api::ResourceGroup]) -> BTreeMap<FlavorResource, Limits> {
    let mut limits = BTreeMap::new();
    for flavor in groups.iter().flat_map(|group| &group.flavors) {
        for quota in &flavor.resources {
            let of = FlavorResource::new(flavor.name.as_str(), quota.name.as_str());
            let read = |text: &kueue_api::Quantity| amount(&of.resource, text);
            let own = Limits {
                nominal: read(&quota.nominal_quota),
                borrow: quota.borrowing_limit.as_ref().map(read),
                lend: quota.lending_limit.as_ref().map(read),
            };
            limits.insert(of, own);
        }
    }
    limits
}

/// What workloads hold, read from their status.
fn held(world: &World) -> BTreeMap<String, Usage> {
    let mut held: BTreeMap<String, Usage> = BTreeMap::new();
    for job in world.jobs.values() {
        let object = &job.object;
        let status = object.status.as_ref();
        let Some(admission) = status.and_then(|status| status.admission.as_ref()) else {
            continue;
        };
        if object.is_finished() || !object.has_quota_reservation() {
            continue;
        }
        let to = held.entry(admission.cluster_queue.clone()).or_default();
        for assignment in &admission.pod_set_assignments {
            for (resource, text) in &assignment.resource_usage {
                let Some(flavor) = assignment.flavors.get(resource) else {
                    continue;
                };
                let of = FlavorResource::new(flavor.as_str(), resource.as_str());
                let amount = amount(&of.resource, text);
                *to.entry(of).or_default() += amount;
            }
        }
    }
    held
}

/// An amount that was read by the parser of scripts or of YAML before; unreadable ones count as nothing.
pub(crate) fn amount(resource: &ResourceName, text: &kueue_api::Quantity) -> Amount {
    let read = text.0.parse().ok();
    read.map(|quantity| Amount::of(resource, quantity))
        .unwrap_or_default()
}
