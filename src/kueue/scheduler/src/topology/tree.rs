//! The shape of a topology: which domains there are, level by level, and what their nodes offer. Built once for a set of nodes, then shared.
//!
//! Domains are numbered level by level and, within a level, in the order of their values from the top down. So the order of two domains of one
//! level is the order of their numbers, the children of a domain are a range, and the lowest level is the end of the list.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use quantity::{Requests, ResourceName};

use super::HOSTNAME;
use crate::labels::{Labels, Taint};

/// A node as placement sees it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Node {
    /// Its name.
    pub name: Arc<str>,
    /// Its labels.
    pub labels: Labels,
    /// Its taints.
    pub taints: Vec<Taint>,
    /// What it offers to pods.
    pub allocatable: Requests,
}

/// The number of a domain in its tree.
pub(super) type DomainId = usize;

#[derive(Debug)]
struct Domain {
    /// The value of its level.
    value: Arc<str>,
    /// Itself, at the top level.
    parent: DomainId,
    children: Range<DomainId>,
}

/// The domains of one topology over the nodes of one flavor.
#[derive(Debug, Default)]
pub struct Tree {
    levels: Vec<String>,
    domains: Vec<Domain>,
    /// Where each level begins, and the end.
    starts: Vec<DomainId>,
    /// Every resource that some node offers, by name.
    resources: Vec<ResourceName>,
    /// What each leaf offers: one row of `resources` a leaf.
    capacity: Arc<Vec<i64>>,
    /// The node of each leaf, if leaves are nodes.
    nodes: Vec<Arc<Node>>,
    /// Which leaves have nodes that differ in nothing but their names: such leaves have the same number.
    kinds: Vec<usize>,
    /// The leaf each node belongs to, by the node's name.
    leaf_of_node: BTreeMap<Arc<str>, usize>,
    /// The leaf of each host name, by host name, if leaves are nodes.
    hosts: Vec<(Arc<str>, usize)>,
}

/// A leaf while the tree is built.
struct Leaf<'a> {
    path: Vec<Arc<str>>,
    nodes: Vec<&'a Arc<Node>>,
}

impl Tree {
    /// The tree of these nodes, each of which should have a label a level. Of several nodes with one host name the first gives the place.
    #[must_use]
    pub fn build<'a>(levels: &[String], nodes: impl IntoIterator<Item = &'a Arc<Node>>) -> Self {
        let by_host = levels.last().is_some_and(|level| level == HOSTNAME);
        let leaves = leaves(levels, nodes, by_host);
        let mut tree = Self {
            levels: levels.to_vec(),
            ..Self::default()
        };
        tree.grow(&leaves);
        tree.furnish(&leaves, by_host);
        tree
    }

    fn grow(&mut self, leaves: &[Leaf<'_>]) {
        let mut above: Range<DomainId> = 0..0;
        for level in 0..self.levels.len() {
            let start = self.domains.len();
            self.starts.push(start);
            let mut parent = above.start;
            let mut last: Option<&[Arc<str>]> = None;
            for leaf in leaves {
                let path = leaf.path.get(..=level).unwrap_or_default();
                if last == Some(path) {
                    continue;
                }
                if let (Some(before), Some((_, prefix))) = (last, path.split_last())
                    && !before.starts_with(prefix)
                {
                    parent += 1;
                }
                last = Some(path);
                self.attach(level, parent, path);
            }
            above = start..self.domains.len();
        }
        self.starts.push(self.domains.len());
    }

    fn attach(&mut self, level: usize, parent: DomainId, path: &[Arc<str>]) {
        let Some(value) = path.last() else { return };
        let id = self.domains.len();
        self.domains.push(Domain {
            value: Arc::clone(value),
            parent: if level == 0 { id } else { parent },
            children: 0..0,
        });
        if level > 0 {
            let children = &mut self.domains[parent].children;
            if children.end == 0 {
                children.start = id;
            }
            children.end = id + 1;
        }
    }

    fn furnish(&mut self, leaves: &[Leaf<'_>], by_host: bool) {
        let nodes = leaves.iter().flat_map(|leaf| &leaf.nodes);
        for (name, _) in nodes.flat_map(|node| node.allocatable.iter()) {
            if let Err(place) = self.resources.binary_search(name) {
                self.resources.insert(place, name.clone());
            }
        }
        let width = self.resources.len();
        let mut capacity = vec![0_i64; width * leaves.len()];
        for (index, leaf) in leaves.iter().enumerate() {
            let row = &mut capacity[index * width..][..width];
            for node in &leaf.nodes {
                for (resource, amount) in self.dense(&node.allocatable) {
                    row[resource] = row[resource].saturating_add(amount);
                }
                self.leaf_of_node.insert(Arc::clone(&node.name), index);
            }
            if by_host {
                self.nodes.extend(leaf.nodes.first().copied().cloned());
                let host = leaf.path.last().cloned();
                self.hosts.extend(host.map(|host| (host, index)));
            }
        }
        self.hosts.sort_unstable();
        self.capacity = Arc::new(capacity);
        self.kinds = kinds(&self.nodes);
    }

    /// The known resources of some requests, by number. What no node offers is left out.
    pub(super) fn dense(&self, requests: &Requests) -> Vec<(usize, i64)> {
        requests
            .iter()
            .filter_map(|(name, amount)| Some((self.resource(name)?, amount.value())))
            .collect()
    }

    /// The same for a pod, which counts as one of `pods` too. A resource may be there twice.
    pub(super) fn dense_pod(&self, per_pod: &Requests) -> Vec<(usize, i64)> {
        let mut dense = self.dense(per_pod);
        let pods = self
            .resources
            .binary_search_by(|name| name.as_str().cmp(ResourceName::PODS));
        dense.extend(pods.ok().map(|pods| (pods, 1)));
        dense
    }

    pub(super) fn resources(&self) -> &[ResourceName] {
        &self.resources
    }

    pub(super) fn resource(&self, name: &ResourceName) -> Option<usize> {
        self.resources.binary_search(name).ok()
    }

    /// How many resources come before one that is not there.
    pub(super) fn resources_before(&self, name: &ResourceName) -> usize {
        self.resources.partition_point(|known| known < name)
    }

    pub(super) fn resource_name(&self, resource: usize) -> Option<&ResourceName> {
        self.resources.get(resource)
    }

    /// How many resources there are, which is the length of a leaf's row.
    pub(super) fn width(&self) -> usize {
        self.resources.len()
    }

    pub(super) fn capacity(&self) -> &Arc<Vec<i64>> {
        &self.capacity
    }

    /// The levels, from the top.
    #[must_use]
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// Whether leaves are single nodes.
    #[must_use]
    pub fn by_host(&self) -> bool {
        self.levels.last().is_some_and(|level| level == HOSTNAME)
    }

    pub(super) fn level(&self, key: &str) -> Option<usize> {
        self.levels.iter().position(|level| level == key)
    }

    /// All domains of all levels.
    pub(super) fn len(&self) -> usize {
        self.domains.len()
    }

    pub(super) fn at_level(&self, level: usize) -> Range<DomainId> {
        match (self.starts.get(level), self.starts.get(level + 1)) {
            (Some(start), Some(end)) => *start..*end,
            _ => 0..0,
        }
    }

    /// The domains of the lowest level.
    pub(super) fn leaves(&self) -> Range<DomainId> {
        self.at_level(self.levels.len().wrapping_sub(1))
    }

    /// The leaf of a node that holds pods placed by somebody else.
    pub(super) fn leaf_of_node(&self, node: &str) -> Option<usize> {
        self.leaf_of_node.get(node).copied()
    }

    /// The node of a leaf, if leaves are nodes.
    pub(super) fn node(&self, leaf: usize) -> Option<&Node> {
        self.nodes.get(leaf).map(Arc::as_ref)
    }

    /// How many kinds of nodes there are at most.
    pub(super) fn kinds(&self) -> usize {
        self.nodes.len()
    }

    /// The kind of a leaf that is a node.
    pub(super) fn kind(&self, leaf: usize) -> Option<usize> {
        self.kinds.get(leaf).copied()
    }

    pub(super) fn children(&self, of: DomainId) -> Range<DomainId> {
        self.domains[of].children.clone()
    }

    /// The domain `up` levels above.
    pub(super) fn ancestor(&self, of: DomainId, up: usize) -> DomainId {
        (0..up).fold(of, |domain, _| self.domains[domain].parent)
    }

    /// The values that name a leaf in an assignment: the host name alone, or one value a level.
    pub(super) fn leaf_values(&self, leaf: DomainId) -> Vec<String> {
        let depth = if self.by_host() { 1 } else { self.levels.len() };
        let mut values = Vec::with_capacity(depth);
        let mut domain = leaf;
        for _ in 0..depth {
            values.push(self.domains[domain].value.to_string());
            domain = self.domains[domain].parent;
        }
        values.reverse();
        values
    }

    /// The levels that [`Self::leaf_values`] has values for.
    pub(super) fn assignment_levels(&self) -> &[String] {
        let from = if self.by_host() {
            self.levels.len() - 1
        } else {
            0
        };
        self.levels.get(from..).unwrap_or_default()
    }

    /// The leaf of these values, counted among leaves.
    pub(super) fn find_leaf<S: AsRef<str>>(&self, values: &[S]) -> Option<usize> {
        if self.by_host() {
            let [host] = values else { return None };
            let at = self
                .hosts
                .binary_search_by(|(known, _)| (**known).cmp(host.as_ref()))
                .ok()?;
            return Some(self.hosts[at].1);
        }
        if values.is_empty() || values.len() != self.levels.len() {
            return None;
        }
        let mut among = self.at_level(0);
        let mut found = 0;
        for value in values {
            let siblings = &self.domains[among.clone()];
            let at = siblings
                .binary_search_by(|domain| (*domain.value).cmp(value.as_ref()))
                .ok()?;
            found = among.start + at;
            among = self.children(found);
        }
        Some(found - self.leaves().start)
    }
}

/// Nodes with equal taints and labels, host names aside, have the same number.
fn kinds(nodes: &[Arc<Node>]) -> Vec<usize> {
    type Traits<'a> = (Vec<(&'a String, &'a String)>, &'a [Taint]);
    let mut known: BTreeMap<Traits<'_>, usize> = BTreeMap::new();
    let mut kinds = Vec::with_capacity(nodes.len());
    for node in nodes {
        let labels = node.labels.iter().filter(|(key, _)| *key != HOSTNAME);
        let next = known.len();
        let traits = (labels.collect(), node.taints.as_slice());
        kinds.push(*known.entry(traits).or_insert(next));
    }
    kinds
}

/// The leaves in the order of their paths, with their nodes.
fn leaves<'a>(
    levels: &[String],
    nodes: impl IntoIterator<Item = &'a Arc<Node>>,
    by_host: bool,
) -> Vec<Leaf<'a>> {
    let mut found: BTreeMap<Vec<Arc<str>>, Leaf<'a>> = BTreeMap::new();
    for node in nodes {
        let value = |level: &String| -> Arc<str> {
            node.labels
                .get(level)
                .map_or_else(|| Arc::from(""), |value| Arc::from(value.as_str()))
        };
        let path: Vec<Arc<str>> = levels.iter().map(value).collect();
        let key = match path.split_last() {
            Some((host, _)) if by_host => vec![Arc::clone(host)],
            Some(_) => path.clone(),
            None => continue,
        };
        let empty = || Leaf {
            path,
            nodes: Vec::new(),
        };
        found.entry(key).or_insert_with(empty).nodes.push(node);
    }
    let mut leaves: Vec<Leaf<'a>> = found.into_values().collect();
    leaves.sort_by(|a, b| a.path.cmp(&b.path));
    leaves
}
