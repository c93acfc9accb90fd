//! Nodes, without what placement does not look at.

use k8s_openapi::api::core::v1 as core;
use quantity::{Amount, Requests, ResourceName};
use scheduler::topology::Node;

use super::quantity;
use super::selectors::taint;

/// A node as placement sees it. What it offers and cannot be read, it does not offer.
pub(crate) fn node(object: &core::Node) -> Node {
    let taints = object
        .spec
        .iter()
        .flat_map(|spec| spec.taints.iter().flatten());
    let offered = object
        .status
        .iter()
        .flat_map(|status| status.allocatable.iter().flatten());
    let allocatable: Requests = offered
        .filter_map(|(name, text)| {
            let resource = ResourceName::from(name.as_str());
            let amount = Amount::of(&resource, quantity(name, text).ok()?);
            Some((resource, amount))
        })
        .collect();
    Node {
        name: object.metadata.name.as_deref().unwrap_or_default().into(),
        labels: object.metadata.labels.clone().unwrap_or_default(),
        taints: taints.filter_map(taint).collect(),
        allocatable,
    }
}
