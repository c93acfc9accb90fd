//! What happened since the start, kept for late subscribers, and sent to present ones.

use std::sync::{Arc, Mutex, PoisonError};

use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use tokio::sync::broadcast;

use crate::provider::{EnvironmentState, Progress};

/// A child that dies every minute for a week must not fill the memory.
const KEPT: usize = 256;

/// Clones are the same history.
#[derive(Debug, Clone)]
pub(crate) struct History(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    events: Vec<Progress>,
    state: EnvironmentState,
    live: broadcast::Sender<Progress>,
}

impl History {
    pub(crate) fn new(state: EnvironmentState) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            events: Vec::new(),
            state,
            live: broadcast::channel(KEPT).0,
        })))
    }

    pub(crate) fn add(&self, event: Progress) {
        self.with(|inner| {
            if let Progress::State(state) = &event {
                inner.state = state.clone();
            }
            if inner.events.len() >= KEPT {
                // The phases of the start come first and stay; what children did long ago goes.
                inner.events.remove(KEPT / 2);
            }
            inner.events.push(event.clone());
            // Nobody listening is normal.
            let _ = inner.live.send(event);
        });
    }

    /// Forgets what happened: a new start begins.
    pub(crate) fn restart(&self, state: EnvironmentState) {
        self.with(|inner| inner.events.clear());
        self.add(Progress::State(state));
    }

    pub(crate) fn state(&self) -> EnvironmentState {
        self.with(|inner| inner.state.clone())
    }

    /// All events so far and then the new ones, none twice and none left out.
    pub(crate) fn subscribe(&self) -> BoxStream<'static, Progress> {
        let (so_far, live) = self.with(|inner| (inner.events.clone(), inner.live.subscribe()));
        let new = stream::unfold(live, |mut live| async {
            loop {
                match live.recv().await {
                    Ok(event) => return Some((event, live)),
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return None,
                }
            }
        });
        stream::iter(so_far).chain(new).boxed()
    }

    fn with<T>(&self, act: impl FnOnce(&mut Inner) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
