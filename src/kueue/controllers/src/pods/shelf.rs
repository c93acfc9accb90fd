//! The pods that are ours to look after, as the watch and our own writes left them, and which belong to which group.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jobs::pods;
use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::labels;
use parking_lot::RwLock;

use super::expectations::Expectations;
use super::key::of_pod;
use crate::key::Key;
use crate::store::{Put, Store};

/// See the module.
#[derive(Debug, Default)]
pub struct Shelf {
    pods: Store<Pod>,
    /// Pods by the key they are looked at under.
    groups: RwLock<BTreeMap<Key, BTreeSet<Key>>>,
    pub expectations: Expectations,
}

/// Whether a pod is any business of ours.
#[must_use]
pub fn concerns(pod: &Pod) -> bool {
    let labels = pod.metadata.labels.as_ref();
    labels.is_some_and(|labels| labels.contains_key(labels::MANAGED))
        || pods::has_finalizer(pod)
        || pods::parent_framework(pod).is_some()
        || pods::group_name(pod, true).is_some()
}

impl Shelf {
    /// Takes a pod in. The keys to look at; none if this was not news.
    pub fn put(&self, pod: &Arc<Pod>, annotated: bool) -> Vec<Key> {
        let own = Key::of(&pod.metadata);
        let Put::Taken(before) = self.pods.put(pod.clone()) else {
            return Vec::new();
        };
        let key = of_pod(pod, annotated);
        if !pods::has_finalizer(pod) {
            self.observed(&key, pod);
        }
        let mut keys = vec![key.clone()];
        let mut groups = self.groups.write();
        if let Some(before) = before {
            let other = of_pod(&before, annotated);
            if other != key {
                forget(&mut groups, &other, &own);
                keys.push(other);
            }
            if before.metadata.uid != pod.metadata.uid {
                self.observed(&key, &before);
            }
        }
        groups.entry(key).or_default().insert(own);
        keys
    }

    /// Forgets a pod. The key to look at.
    pub fn remove(&self, key: &Key, uid: Option<&str>, annotated: bool) -> Option<Key> {
        let pod = self.pods.remove(key, uid)?;
        let of = of_pod(&pod, annotated);
        self.observed(&of, &pod);
        forget(&mut self.groups.write(), &of, key);
        Some(of)
    }

    fn observed(&self, key: &Key, pod: &Pod) {
        let uid = pod.metadata.uid.as_deref().unwrap_or_default();
        self.expectations.observed(key, uid);
    }

    /// A pod by its name.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Arc<Pod>> {
        self.pods.get(key)
    }

    /// The names of all pods that are of one group with a pod; its own if it is of none.
    #[must_use]
    pub fn beside(&self, key: &Key, annotated: bool) -> Vec<Key> {
        let Some(pod) = self.get(key) else {
            return vec![key.clone()];
        };
        let pods = self.under(&of_pod(&pod, annotated));
        pods.iter().map(|pod| Key::of(&pod.metadata)).collect()
    }

    /// All pods of a namespace, by name.
    #[must_use]
    pub fn list_in(&self, namespace: &str) -> Vec<Arc<Pod>> {
        self.pods.list_in(namespace)
    }

    /// The pods that are looked at under a key, by name.
    #[must_use]
    pub fn under(&self, key: &Key) -> Vec<Arc<Pod>> {
        let groups = self.groups.read();
        let keys = groups.get(key).into_iter().flatten();
        keys.filter_map(|key| self.pods.get(key)).collect()
    }

    /// Every key under which there is something to look at in a namespace.
    #[must_use]
    pub fn keys_in(&self, namespace: &str) -> BTreeSet<Key> {
        let groups = self.groups.read();
        let of =
            |key: &&Key| super::key::group_namespace(key).unwrap_or(&key.namespace) == namespace;
        groups.keys().filter(of).cloned().collect()
    }

    /// Every key under which there is something to look at.
    #[must_use]
    pub fn keys(&self) -> Vec<Key> {
        self.groups.read().keys().cloned().collect()
    }
}

fn forget(groups: &mut BTreeMap<Key, BTreeSet<Key>>, of: &Key, pod: &Key) {
    if let Some(pods) = groups.get_mut(of) {
        pods.remove(pod);
        if pods.is_empty() {
            groups.remove(of);
        }
    }
}
