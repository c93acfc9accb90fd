//! Single steps of a search, laid open: domains of one level with rooms set by hand. For tests and for whoever wants to see why one domain comes
//! before another; decisions do not go through it.

use std::cmp::Ordering;
use std::sync::Arc;

use super::field::{Field, Room};
use super::optimal;
use super::request::Gates;
use super::tree::{DomainId, Node, Tree};

/// Some domains, which it names by their position in the list it was given.
#[derive(Debug)]
pub struct Workbench {
    tree: Tree,
    rooms: Vec<Room>,
    /// The leaf of each domain that was given.
    given: Vec<DomainId>,
    gates: Gates,
    unconstrained: bool,
}

impl Workbench {
    /// Domains by their values, one a level.
    #[must_use]
    pub fn new(domains: &[(Vec<String>, Room)], gates: Gates, unconstrained: bool) -> Self {
        let depth = domains.first().map_or(0, |(values, _)| values.len());
        let levels: Vec<String> = (0..depth).map(|level| format!("level-{level}")).collect();
        let nodes: Vec<_> = domains
            .iter()
            .map(|(values, _)| {
                let labels = levels.iter().cloned().zip(values.iter().cloned());
                Arc::new(Node {
                    labels: labels.collect(),
                    ..Node::default()
                })
            })
            .collect();
        let tree = Tree::build(&levels, &nodes);
        let mut rooms = vec![Room::default(); tree.len()];
        let mut given = Vec::new();
        for (values, room) in domains {
            let leaf = tree.find_leaf(values).unwrap_or_default() + tree.leaves().start;
            rooms[leaf] = *room;
            given.push(leaf);
        }
        Self {
            tree,
            rooms,
            given,
            gates,
            unconstrained,
        }
    }

    /// The order in which they take pods.
    #[must_use]
    pub fn sorted(&self) -> Vec<usize> {
        let mut domains = self.given.clone();
        self.field().sort(&mut domains);
        self.positions(&domains)
    }

    /// The order in which they take pods and a leader.
    #[must_use]
    pub fn sorted_with_leader(&self) -> Vec<usize> {
        let mut domains = self.given.clone();
        self.field().sort_with_leader(&mut domains);
        self.positions(&domains)
    }

    /// The order of two of them when everything else is equal.
    #[must_use]
    pub fn order(&self, one: usize, other: usize) -> Ordering {
        self.given[one].cmp(&self.given[other])
    }

    /// The fewest that hold everything with the least room unused.
    #[must_use]
    pub fn optimal(&self, leaders: i64, slices: i64, size: i64) -> Option<Vec<usize>> {
        let chosen = optimal::select(&self.field(), &self.given, leaders, slices, size, true)?;
        Some(self.positions(&chosen))
    }

    /// What each of them receives if every one used receives at least a threshold of slices.
    #[must_use]
    pub fn spread(
        &self,
        leaders: i64,
        slices: i64,
        size: i64,
        threshold: i64,
    ) -> Option<Vec<(usize, Room)>> {
        let mut field = self.field();
        let domains = field.spread(&self.given, leaders, slices, size, threshold)?;
        let rooms = domains.iter().map(|domain| field.rooms[*domain]);
        Some(self.positions(&domains).into_iter().zip(rooms).collect())
    }

    fn field(&self) -> Field<'_> {
        let mut field = Field::new(&self.tree, self.gates, self.unconstrained);
        field.rooms.clone_from(&self.rooms);
        field
    }

    fn positions(&self, domains: &[DomainId]) -> Vec<usize> {
        let position = |domain: &DomainId| self.given.iter().position(|given| given == domain);
        domains.iter().filter_map(position).collect()
    }
}
