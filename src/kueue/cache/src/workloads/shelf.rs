//! All workloads by key. One is found by a hash, as there may be a hundred thousand whose names begin alike; whoever goes through them does so in
//! the order of their keys.

use std::collections::HashMap;

use scheduler::WorkloadKey;

use super::WorkloadState;

#[derive(Clone, Debug, Default)]
pub(crate) struct Shelf(HashMap<WorkloadKey, Box<WorkloadState>>);

impl Shelf {
    pub(crate) fn get(&self, key: &WorkloadKey) -> Option<&WorkloadState> {
        self.0.get(key).map(Box::as_ref)
    }

    pub(crate) fn get_mut(&mut self, key: &WorkloadKey) -> Option<&mut WorkloadState> {
        self.0.get_mut(key).map(Box::as_mut)
    }

    pub(crate) fn insert(&mut self, state: Box<WorkloadState>) {
        self.0.insert(state.info.key.clone(), state);
    }

    pub(crate) fn remove(&mut self, key: &WorkloadKey) -> Option<Box<WorkloadState>> {
        self.0.remove(key)
    }

    /// All of them, in the order of their keys. Not for what happens in every cycle.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (&WorkloadKey, &WorkloadState)> {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all.into_iter().map(|(key, state)| (key, state.as_ref()))
    }
}
