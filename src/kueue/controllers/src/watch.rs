//! One watch of one kind, kept alive. A malformed object is reported and left out; a kind that disappears (its
//! definition was deleted) is waited for, and everything of it counts as deleted meanwhile.

mod unread;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use futures::TryStreamExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::Api;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Resource, ResourceExt};
use serde::de::DeserializeOwned;
use telemetry::health::Check;
use tokio::sync::watch::Sender;
use tokio_util::sync::CancellationToken;

use crate::key::Key;

pub use unread::Unread;

const FIRST_RETRY: Duration = Duration::from_millis(200);
const LONGEST_RETRY: Duration = Duration::from_secs(5);

/// What a watch tells.
#[derive(Debug)]
pub enum Seen<K> {
    /// An object as it is now.
    Object(Box<K>),
    /// An object that is gone; the identity is unknown if it went while the watch was interrupted.
    Gone(Key, Option<String>),
    /// An object that does not have the shape of its kind.
    Malformed(Box<ObjectMeta>, String),
}

/// Raised when a watch has seen everything there is for the first time.
#[derive(Clone, Debug)]
pub struct Synced {
    /// For the readiness probe.
    pub check: Check,
    /// Watches that have not yet.
    pub unseen: Sender<usize>,
}

impl Synced {
    fn done(&self) {
        if !self.check.holds() {
            self.check.set(true);
            self.unseen
                .send_modify(|left| *left = left.saturating_sub(1));
        }
    }
}

/// State of one watch between its (re)starts.
struct Follower<K, F, N> {
    tell: F,
    /// Whether this version of an object is not known yet.
    is_news: N,
    known: BTreeMap<Key, Option<String>>,
    listed: Option<BTreeMap<Key, Option<String>>>,
    synced: Synced,
    _kind: std::marker::PhantomData<K>,
}

impl<K, F, N> Follower<K, F, N>
where
    K: Resource + DeserializeOwned,
    F: FnMut(Seen<K>),
    N: Fn(&ObjectMeta) -> bool,
{
    fn new(tell: F, is_news: N, synced: Synced) -> Self {
        Self {
            tell,
            is_news,
            known: BTreeMap::new(),
            listed: None,
            synced,
            _kind: std::marker::PhantomData,
        }
    }

    fn event(&mut self, event: Event<Unread<K>>) {
        match event {
            Event::Init => self.listed = Some(BTreeMap::new()),
            Event::InitApply(object) => {
                let (key, uid) = identity(&object);
                if let Some(listed) = self.listed.as_mut() {
                    listed.insert(key, uid);
                }
                self.object(&object);
            }
            Event::InitDone => {
                let listed = self.listed.take().unwrap_or_default();
                let gone: Vec<_> = self
                    .known
                    .iter()
                    .filter(|(key, uid)| listed.get(*key) != Some(*uid))
                    .map(|(k, u)| (k.clone(), u.clone()))
                    .collect();
                for (key, uid) in gone {
                    (self.tell)(Seen::Gone(key, uid));
                }
                self.known = listed;
                self.synced.done();
            }
            Event::Apply(object) => {
                let (key, uid) = identity(&object);
                self.known.insert(key, uid);
                self.object(&object);
            }
            Event::Delete(object) => {
                let (key, uid) = identity(&object);
                self.known.remove(&key);
                (self.tell)(Seen::Gone(key, uid));
            }
        }
    }

    fn object(&mut self, object: &Unread<K>) {
        if !(self.is_news)(object.meta()) {
            return;
        }
        match object.read() {
            Ok(object) => (self.tell)(Seen::Object(Box::new(object))),
            Err(error) => {
                let meta = Box::new(object.meta().clone());
                (self.tell)(Seen::Malformed(meta, error.to_string()));
            }
        }
    }

    /// Everything of the kind is gone with its definition.
    fn kind_is_gone(&mut self) {
        for (key, uid) in std::mem::take(&mut self.known) {
            (self.tell)(Seen::Gone(key, uid));
        }
    }
}

fn identity<K: Resource>(object: &Unread<K>) -> (Key, Option<String>) {
    (Key::of(object.meta()), object.uid())
}

/// Whether a kind has to be there for the controllers to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Without its definition nothing can be decided.
    Required,
    /// Its definition may be installed later; until then there is nothing of it.
    Optional,
}

/// Follows a kind until `stop`, telling everything about it in order. `synced` is raised after the first full list, or when the API server
/// says that there is no such kind and none is needed.
pub async fn follow<K>(
    (kind, need): (&'static str, Need),
    api: Api<Unread<K>>,
    synced: Synced,
    (tell, is_news): (impl FnMut(Seen<K>), impl Fn(&ObjectMeta) -> bool),
    stop: CancellationToken,
) where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let mut follower = Follower::new(tell, is_news, synced);
    let mut trouble = Trouble::default();
    while !stop.is_cancelled() {
        let mut stream = std::pin::pin!(watcher(api.clone(), watcher::Config::default()));
        let error = loop {
            let event = tokio::select! {
                event = stream.try_next() => event,
                () = stop.cancelled() => return,
            };
            match event {
                Ok(Some(event)) => {
                    if matches!(event, Event::InitDone) {
                        trouble.over(kind);
                    }
                    follower.event(event);
                }
                Ok(None) => break None,
                Err(error) if restarts_by_itself(&error) => {
                    tracing::debug!(kind, "watch is restarted: {error}");
                }
                Err(error) => break Some(error),
            }
        };
        if error.as_ref().is_some_and(is_not_found) {
            follower.kind_is_gone();
            if need == Need::Optional {
                follower.synced.done();
            }
        }
        let wait = trouble.note((kind, need), error.as_ref());
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = stop.cancelled() => return,
        }
    }
}

/// An interrupted or outdated watch, after which the stream goes on without help.
fn restarts_by_itself(error: &watcher::Error) -> bool {
    matches!(error, watcher::Error::WatchError(status) if status.code == 410)
}

fn is_not_found(error: &watcher::Error) -> bool {
    match error {
        watcher::Error::InitialListFailed(kube::Error::Api(status))
        | watcher::Error::WatchStartFailed(kube::Error::Api(status)) => status.code == 404,
        watcher::Error::WatchError(status) => status.code == 404,
        _ => false,
    }
}

/// Says once that a watch has trouble, and once that it is over.
#[derive(Default)]
struct Trouble {
    times: u32,
    told: Option<bool>,
}

impl Trouble {
    fn note(
        &mut self,
        (kind, need): (&'static str, Need),
        error: Option<&watcher::Error>,
    ) -> Duration {
        let missing = error.is_some_and(is_not_found);
        if self.told != Some(missing) && error.is_some() {
            self.told = Some(missing);
            match error {
                Some(_) if missing && need == Need::Optional => tracing::info!(
                    kind,
                    "{kind} is not installed; it is managed as soon as its CustomResourceDefinition appears"
                ),
                Some(_) if missing => tracing::warn!(
                    kind,
                    "the API server does not know {kind}: is its CustomResourceDefinition installed? waiting until it is there"
                ),
                Some(error) => tracing::warn!(
                    kind,
                    "cannot watch {kind}, trying again until it works: {error}"
                ),
                None => {}
            }
        }
        self.times += 1;
        let factor = 2_u32.saturating_pow(self.times.saturating_sub(1).min(10));
        FIRST_RETRY.saturating_mul(factor).min(LONGEST_RETRY)
    }

    fn over(&mut self, kind: &'static str) {
        if self.told.take().is_some() {
            tracing::info!(kind, "{kind} can be watched again");
        }
        self.times = 0;
    }
}
