//! What pods take from nodes that Kueue did not place there: those of daemons, of deployments, of anybody.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use kueue_api::names::annotations;
use quantity::{Amount, Requests, ResourceName};

use crate::convert;

/// Foreign pods and what they take, node by node.
#[derive(Clone, Debug, Default)]
pub struct Foreign {
    pods: BTreeMap<(String, String), Taken>,
    by_node: BTreeMap<Arc<str>, Requests>,
}

/// What one pod takes from a node, itself counted as a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The node.
    pub node: Arc<str>,
    /// How much of it.
    pub requests: Requests,
}

/// What a pod took before it changed, and what it takes now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Before.
    pub before: Option<Taken>,
    /// Now.
    pub after: Option<Taken>,
}

impl Change {
    /// Whether something became free.
    #[must_use]
    pub fn frees(&self) -> bool {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                before.node != after.node
                    || !before.requests.greater_keys(&after.requests).is_empty()
            }
            (before, _) => before.is_some(),
        }
    }
}

impl Foreign {
    /// A pod appeared or changed.
    pub fn apply(&mut self, pod: &core::Pod) -> Change {
        let name = |name: Option<&String>| name.cloned().unwrap_or_default();
        let key = (
            name(pod.metadata.namespace.as_ref()),
            name(pod.metadata.name.as_ref()),
        );
        let after = taken(pod);
        if self.pods.get(&key) == after.as_ref() {
            return Change::default();
        }
        let before = match &after {
            Some(taken) => self.pods.insert(key, taken.clone()),
            None => self.pods.remove(&key),
        };
        self.book(Change { before, after })
    }

    /// A pod is gone.
    pub fn delete(&mut self, namespace: &str, name: &str) -> Change {
        let before = self.pods.remove(&(namespace.to_owned(), name.to_owned()));
        self.book(Change {
            before,
            after: None,
        })
    }

    fn book(&mut self, change: Change) -> Change {
        if let Some(before) = &change.before
            && let Some(sum) = self.by_node.get_mut(&before.node)
        {
            sum.add_all(&before.requests.times(-1));
            if sum.get(&ResourceName::pods()) <= Amount::ZERO {
                self.by_node.remove(&before.node);
            }
        }
        if let Some(after) = &change.after {
            let sum = self.by_node.entry(after.node.clone()).or_default();
            sum.add_all(&after.requests);
        }
        change
    }

    /// What is taken from each node.
    pub fn by_node(&self) -> impl Iterator<Item = (&str, &Requests)> {
        self.by_node.iter().map(|(node, sum)| (node.as_ref(), sum))
    }
}

/// What a pod takes, if it runs somewhere and nobody placed it by topology.
fn taken(pod: &core::Pod) -> Option<Taken> {
    let spec = pod.spec.as_ref()?;
    let node = spec.node_name.as_deref().filter(|node| !node.is_empty())?;
    let phase = pod
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    let ended = matches!(phase, Some("Succeeded" | "Failed"));
    if ended || asks_for_topology(pod) {
        return None;
    }
    // What cannot be read is taken for nothing; the API server lets no such pod in.
    let mut requests = convert::pod_requests(spec).unwrap_or_default();
    requests.add(&ResourceName::pods(), Amount::new(1));
    Some(Taken {
        node: node.into(),
        requests,
    })
}

/// Whether a pod takes something from a node that Kueue did not give it.
#[must_use]
pub fn is_foreign(pod: &core::Pod) -> bool {
    taken(pod).is_some()
}

/// Whether a pod is one that is placed by topology.
#[must_use]
pub fn asks_for_topology(pod: &core::Pod) -> bool {
    let keys = [
        annotations::POD_SET_REQUIRED_TOPOLOGY,
        annotations::POD_SET_PREFERRED_TOPOLOGY,
        annotations::POD_SET_UNCONSTRAINED_TOPOLOGY,
        annotations::POD_SET_SLICE_REQUIRED_TOPOLOGY,
        annotations::POD_SET_SLICE_CONSTRAINTS,
    ];
    let annotations = pod.metadata.annotations.as_ref();
    annotations.is_some_and(|all| keys.iter().any(|key| all.contains_key(*key)))
}
