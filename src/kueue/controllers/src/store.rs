//! The newest known state of the objects of one kind. Watches feed it, and so do the answers to our own writes, so
//! that a reconciler never decides on a state older than what it wrote itself.

use std::collections::{BTreeMap, VecDeque};
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
}

/// See the module.
#[derive(Debug)]
pub struct Store<T: ?Sized>(RwLock<Inner<T>>);

impl<T: ?Sized> Default for Store<T> {
    fn default() -> Self {
        Self(RwLock::new(Inner {
            objects: BTreeMap::new(),
            graves: VecDeque::new(),
        }))
    }
}

impl<T: Stored + ?Sized> Store<T> {
    /// Takes a state in, unless a newer one is known.
    pub fn put(&self, object: Arc<T>) -> Put<T> {
        let mut inner = self.0.write();
        let meta = object.meta();
        let key = Key::of(meta);
        if meta
            .uid
            .as_ref()
            .is_some_and(|uid| inner.graves.contains(uid))
        {
            return Put::Stale;
        }
        if let Some(known) = inner.objects.get(&key)
            && known.meta().uid == meta.uid
            && version(meta) <= version(known.meta())
        {
            return Put::Stale;
        }
        Put::Taken(inner.objects.insert(key, object))
    }

    /// Forgets an object, unless another of the same name has taken its place.
    pub fn remove(&self, key: &Key, uid: Option<&str>) -> Option<Arc<T>> {
        let mut inner = self.0.write();
        if let Some(uid) = uid {
            if inner.graves.len() == GRAVES {
                inner.graves.pop_front();
            }
            inner.graves.push_back(uid.to_owned());
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
