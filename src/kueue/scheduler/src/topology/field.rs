//! How much finds room in every domain during one search, and the orders in which domains are looked at.
//!
//! Rooms are filled from the leaves up (`fill.rs`); on the way down the same numbers become what a domain receives (`minimize.rs`). Section 4.14.1,
//! "Orders".

use std::cmp::Reverse;
use std::ops::Range;

use super::request::Gates;
use super::tree::{DomainId, Tree};

/// What finds room in one domain; later, what is placed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Room {
    /// Pods.
    pub pods: i64,
    /// Slices of the outermost layer.
    pub slices: i64,
    /// Pods beside the leader.
    pub pods_with_leader: i64,
    /// Slices beside the leader.
    pub slices_with_leader: i64,
    /// Leaders: none or one.
    pub leaders: i64,
    /// How much the pods like the nodes there.
    pub affinity: i64,
}

/// What is counted while domains are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    /// Single pods.
    Pods,
    /// Slices of this many pods.
    Slices(i64),
}

impl Grain {
    /// How many pods one unit is.
    pub(super) fn size(self) -> i64 {
        match self {
            Self::Pods => 1,
            Self::Slices(size) => size,
        }
    }

    /// The units a domain has room for, beside a leader or not.
    pub(super) fn units(self, room: &Room, beside_leader: bool) -> i64 {
        match (self, beside_leader) {
            (Self::Pods, false) => room.pods,
            (Self::Pods, true) => room.pods_with_leader,
            (Self::Slices(_), false) => room.slices,
            (Self::Slices(_), true) => room.slices_with_leader,
        }
    }
}

/// What is still to be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) units: i64,
    pub(super) leaders: i64,
}

impl Left {
    pub(super) fn nothing(self) -> bool {
        self.units <= 0 && self.leaders <= 0
    }
}

/// A place in an order: what comes first is smaller; of equals the first in the tree.
pub(super) type Rank = (Reverse<(i64, i64)>, i64, i64);

/// The rooms of all domains of a tree.
#[derive(Debug)]
pub(super) struct Field<'a> {
    pub(super) tree: &'a Tree,
    pub(super) rooms: Vec<Room>,
    pub(super) gates: Gates,
    /// Fill the fullest domains first instead of choosing the best fit.
    pub(super) least_free: bool,
}

impl<'a> Field<'a> {
    /// No room anywhere.
    pub(super) fn new(tree: &'a Tree, gates: Gates, unconstrained: bool) -> Self {
        Self {
            rooms: vec![Room::default(); tree.len()],
            least_free: unconstrained && gates.profile_mixed,
            tree,
            gates,
        }
    }

    /// Whether a domain can take all that is left.
    pub(super) fn holds(&self, domain: DomainId, left: Left, grain: Grain) -> bool {
        let room = &self.rooms[domain];
        room.leaders >= left.leaders && grain.units(room, left.leaders > 0) >= left.units
    }

    pub(super) fn liking(&self, room: &Room) -> i64 {
        if self.gates.respect_node_affinity_preferred {
            room.affinity
        } else {
            0
        }
    }

    fn by_slices(&self, slices: i64) -> i64 {
        if self.least_free { slices } else { -slices }
    }

    /// The order for pods without a leader. Among equals, and many are, that of the tree.
    pub(super) fn sort(&self, domains: &mut [DomainId]) {
        domains.sort_unstable();
        domains.sort_by_key(|domain| {
            let room = &self.rooms[*domain];
            (
                Reverse(self.liking(room)),
                self.by_slices(room.slices),
                room.pods,
            )
        });
    }

    /// The order as long as a leader is to be placed too.
    pub(super) fn sort_with_leader(&self, domains: &mut [DomainId]) {
        domains.sort_unstable();
        domains.sort_by_key(|domain| self.rank_with_leader(*domain));
    }

    /// The place in that order.
    pub(super) fn rank_with_leader(&self, domain: DomainId) -> Rank {
        let room = &self.rooms[domain];
        let slices = self.by_slices(room.slices_with_leader);
        let first = Reverse((room.leaders, self.liking(room)));
        (first, slices, room.pods_with_leader)
    }

    /// Of the domains liked as much as the first: the first of those with the least room that still hold all that is left; else the first.
    pub(super) fn best_fit(&self, domains: &[DomainId], left: Left, grain: Grain) -> DomainId {
        let first = domains[0];
        let liked = self.liking(&self.rooms[first]);
        let alike = domains
            .iter()
            .copied()
            .take_while(|domain| self.liking(&self.rooms[*domain]) == liked);
        alike
            .filter(|domain| self.holds(*domain, left, grain))
            .min_by_key(|domain| grain.units(&self.rooms[*domain], left.leaders > 0))
            .unwrap_or(first)
    }

    /// The first domain, or the best fit if the first could take everything and the best fit is wanted.
    pub(super) fn choose(&self, domains: &[DomainId], left: Left, grain: Grain) -> DomainId {
        if !self.least_free && self.holds(domains[0], left, grain) {
            self.best_fit(domains, left, grain)
        } else {
            domains[0]
        }
    }

    /// Moves the first domain to the front that can have the leader without making the rest too small.
    pub(super) fn prioritize(&self, domains: &mut [DomainId], left: Left, grain: Grain) {
        if left.leaders == 0 || domains.len() < 2 {
            return;
        }
        let units = |domain: &DomainId| grain.units(&self.rooms[*domain], false);
        let available: i64 = domains.iter().map(units).sum();
        let suits = |domain: &DomainId| {
            let room = &self.rooms[*domain];
            let loss = grain.units(room, false) - grain.units(room, true);
            room.leaders >= left.leaders && available - loss >= left.units
        };
        if let Some(at) = domains.iter().position(suits) {
            domains[..=at].rotate_right(1);
        }
    }

    /// The children of some domains, in the order of their parents.
    pub(super) fn children(&self, of: &[DomainId]) -> Vec<DomainId> {
        of.iter()
            .flat_map(|domain| self.tree.children(*domain))
            .collect()
    }

    /// The domains of each level below neighbours, themselves first.
    pub(super) fn below(&self, neighbours: Range<DomainId>) -> Vec<Range<DomainId>> {
        let mut ranges = Vec::new();
        let mut range = neighbours;
        while range.start < range.end {
            let next = self.tree.children(range.start).start..self.tree.children(range.end - 1).end;
            ranges.push(range);
            range = next;
        }
        ranges
    }
}
