//! A set of workloads in order, with its order by shape and by LocalQueue beside it.

use std::collections::{BTreeMap, BTreeSet};

use scheduler::LocalQueueKey;

use super::{Rank, Waiting};

#[derive(Clone, Debug, Default)]
pub(super) struct Bucket {
    by_rank: BTreeMap<Rank, Waiting>,
    by_shape: BTreeMap<u64, BTreeSet<Rank>>,
    by_door: BTreeMap<LocalQueueKey, BTreeSet<Rank>>,
}

impl Bucket {
    pub(super) fn insert(&mut self, rank: Rank, waiting: Waiting) {
        if let Some(shape) = waiting.shape {
            let equal = self.by_shape.entry(shape).or_default();
            equal.insert(rank.clone());
        }
        let door = self.by_door.entry(waiting.door().clone()).or_default();
        door.insert(rank.clone());
        self.by_rank.insert(rank, waiting);
    }

    pub(super) fn remove(&mut self, rank: &Rank) -> Option<Waiting> {
        let waiting = self.by_rank.remove(rank)?;
        if let Some(shape) = waiting.shape {
            leave(&mut self.by_shape, &shape, rank);
        }
        leave(&mut self.by_door, waiting.door(), rank);
        Some(waiting)
    }

    /// Takes all out that `leaves` names.
    pub(super) fn drain(&mut self, leaves: impl Fn(&Waiting) -> bool) -> Vec<(Rank, Waiting)> {
        let leaving = self.by_rank.iter().filter(|(_, one)| leaves(one));
        let ranks: Vec<Rank> = leaving.map(|(rank, _)| rank.clone()).collect();
        let take = |rank: Rank| self.remove(&rank).map(|one| (rank, one));
        ranks.into_iter().filter_map(take).collect()
    }

    /// Those of one shape.
    pub(super) fn of_shape(&self, shape: u64) -> Vec<Rank> {
        let equal = self.by_shape.get(&shape);
        equal.into_iter().flatten().cloned().collect()
    }

    pub(super) fn first(&self) -> Option<&Rank> {
        self.by_rank.first_key_value().map(|(rank, _)| rank)
    }

    /// The first one of each LocalQueue.
    pub(super) fn first_of_doors(&self) -> impl Iterator<Item = (&LocalQueueKey, &Rank)> {
        let doors = self.by_door.iter();
        doors.filter_map(|(door, ranks)| Some((door, ranks.first()?)))
    }

    pub(super) fn get(&self, rank: &Rank) -> Option<&Waiting> {
        self.by_rank.get(rank)
    }

    pub(super) fn contains(&self, rank: &Rank) -> bool {
        self.by_rank.contains_key(rank)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.by_rank.values()
    }

    pub(super) fn len(&self) -> usize {
        self.by_rank.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_rank.is_empty()
    }

    pub(super) fn of_door(&self, door: &LocalQueueKey) -> usize {
        self.by_door.get(door).map_or(0, BTreeSet::len)
    }

    pub(super) fn shapes(&self) -> impl Iterator<Item = &u64> {
        self.by_shape.keys()
    }

    pub(super) fn has_shape(&self, shape: u64) -> bool {
        self.by_shape.contains_key(&shape)
    }

    /// Whether its three orders hold the same workloads.
    pub(super) fn is_consistent(&self) -> bool {
        let mut built = Self::default();
        for (rank, waiting) in &self.by_rank {
            built.insert(rank.clone(), waiting.clone());
        }
        built.by_shape == self.by_shape && built.by_door == self.by_door
    }
}

/// Takes a rank out of the group it is in; empty groups are dropped.
fn leave<K: Ord>(groups: &mut BTreeMap<K, BTreeSet<Rank>>, of: &K, rank: &Rank) {
    if let Some(group) = groups.get_mut(of) {
        group.remove(rank);
        if group.is_empty() {
            groups.remove(of);
        }
    }
}
