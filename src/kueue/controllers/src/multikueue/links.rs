//! The connections to worker clusters, by name: which can be used, and since when the others cannot.

use std::collections::BTreeMap;

use jiff::Timestamp;
use parking_lot::RwLock;
use tokio_util::sync::CancellationToken;

use crate::context::ClientHandle;

/// How a connection stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing was heard yet.
    Connecting,
    Connected,
    /// It cannot be reached.
    Lost {
        /// Since when, counted from the first failure.
        since: Timestamp,
        why: String,
        /// Failures in a row.
        attempts: u32,
        /// When it is tried again.
        next: Timestamp,
    },
}

#[derive(Debug)]
struct Link {
    client: ClientHandle,
    /// What the connection was made from.
    source: String,
    state: State,
    stop: CancellationToken,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Links(RwLock<BTreeMap<String, Link>>);

impl Links {
    /// The client of a cluster that can be reached.
    ///
    /// # Errors
    /// The time since when it cannot, if it could before.
    pub fn client(&self, name: &str) -> Result<kube::Client, Option<Timestamp>> {
        let links = self.0.read();
        match links.get(name).map(|link| (&link.state, &link.client)) {
            Some((State::Connected, client)) => Ok(client.0.clone()),
            Some((State::Lost { since, .. }, _)) => Err(Some(*since)),
            Some((State::Connecting, _)) | None => Err(None),
        }
    }

    /// How the connection to a cluster stands; none if there is none, or one made from something else.
    #[must_use]
    pub fn state(&self, name: &str, source: &str) -> Option<State> {
        let links = self.0.read();
        let link = links.get(name).filter(|link| link.source == source)?;
        Some(link.state.clone())
    }

    /// Takes a new connection in the place of an older one, which ends.
    pub fn put(&self, name: &str, client: kube::Client, source: String, stop: CancellationToken) {
        let link = Link {
            client: ClientHandle(client),
            source,
            state: State::Connecting,
            stop,
        };
        if let Some(old) = self.0.write().insert(name.to_owned(), link) {
            old.stop.cancel();
        }
    }

    /// Ends a connection. Whether there was one.
    pub fn drop(&self, name: &str) -> bool {
        let old = self.0.write().remove(name);
        old.inspect(|old| old.stop.cancel()).is_some()
    }

    /// A connection works. Whether that is news.
    pub fn connected(&self, name: &str) -> bool {
        self.set(name, |_| State::Connected)
    }

    /// A connection failed, to be tried again at `next`. Whether it worked until now, or never did.
    pub fn lost(
        &self,
        name: &str,
        now: Timestamp,
        next: Timestamp,
        why: String,
        failed: u32,
    ) -> bool {
        self.set(name, |before| State::Lost {
            since: match before {
                State::Lost { since, .. } => *since,
                State::Connecting | State::Connected => now,
            },
            why,
            attempts: failed,
            next,
        })
    }

    fn set(&self, name: &str, state: impl FnOnce(&State) -> State) -> bool {
        let mut links = self.0.write();
        let Some(link) = links.get_mut(name) else {
            return false;
        };
        let new = state(&link.state);
        let news = new != link.state;
        link.state = new;
        news
    }
}
