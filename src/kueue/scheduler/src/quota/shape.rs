//! The part of the quota tree that only changes with the objects: parents, quotas, and what each subtree brings in.

use std::collections::{BTreeMap, BTreeSet};

use quantity::{Amount, ResourceName, SmallMap};

use super::tree::NodeId;
use super::{Quota, Quotas};
use crate::names::{ClusterQueueName, CohortName, FlavorResource};
use crate::objects::Usage;
use crate::share::Weight;

/// A ClusterQueue as the tree sees it.
#[derive(Clone, Debug)]
pub struct Member<'a> {
    /// Its name.
    pub name: &'a ClusterQueueName,
    /// The cohort it shares with.
    pub cohort: Option<&'a CohortName>,
    /// Its own quotas.
    pub quotas: &'a Quotas,
    /// How much it counts when the cohort is shared.
    pub weight: Weight,
}

/// A Cohort object: its parent and what it brings in beyond its members.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CohortQuotas {
    /// The cohort above.
    pub parent: Option<CohortName>,
    /// Its own quotas.
    pub quotas: Quotas,
    /// How much it counts when the cohort above is shared.
    pub weight: Weight,
}

/// Whom a node stands for.
#[derive(Clone, Debug)]
pub(super) enum Named {
    ClusterQueue(ClusterQueueName),
    Cohort(CohortName),
}

/// One node of the tree.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) name: Named,
    pub(super) weight: Weight,
    pub(super) parent: Option<NodeId>,
    pub(super) children: Vec<NodeId>,
    pub(super) quotas: Quotas,
    pub(super) subtree: Usage,
    /// Distance to the deepest leaf.
    pub(super) height: usize,
    /// Whether the way up never ends.
    pub(super) cyclic: bool,
    /// What could at most be used below, by resource over all flavors of its whole tree; of cohorts only.
    pub(super) lendable: SmallMap<ResourceName, Amount>,
}

impl Node {
    fn new(name: Named, quotas: Quotas, weight: Weight) -> Self {
        Self {
            name,
            weight,
            quotas,
            parent: None,
            children: Vec::new(),
            subtree: Usage::new(),
            height: 0,
            cyclic: false,
            lendable: SmallMap::new(),
        }
    }

    pub(super) fn quota(&self, of: &FlavorResource) -> Quota {
        self.quotas.get(of).copied().unwrap_or_default()
    }

    pub(super) fn subtree(&self, of: &FlavorResource) -> Amount {
        self.subtree.get(of).copied().unwrap_or_default()
    }

    /// What the node keeps for itself whatever its cohort wants.
    pub(super) fn local(&self, of: &FlavorResource) -> Amount {
        match self.quota(of).lending_limit {
            Some(limit) => (self.subtree(of) - limit).floor_zero(),
            None => Amount::ZERO,
        }
    }
}

/// So many levels are the usual.
const NEAR: usize = 8;

/// All nodes, parents before children in `order`.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    pub(super) nodes: Vec<Node>,
    pub(super) order: Vec<NodeId>,
    pub(super) cluster_queues: BTreeMap<ClusterQueueName, NodeId>,
    pub(super) cohorts: BTreeMap<CohortName, NodeId>,
}

impl Shape {
    pub(super) fn build<'a>(
        members: impl IntoIterator<Item = Member<'a>>,
        cohorts: &BTreeMap<CohortName, CohortQuotas>,
    ) -> Self {
        let members: Vec<_> = members.into_iter().collect();
        let mut shape = Self::default();
        shape.place_cohorts(&members, cohorts);
        for member in &members {
            let parent = member
                .cohort
                .and_then(|name| shape.cohorts.get(name).copied());
            let name = Named::ClusterQueue(member.name.clone());
            let mut node = Node::new(name, member.quotas.clone(), member.weight);
            node.parent = parent;
            let id = shape.push(node);
            shape.cluster_queues.insert(member.name.clone(), id);
        }
        shape.link();
        shape.sum_up();
        shape.find_lendable();
        shape
    }

    fn push(&mut self, node: Node) -> NodeId {
        let id = NodeId(self.nodes.len());
        self.nodes.push(node);
        id
    }

    /// One node for every cohort that an object describes or a name mentions.
    fn place_cohorts(
        &mut self,
        members: &[Member<'_>],
        cohorts: &BTreeMap<CohortName, CohortQuotas>,
    ) {
        let named = members.iter().filter_map(|member| member.cohort);
        let above = cohorts.values().filter_map(|cohort| cohort.parent.as_ref());
        let names: BTreeSet<&CohortName> = cohorts.keys().chain(named).chain(above).collect();
        for name in &names {
            let CohortQuotas { quotas, weight, .. } =
                cohorts.get(*name).cloned().unwrap_or_default();
            let id = self.push(Node::new(Named::Cohort((*name).clone()), quotas, weight));
            self.cohorts.insert((*name).clone(), id);
        }
        for (name, cohort) in cohorts {
            let parent = cohort
                .parent
                .as_ref()
                .and_then(|parent| self.cohorts.get(parent).copied());
            if let Some(id) = self.cohorts.get(name).copied() {
                self.nodes[id.0].parent = parent;
            }
        }
    }

    /// Finds the cycles, cuts them, and orders what is left from the roots down.
    fn link(&mut self) {
        let cyclic = self.circular();
        for (node, cyclic) in self.nodes.iter_mut().zip(&cyclic) {
            node.cyclic = *cyclic;
        }
        for id in 0..self.nodes.len() {
            let parent = self.nodes[id]
                .parent
                .filter(|parent| !cyclic[id] && !cyclic[parent.0]);
            self.nodes[id].parent = parent;
            match parent {
                Some(parent) => self.nodes[parent.0].children.push(NodeId(id)),
                None => self.order.push(NodeId(id)),
            }
        }
        let mut next = 0;
        while let Some(id) = self.order.get(next) {
            self.order.extend(&self.nodes[id.0].children.clone());
            next += 1;
        }
    }

    /// Which nodes have no root: whoever is not reached from one.
    fn circular(&self) -> Vec<bool> {
        let mut below: Vec<Vec<NodeId>> = vec![Vec::new(); self.nodes.len()];
        let mut reached = Vec::new();
        for (id, node) in self.nodes.iter().enumerate() {
            match node.parent {
                Some(parent) => below[parent.0].push(NodeId(id)),
                None => reached.push(NodeId(id)),
            }
        }
        let mut circular = vec![true; self.nodes.len()];
        while let Some(id) = reached.pop() {
            circular[id.0] = false;
            reached.append(&mut below[id.0]);
        }
        circular
    }

    /// From the leaves up: what each subtree brings in, and how high it is.
    fn sum_up(&mut self) {
        for id in self.order.clone().into_iter().rev() {
            let own = self.nodes[id.0]
                .quotas
                .iter()
                .map(|(of, quota)| (of.clone(), quota.nominal));
            let mut subtree: Usage = own.collect();
            let mut height = 0;
            for child in &self.nodes[id.0].children {
                let child = &self.nodes[child.0];
                height = height.max(child.height + 1);
                for (of, amount) in &child.subtree {
                    *subtree.entry(of.clone()).or_default() += *amount - child.local(of);
                }
            }
            self.nodes[id.0].subtree = subtree;
            self.nodes[id.0].height = height;
        }
    }

    /// What every cohort could lend at most. It depends on nothing that is used, so that nobody has to ask twice.
    fn find_lendable(&mut self) {
        let mut all: BTreeMap<NodeId, BTreeSet<FlavorResource>> = BTreeMap::new();
        for index in 0..self.order.len() {
            let id = self.order[index];
            if matches!(self.nodes[id.0].name, Named::ClusterQueue(_)) {
                continue;
            }
            let root = self.root_of(id);
            let in_tree = all
                .entry(root)
                .or_insert_with(|| self.nodes[root.0].subtree.keys().cloned().collect());
            let mut lendable: SmallMap<ResourceName, Amount> = SmallMap::new();
            for of in in_tree.iter() {
                *lendable.entry(of.resource.clone()).or_default() += self.potential(id, of);
            }
            self.nodes[id.0].lendable = lendable;
        }
    }

    fn root_of(&self, id: NodeId) -> NodeId {
        let up = std::iter::successors(Some(id), |id| self.nodes[id.0].parent);
        up.last().unwrap_or(id)
    }

    /// What a node could take if nobody used anything.
    pub(super) fn potential(&self, id: NodeId, of: &FlavorResource) -> Amount {
        let reached = self.descend(id, |above: Option<Amount>, id| {
            let node = &self.nodes[id.0];
            let Some(above) = above else {
                return node.subtree(of);
            };
            let most = node.local(of) + above;
            let limit = node.quota(of).borrowing_limit;
            limit.map_or(most, |limit| most.min(node.subtree(of) + limit))
        });
        reached.unwrap_or_default()
    }

    /// Carries something from the root down to a node. No recursion: people decide how deep cohorts are nested.
    pub(super) fn descend<T>(
        &self,
        id: NodeId,
        step: impl Fn(Option<T>, NodeId) -> T,
    ) -> Option<T> {
        // The way back, on the stack where it is as short as it nearly always is.
        let (mut near, mut far, mut length) = ([id; NEAR], Vec::new(), 0);
        for at in std::iter::successors(Some(id), |id| self.nodes[id.0].parent) {
            match near.get_mut(length) {
                Some(place) => *place = at,
                None => far.push(at),
            }
            length += 1;
        }
        let near = near.iter().take(length).rev();
        let down = far.iter().rev().chain(near);
        down.fold(None, |above, at| Some(step(above, *at)))
    }
}
