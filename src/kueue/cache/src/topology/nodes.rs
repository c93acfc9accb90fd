//! The nodes of the cluster, as far as placement depends on them. What a kubelet reports every few seconds changes nothing here.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use scheduler::topology::Node;

use crate::convert;

/// All nodes, by name.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    known: BTreeMap<Arc<str>, Known>,
}

/// A node, and whether pods may be sent to it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    node: Arc<Node>,
    usable: bool,
}

impl Nodes {
    /// A node appeared or changed. Returns it as it was before and as it is now, if that makes a difference to placement.
    pub fn apply(&mut self, object: &core::Node) -> Vec<Arc<Node>> {
        let fresh = Known {
            node: Arc::new(convert::node(object)),
            usable: is_usable(object),
        };
        let before = self.known.insert(fresh.node.name.clone(), fresh.clone());
        if before.as_ref() == Some(&fresh) {
            return Vec::new();
        }
        let both = before.into_iter().chain([fresh]);
        both.filter(|known| known.usable)
            .map(|known| known.node)
            .collect()
    }

    /// A node is gone. Returns it if pods might have been sent to it.
    pub fn delete(&mut self, name: &str) -> Option<Arc<Node>> {
        let before = self.known.remove(name)?;
        before.usable.then_some(before.node)
    }

    /// All nodes, ready or not.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.known.values().map(|known| &known.node)
    }

    /// The nodes that pods may be sent to.
    pub fn usable(&self) -> impl Iterator<Item = &Arc<Node>> {
        let usable = self.known.values().filter(|known| known.usable);
        usable.map(|known| &known.node)
    }

    /// Of these the ones with all these labels and some value for each level.
    pub fn find<'a>(
        &'a self,
        labels: &'a BTreeMap<String, String>,
        levels: &'a [String],
    ) -> impl Iterator<Item = &'a Arc<Node>> {
        self.usable()
            .filter(move |node| belongs(node, labels, levels))
    }
}

/// Whether a node is one of a flavor with these labels and a topology of these levels. A label that is asked for with an empty value
/// does not have to be there.
pub(super) fn belongs(node: &Node, labels: &BTreeMap<String, String>, levels: &[String]) -> bool {
    let value = |key: &String| node.labels.get(key).map_or("", String::as_str);
    labels.iter().all(|(key, wanted)| value(key) == wanted)
        && levels.iter().all(|level| node.labels.contains_key(level))
}

/// Ready, and open to new pods.
fn is_usable(object: &core::Node) -> bool {
    let closed = object
        .spec
        .as_ref()
        .is_some_and(|spec| spec.unschedulable == Some(true));
    let conditions = object
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    let ready = conditions
        .into_iter()
        .find(|condition| condition.type_ == "Ready");
    !closed && ready.is_some_and(|condition| condition.status == "True")
}
