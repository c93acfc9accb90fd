//! One writer at a time for each Workload. The scheduling loop and the reconcilers write the same status; without this
//! they would mostly refute each other's versions.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::key::Key;

/// See the module.
#[derive(Debug, Default)]
pub struct Locks(Arc<Mutex<BTreeMap<Key, Arc<AsyncMutex<()>>>>>);

/// The right to write some Workloads, until it is dropped.
#[derive(Debug)]
pub struct Held {
    all: Arc<Mutex<BTreeMap<Key, Arc<AsyncMutex<()>>>>>,
    guards: Vec<(Key, Option<OwnedMutexGuard<()>>)>,
}

impl Locks {
    /// Waits for the right to write these. Names are taken in order, so that two who want the same never wait for each other.
    pub async fn hold(&self, keys: impl IntoIterator<Item = Key>) -> Held {
        let mut keys: Vec<Key> = keys.into_iter().collect();
        keys.sort();
        keys.dedup();
        let mut held = Held {
            all: self.0.clone(),
            guards: Vec::with_capacity(keys.len()),
        };
        for key in keys {
            let lock = self.0.lock().entry(key.clone()).or_default().clone();
            let guard = lock.lock_owned().await;
            held.guards.push((key, Some(guard)));
        }
        held
    }
}

#[cfg(test)]
impl Locks {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        for (key, guard) in &mut self.guards {
            drop(guard.take());
            // Whoever waits holds a share of the lock.
            if all
                .get(key)
                .is_some_and(|lock| Arc::strong_count(lock) == 1)
            {
                all.remove(key);
            }
        }
    }
}
