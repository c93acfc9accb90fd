//! Which objects of one kind belong to what: found without a look at all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::RwLock;

use crate::key::Key;
use crate::store::{Store, Stored};

/// The keys of objects, by what these belong to.
#[derive(Debug)]
pub(super) struct Index<K>(RwLock<BTreeMap<K, BTreeSet<Key>>>);

impl<K> Default for Index<K> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<K: Ord> Index<K> {
    /// Moves an object from where it was known before. Nobody sees it at neither place in between.
    pub(super) fn set(&self, key: &Key, before: Option<K>, now: Option<K>) {
        if before.is_none() && now.is_none() {
            return;
        }
        let mut index = self.0.write();
        if let Some(before) = before
            && let Some(keys) = index.get_mut(&before)
        {
            keys.remove(key);
            if keys.is_empty() {
                index.remove(&before);
            }
        }
        if let Some(now) = now {
            index.entry(now).or_default().insert(key.clone());
        }
    }

    /// What belongs to it, by name.
    pub(super) fn find<T: Stored + ?Sized>(&self, of: &K, store: &Store<T>) -> Vec<Arc<T>> {
        let index = self.0.read();
        let keys = index.get(of).into_iter().flatten();
        keys.filter_map(|key| store.get(key)).collect()
    }
}
