//! What is used where, what is still available, and how far up one has to borrow for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quantity::{Amount, ResourceName};

use super::shape::{CohortQuotas, Member, Named, Node, Shape};
use crate::names::{ClusterQueueName, CohortName, FlavorResource};
use crate::objects::Usage;
use crate::share::Weight;

/// A node of one tree. Meaningless in another tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub(super) usize);

impl NodeId {
    /// Its place among all nodes of its tree, from zero.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder<'a> {
    /// A ClusterQueue.
    ClusterQueue(&'a ClusterQueueName),
    /// A cohort, with or without an object.
    Cohort(&'a CohortName),
}

impl std::fmt::Display for Holder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ClusterQueue(name) => name.fmt(f),
            Self::Cohort(name) => name.fmt(f),
        }
    }
}

/// How far up the tree an amount has to be borrowed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Zero: not borrowed. Otherwise the height of the smallest subtree that covers it.
    pub height: usize,
    /// Whether that subtree could take back what it lent further up.
    pub may_reclaim: bool,
}

/// Quotas and usage of all ClusterQueues and cohorts. Cloning it is cheap; writing to a clone copies the nodes on one path.
#[derive(Clone, Debug, Default)]
pub struct QuotaTree {
    shape: Arc<Shape>,
    usage: Vec<Arc<Usage>>,
}

impl QuotaTree {
    /// A tree of these members and cohorts, holding `usage`.
    #[must_use]
    pub fn build<'a>(
        members: impl IntoIterator<Item = Member<'a>>,
        cohorts: &BTreeMap<CohortName, CohortQuotas>,
        usage: &BTreeMap<ClusterQueueName, Usage>,
    ) -> Self {
        let shape = Shape::build(members, cohorts);
        let empty = vec![Arc::default(); shape.nodes.len()];
        let mut tree = Self {
            shape: Arc::new(shape),
            usage: empty,
        };
        for (name, usage) in usage {
            tree.add(name, usage);
        }
        tree
    }

    /// The node of a ClusterQueue.
    #[must_use]
    pub fn cluster_queue(&self, name: &ClusterQueueName) -> Option<NodeId> {
        self.shape.cluster_queues.get(name).copied()
    }

    /// The node of a cohort.
    #[must_use]
    pub fn cohort(&self, name: &CohortName) -> Option<NodeId> {
        self.shape.cohorts.get(name).copied()
    }

    /// Every node with what it stands for: cohorts, then ClusterQueues, each in the order of their names.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, Holder<'_>)> {
        let cohorts = self
            .shape
            .cohorts
            .iter()
            .map(|(name, id)| (*id, Holder::Cohort(name)));
        cohorts.chain(
            self.shape
                .cluster_queues
                .iter()
                .map(|(name, id)| (*id, Holder::ClusterQueue(name))),
        )
    }

    /// Whether the cohorts above it form a circle, in which case nothing can be decided below.
    #[must_use]
    pub fn in_cycle(&self, name: &ClusterQueueName) -> bool {
        self.cluster_queue(name)
            .is_some_and(|id| self.node(id).cyclic)
    }

    /// Whether the way up from a node never ends.
    #[must_use]
    pub fn is_cyclic(&self, id: NodeId) -> bool {
        self.node(id).cyclic
    }

    /// The node above, if there is one.
    #[must_use]
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).parent
    }

    /// The nodes directly below.
    #[must_use]
    pub fn children(&self, id: NodeId) -> &[NodeId] {
        &self.node(id).children
    }

    /// The top of the tree that a node is in.
    #[must_use]
    pub fn root(&self, id: NodeId) -> NodeId {
        self.path_up(id).last().unwrap_or(id)
    }

    /// The node and all above it.
    pub fn path_up(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(Some(id), |id| self.parent(*id))
    }

    /// Everything used below a node.
    #[must_use]
    pub fn usage_of(&self, id: NodeId) -> &Usage {
        &self.usage[id.0]
    }

    /// How much of one resource in one flavor is used below a node.
    #[must_use]
    pub fn used(&self, id: NodeId, of: &FlavorResource) -> Amount {
        self.usage[id.0].get(of).copied().unwrap_or_default()
    }

    /// What the subtree brings in.
    #[must_use]
    pub fn subtree_quotas(&self, id: NodeId) -> &Usage {
        &self.node(id).subtree
    }

    /// What a node keeps for itself whatever its cohort wants.
    #[must_use]
    pub fn local_quota(&self, id: NodeId, of: &FlavorResource) -> Amount {
        self.node(id).local(of)
    }

    /// What a ClusterQueue could take right now; zero when it is in debt.
    #[must_use]
    pub fn available(&self, id: NodeId, of: &FlavorResource) -> Amount {
        self.available_signed(id, of).floor_zero()
    }

    /// What it could take if nobody used anything.
    #[must_use]
    pub fn potential(&self, id: NodeId, of: &FlavorResource) -> Amount {
        self.shape.potential(id, of)
    }

    /// What could at most be used of a resource below a cohort, over all flavors.
    #[must_use]
    pub fn lendable(&self, id: NodeId, resource: &ResourceName) -> Amount {
        self.node(id)
            .lendable
            .get(resource)
            .copied()
            .unwrap_or_default()
    }

    /// How much a node counts when the cohort above is shared.
    #[must_use]
    pub fn weight(&self, id: NodeId) -> Weight {
        self.node(id).weight
    }

    /// How many nodes there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.usage.len()
    }

    /// The ClusterQueue at a node; `None` if a cohort is there.
    #[must_use]
    pub fn queue_at(&self, id: NodeId) -> Option<&ClusterQueueName> {
        match &self.node(id).name {
            Named::ClusterQueue(name) => Some(name),
            Named::Cohort(_) => None,
        }
    }

    /// Whether more of any of these is used than the node brings in itself.
    #[must_use]
    pub fn above_quota(&self, id: NodeId, any: &BTreeSet<FlavorResource>) -> bool {
        any.iter().any(|of| self.borrows_with(id, of, Amount::ZERO))
    }

    /// The names from the root down to a ClusterQueue.
    #[must_use]
    pub fn path(&self, name: &ClusterQueueName) -> Vec<&str> {
        let up = self.cluster_queue(name).into_iter();
        let up = up.flat_map(|id| self.path_up(id));
        let mut path: Vec<&str> = up
            .map(|id| match self.holder(id) {
                Holder::ClusterQueue(name) => name.as_str(),
                Holder::Cohort(name) => name.as_str(),
            })
            .collect();
        path.reverse();
        path
    }

    /// What a node stands for.
    #[must_use]
    pub fn holder(&self, id: NodeId) -> Holder<'_> {
        match &self.node(id).name {
            Named::ClusterQueue(name) => Holder::ClusterQueue(name),
            Named::Cohort(name) => Holder::Cohort(name),
        }
    }

    /// Whether using `more` would exceed what the node brings in itself.
    #[must_use]
    pub fn borrows_with(&self, id: NodeId, of: &FlavorResource, more: Amount) -> bool {
        self.node(id).subtree(of) < self.used(id, of) + more
    }

    /// How far up one has to go for `more`.
    #[must_use]
    pub fn level(&self, id: NodeId, of: &FlavorResource, more: Amount) -> Level {
        let Some(parent) = self.parent(id) else {
            return Level {
                height: 0,
                may_reclaim: false,
            };
        };
        if !self.borrows_with(id, of, more) {
            return Level {
                height: 0,
                may_reclaim: true,
            };
        }
        let mut rest = more - self.local_available(id, of);
        let mut root = parent;
        for at in self.path_up(parent) {
            if !self.borrows_with(at, of, rest) {
                return Level {
                    height: self.node(at).height,
                    may_reclaim: self.parent(at).is_some(),
                };
            }
            rest -= self.local_available(at, of);
            root = at;
        }
        Level {
            height: self.node(root).height,
            may_reclaim: false,
        }
    }

    /// Whether all of it is available at once.
    #[must_use]
    pub fn fits(&self, id: NodeId, usage: &Usage) -> bool {
        usage
            .iter()
            .all(|(of, amount)| *amount <= self.available(id, of))
    }

    /// Takes quota. Does nothing for a ClusterQueue that is not in the tree.
    pub fn add(&mut self, name: &ClusterQueueName, usage: &Usage) {
        if let Some(id) = self.cluster_queue(name) {
            self.add_at(id, usage);
        }
    }

    /// Takes quota at the node of a ClusterQueue.
    pub(crate) fn add_at(&mut self, id: NodeId, usage: &Usage) {
        for (of, amount) in usage {
            self.add_one(id, of, *amount);
        }
    }

    /// Gives quota back. Does nothing for a ClusterQueue that is not in the tree.
    pub fn remove(&mut self, name: &ClusterQueueName, usage: &Usage) {
        if let Some(id) = self.cluster_queue(name) {
            self.remove_at(id, usage);
        }
    }

    /// Gives quota back at the node of a ClusterQueue.
    pub(crate) fn remove_at(&mut self, id: NodeId, usage: &Usage) {
        for (of, amount) in usage {
            self.remove_one(id, of, *amount);
        }
    }

    /// Makes the usage of a node and all above it that of another tree of the same shape, by sharing it.
    pub(crate) fn share_path(&mut self, id: NodeId, other: &Self) {
        let mut next = Some(id);
        while let Some(id) = next {
            self.usage[id.0] = other.usage[id.0].clone();
            next = self.parent(id);
        }
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.shape.nodes[id.0]
    }

    /// Negative in debt.
    fn available_signed(&self, id: NodeId, of: &FlavorResource) -> Amount {
        let from_above = |above: Option<Amount>, id: NodeId| {
            let (node, used) = (self.node(id), self.used(id, of));
            let Some(above) = above else {
                return node.subtree(of) - used;
            };
            let lent = node.subtree(of) - node.local(of);
            let taken = (used - node.local(of)).floor_zero();
            let limit = node.quota(of).borrowing_limit;
            let above = limit.map_or(above, |limit| above.min(lent - taken + limit));
            self.local_available(id, of) + above
        };
        self.shape.descend(id, from_above).unwrap_or_default()
    }

    /// What is left of the share that nobody else can take.
    #[must_use]
    pub fn local_available(&self, id: NodeId, of: &FlavorResource) -> Amount {
        (self.node(id).local(of) - self.used(id, of)).floor_zero()
    }

    fn add_one(&mut self, id: NodeId, of: &FlavorResource, amount: Amount) {
        let (mut at, mut amount) = (id, amount);
        loop {
            let local = self.local_available(at, of);
            self.change(at, of, |own| own + amount);
            match self.parent(at) {
                Some(parent) if amount > local => (at, amount) = (parent, amount - local),
                _ => return,
            }
        }
    }

    fn remove_one(&mut self, id: NodeId, of: &FlavorResource, amount: Amount) {
        let (mut at, mut amount) = (id, amount);
        loop {
            let stored = self.used(at, of) - self.node(at).local(of);
            self.change(at, of, |own| own - amount);
            match self.parent(at) {
                Some(parent) if stored > Amount::ZERO => {
                    (at, amount) = (parent, amount.min(stored));
                }
                _ => return,
            }
        }
    }

    fn change(&mut self, id: NodeId, of: &FlavorResource, with: impl Fn(Amount) -> Amount) {
        let usage = Arc::make_mut(&mut self.usage[id.0]);
        match usage.get_mut(of) {
            Some(own) => *own = with(*own),
            None => {
                usage.insert(of.clone(), with(Amount::ZERO));
            }
        }
    }
}
