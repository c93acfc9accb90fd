//! Objects that a script creates: in its own words, or as YAML.

use k8s_openapi::api::core::v1::{Namespace, Node};
use kueue_api::v1beta2 as api;
use kueue_api::{ObjectMeta, Taint, Toleration};
use serde::Deserialize;

use super::Problem;

/// Anything that can be created or changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Object {
    /// A namespace with its labels.
    Namespace(Box<Namespace>),
    /// A node, for topologies.
    Node(Box<Node>),
    /// A kind of node.
    Flavor(Box<api::ResourceFlavor>),
    /// The levels of a data centre.
    Topology(Box<api::Topology>),
    /// A node of the quota tree.
    Cohort(Box<api::Cohort>),
    /// A ClusterQueue.
    ClusterQueue(Box<api::ClusterQueue>),
    /// A LocalQueue.
    LocalQueue(Box<api::LocalQueue>),
    /// A class of priorities.
    PriorityClass(Box<api::WorkloadPriorityClass>),
    /// A workload, which is submitted.
    Workload(Box<api::Workload>),
}

#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    kind: String,
}

/// Reads documents of YAML; `line` is where they begin.
pub(super) fn yaml(text: &str, line: usize) -> Result<Vec<Object>, Problem> {
    let mut objects = Vec::new();
    let mut at = line + 1;
    for document in text.split("\n---") {
        if !document.trim().is_empty() {
            objects.push(one(document).map_err(|problem| Problem::new(at, problem))?);
        }
        at += document.lines().count().max(1);
    }
    Ok(objects)
}

fn one(document: &str) -> Result<Object, String> {
    let head: Head = read(document)?;
    Ok(match head.kind.as_str() {
        "Namespace" => Object::Namespace(read(document)?),
        "Node" => Object::Node(read(document)?),
        "ResourceFlavor" => Object::Flavor(read(document)?),
        "Topology" => Object::Topology(read(document)?),
        "Cohort" => Object::Cohort(read(document)?),
        "ClusterQueue" => Object::ClusterQueue(read(document)?),
        "LocalQueue" => Object::LocalQueue(read(document)?),
        "WorkloadPriorityClass" => Object::PriorityClass(read(document)?),
        "Workload" => Object::Workload(read(document)?),
        other => {
            return Err(format!(
                "expected a Namespace, Node, ResourceFlavor, Topology, Cohort, ClusterQueue, LocalQueue, WorkloadPriorityClass or Workload, found kind `{other}`"
            ));
        }
    })
}

fn read<T: for<'de> Deserialize<'de>>(document: &str) -> Result<T, String> {
    serde_saphyr::from_str(document).map_err(|error| error.to_string())
}

/// Metadata of something that lives in a namespace.
pub(super) fn named_in(namespace: &str, name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some(namespace.to_owned()),
        ..ObjectMeta::default()
    }
}

/// `key=value:Effect` or `key:Effect`.
pub(super) fn taint(text: &str) -> Option<Taint> {
    let (key, effect) = text.rsplit_once(':')?;
    let (key, value) = key.split_once('=').unwrap_or((key, ""));
    Some(Taint {
        key: key.to_owned(),
        value: Some(value.to_owned()).filter(|value| !value.is_empty()),
        effect: effect.to_owned(),
        time_added: None,
    })
}

/// `key=value`, or `key` alone for any value.
pub(super) fn toleration(text: &str) -> Toleration {
    let (key, value) = match text.split_once('=') {
        Some((key, value)) => (key, Some(value.to_owned())),
        None => (text, None),
    };
    Toleration {
        key: Some(key.to_owned()),
        operator: Some(if value.is_some() { "Equal" } else { "Exists" }.to_owned()),
        value,
        ..Toleration::default()
    }
}
