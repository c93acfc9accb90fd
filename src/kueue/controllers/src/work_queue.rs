//! Work for one kind of object: a name is worked on by one task at a time, however often it is asked for; a failure is
//! tried again with back-off. The queue takes names from the start; they are worked on once [`WorkQueue::run`] is called.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::key::Key;

const FIRST_RETRY: Duration = Duration::from_millis(10);
const LONGEST_RETRY: Duration = Duration::from_secs(10);
/// Attempts after which a failure is worth a warning; later ones are told less and less often.
const PATIENCE: u32 = 4;

/// When the same object should be looked at again, without any change of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Only when something changes.
    OnChange,
    /// After this time at the latest.
    After(Duration),
}

#[derive(Debug, Default)]
struct State {
    ready: VecDeque<Key>,
    queued: BTreeSet<Key>,
    running: BTreeSet<Key>,
    again: BTreeSet<Key>,
    failures: BTreeMap<Key, u32>,
    planned: BTreeMap<Key, Instant>,
}

/// See the module.
#[derive(Debug)]
pub struct WorkQueue {
    name: &'static str,
    state: Mutex<State>,
    news: Notify,
}

impl WorkQueue {
    /// A queue; the name is used in the log.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            state: Mutex::default(),
            news: Notify::new(),
        }
    }

    /// Asks for an object to be looked at.
    pub fn add(&self, key: Key) {
        {
            let mut state = self.state.lock();
            if state.running.contains(&key) {
                state.again.insert(key);
                return;
            }
            if !state.queued.insert(key.clone()) {
                return;
            }
            state.ready.push_back(key);
        }
        self.news.notify_one();
    }

    /// Names that wait to be worked on.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.state.lock().ready.len()
    }

    /// Takes everything out.
    #[cfg(test)]
    pub(crate) fn drain(&self) -> Vec<Key> {
        let mut state = self.state.lock();
        state.queued.clear();
        std::mem::take(&mut state.ready).into()
    }

    fn take(&self) -> Option<Key> {
        let mut state = self.state.lock();
        let key = state.ready.pop_front()?;
        state.queued.remove(&key);
        state.running.insert(key.clone());
        Some(key)
    }

    /// Ends the work on a name; gives the time after which it is to be looked at again.
    fn done<E: Display>(&self, key: &Key, result: Result<Next, E>) -> Option<Duration> {
        let mut state = self.state.lock();
        state.running.remove(key);
        let wait = match result {
            Ok(next) => {
                state.failures.remove(key);
                match next {
                    Next::OnChange => None,
                    Next::After(wait) => Some(wait),
                }
            }
            Err(error) => {
                let failures = state.failures.entry(key.clone()).or_default();
                *failures += 1;
                let wait = backoff(*failures);
                if *failures >= PATIENCE && failures.is_power_of_two() {
                    tracing::warn!(queue = self.name, object = %key, attempt = *failures, retry.ms = wait.as_millis(), "cannot reconcile: {error}");
                } else {
                    tracing::debug!(queue = self.name, object = %key, "will reconcile again: {error}");
                }
                Some(wait)
            }
        };
        if state.again.remove(key) {
            drop(state);
            self.add(key.clone());
            return None;
        }
        wait
    }

    /// Notes that a name is to be looked at after `wait`; false when that is planned for an earlier time already.
    fn plan(&self, key: &Key, at: Instant) -> bool {
        let mut state = self.state.lock();
        if state.planned.get(key).is_some_and(|known| *known <= at) {
            return false;
        }
        state.planned.insert(key.clone(), at);
        true
    }

    fn due(&self, key: Key, at: Instant) {
        let mut state = self.state.lock();
        if state.planned.get(&key) == Some(&at) {
            state.planned.remove(&key);
            drop(state);
            self.add(key);
        }
    }

    /// Works until `stop`; work begun is finished. `work` is called for at most `tasks` names at a time.
    pub async fn run<F, W, E>(self: Arc<Self>, tasks: usize, work: F, stop: CancellationToken)
    where
        F: Fn(Key) -> W,
        W: Future<Output = Result<Next, E>>,
        E: Display,
    {
        let mut running = FuturesUnordered::new();
        let mut delays = FuturesUnordered::new();
        while !stop.is_cancelled() {
            while running.len() < tasks {
                let Some(key) = self.take() else { break };
                let doing = work(key.clone());
                running.push(async move { (key, doing.await) });
            }
            tokio::select! {
                () = self.news.notified(), if running.len() < tasks => {}
                Some((key, result)) = running.next() => {
                    if let Some(wait) = self.done(&key, result) {
                        let at = Instant::now() + wait;
                        if self.plan(&key, at) {
                            delays.push(async move { tokio::time::sleep_until(at).await; (key, at) });
                        }
                    }
                }
                Some((key, at)) = delays.next() => self.due(key, at),
                () = stop.cancelled() => {}
            }
        }
        while running.next().await.is_some() {}
    }
}

fn backoff(failures: u32) -> Duration {
    let factor = 2_u32.saturating_pow(failures.saturating_sub(1).min(20));
    FIRST_RETRY.saturating_mul(factor).min(LONGEST_RETRY)
}
