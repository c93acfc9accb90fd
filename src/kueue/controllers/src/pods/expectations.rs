//! Pods that were told to go and were not yet seen to. Until then nothing more is cleaned up in their group: a watch that is behind would show
//! them as they were.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;

use crate::key::Key;

/// See the module.
#[derive(Debug, Default)]
pub struct Expectations(Mutex<BTreeMap<Key, BTreeSet<String>>>);

impl Expectations {
    /// These pods of a group are on their way.
    pub fn expect(&self, group: &Key, uid: &str) {
        let mut all = self.0.lock();
        all.entry(group.clone()).or_default().insert(uid.to_owned());
    }

    /// A pod was seen without our finalizer, or gone, or will not go after all.
    pub fn observed(&self, group: &Key, uid: &str) {
        let mut all = self.0.lock();
        if let Some(waiting) = all.get_mut(group) {
            waiting.remove(uid);
            if waiting.is_empty() {
                all.remove(group);
            }
        }
    }

    /// Whether nothing is waited for in a group.
    #[must_use]
    pub fn satisfied(&self, group: &Key) -> bool {
        !self.0.lock().contains_key(group)
    }
}
