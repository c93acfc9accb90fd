//! The newest known state of the objects of one kind. Watches feed it, and so do the answers to our own writes, so
//! that a reconciler never decides on a state older than what it wrote itself.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use parking_lot::RwLock;

use crate::key::Key;

/// Deleted objects remembered, so that a late answer to a write does not bring one back.
const GRAVES: usize = 4096;

/// An object that can be kept.
pub trait Stored {
    fn meta(&self) -> &ObjectMeta;
}

impl<K: k8s_openapi::Metadata<Ty = ObjectMeta>> Stored for K {
    fn meta(&self) -> &ObjectMeta {
        self.metadata()
    }
}

/// What a new state replaced.
#[derive(Clone, Debug)]
pub enum Put<T: ?Sized> {
    /// Not news: the same or an older version.
    Stale,
    /// Taken in; the state before, if the object was known.
    Taken(Option<Arc<T>>),
}

#[derive(Debug)]
struct Inner<T: ?Sized> {
    objects: BTreeMap<Key, Arc<T>>,
    graves: VecDeque<String>,
    buried: BTreeSet<String>,
}

/// See the module.
#[derive(Debug)]
pub struct Store<T: ?Sized>(RwLock<Inner<T>>);

impl<T: ?Sized> Default for Store<T> {
    fn default() -> Self {
        Self(RwLock::new(Inner {
            objects: BTreeMap::new(),
            graves: VecDeque::new(),
            buried: BTreeSet::new(),
        }))
    }
}

impl<T: Stored + ?Sized> Inner<T> {
    fn bury(&mut self, uid: &str) {
        if !self.buried.insert(uid.to_owned()) {
            return;
        }
        self.graves.push_back(uid.to_owned());
        if self.graves.len() > GRAVES
            && let Some(oldest) = self.graves.pop_front()
        {
            self.buried.remove(&oldest);
        }
    }

    fn knows(&self, key: &Key, meta: &ObjectMeta) -> bool {
        let gone = |uid| self.buried.contains(uid);
        let newer = |known: &Arc<T>| {
            let known = known.meta();
            known.uid == meta.uid && version(meta) <= version(known)
        };
        meta.uid.as_ref().is_some_and(gone) || self.objects.get(key).is_some_and(newer)
    }
}

impl<T: Stored + ?Sized> Store<T> {
    /// Whether this version of an object, a newer one or its end is known.
    #[must_use]
    pub fn knows(&self, meta: &ObjectMeta) -> bool {
        self.0.read().knows(&Key::of(meta), meta)
    }

    /// Takes a state in, unless a newer one is known.
    pub fn put(&self, object: Arc<T>) -> Put<T> {
        let mut inner = self.0.write();
        let meta = object.meta();
        let key = Key::of(meta);
        if inner.knows(&key, meta) {
            return Put::Stale;
        }
        Put::Taken(inner.objects.insert(key, object))
    }

    /// Forgets an object, unless another of the same name has taken its place.
    pub fn remove(&self, key: &Key, uid: Option<&str>) -> Option<Arc<T>> {
        let mut inner = self.0.write();
        if let Some(uid) = uid {
            inner.bury(uid);
        }
        let same = inner
            .objects
            .get(key)
            .is_some_and(|known| uid.is_none() || known.meta().uid.as_deref() == uid);
        if same {
            inner.objects.remove(key)
        } else {
            None
        }
    }

    /// The object of a name.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Arc<T>> {
        self.0.read().objects.get(key).cloned()
    }

    /// All objects, by namespace and name.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<T>> {
        self.0.read().objects.values().cloned().collect()
    }

    /// All objects of a namespace, by name.
    #[must_use]
    pub fn list_in(&self, namespace: &str) -> Vec<Arc<T>> {
        let inner = self.0.read();
        inner
            .objects
            .range(Key::new(namespace, "")..)
            .take_while(|(key, _)| key.namespace == namespace)
            .map(|(_, o)| o.clone())
            .collect()
    }

    /// The names of all objects.
    #[must_use]
    pub fn keys(&self) -> Vec<Key> {
        self.0.read().objects.keys().cloned().collect()
    }
}

/// Versions are compared as numbers, which the API server allows since they are the revisions of its store.
fn version(meta: &ObjectMeta) -> u64 {
    meta.resource_version
        .as_deref()
        .and_then(|text| text.parse().ok())
        .unwrap_or(u64::MAX)
}
