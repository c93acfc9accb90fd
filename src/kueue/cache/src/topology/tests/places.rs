//! What a cycle sees of nodes and topologies after they came, changed and went.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use quantity::{Amount, Requests, ResourceName};
use scheduler::topology::{DomainRequests, Snapshot, TopologyUsage};
use scheduler::{Flavor, FlavorName};
use serde_json::json;

use crate::topology::places::{Flavors, Places};

fn flavors(names: &[&str]) -> Flavors {
    let flavor = Flavor {
        node_labels: BTreeMap::from([("pool".to_owned(), "gpu".to_owned())]),
        topology: Some("lab".to_owned()),
        ..Flavor::default()
    };
    let named = names
        .iter()
        .map(|name| (FlavorName::from(*name), Arc::new(flavor.clone())));
    named.collect()
}

fn node(name: &str, ready: &str) -> core::Node {
    let object = json!({
        "metadata": {"name": name, "labels": {"pool": "gpu", "kubernetes.io/hostname": name}},
        "status": {
            "allocatable": {"cpu": "4", "pods": "10"},
            "conditions": [{"type": "Ready", "status": ready}],
        },
    });
    serde_json::from_value(object).unwrap()
}

fn pod(node: &str, cpu: &str, phase: &str) -> core::Pod {
    let requests = json!({"requests": {"cpu": cpu}});
    let object = json!({
        "metadata": {"name": "daemon", "namespace": "system"},
        "spec": {"nodeName": node, "containers": [{"name": "c", "resources": requests}]},
        "status": {"phase": phase},
    });
    serde_json::from_value(object).unwrap()
}

fn world(overlapping: bool, all: &Flavors) -> Places {
    let mut places = Places::new(overlapping);
    for name in all.keys() {
        places.flavor_changed(name, all);
    }
    places.apply_topology("lab", vec!["kubernetes.io/hostname".to_owned()], all);
    places.apply_node(&node("x", "True"), all);
    places
}

fn cpus(count: i64) -> Vec<DomainRequests> {
    let mut per_pod = Requests::new();
    per_pod.set(ResourceName::from("cpu"), Amount::new(1000));
    vec![DomainRequests {
        values: vec!["x".to_owned()],
        per_pod,
        count,
    }]
}

/// How many pods of one CPU each still fit on node `x` in a flavor.
fn free(places: &mut Places, all: &Flavors, flavor: &str) -> Option<i64> {
    let seen = places.snapshot(all);
    let topology: &Arc<Snapshot> = seen.get(flavor)?;
    (0..=9).rev().find(|count| topology.fits(&cpus(*count)))
}

fn held(flavor: &str, count: i64) -> TopologyUsage {
    TopologyUsage::from([(FlavorName::from(flavor), cpus(count))])
}

#[test]
fn a_flavor_has_places_once_its_topology_is_there() {
    let all = flavors(&["gpu"]);
    let mut places = Places::new(true);
    places.flavor_changed(&FlavorName::from("gpu"), &all);
    assert_eq!(free(&mut places, &all, "gpu"), None);
    let concerned = places.apply_topology("lab", vec!["kubernetes.io/hostname".to_owned()], &all);
    assert_eq!(concerned, [FlavorName::from("gpu")]);
    assert_eq!(free(&mut places, &all, "gpu"), None);
    places.apply_node(&node("x", "True"), &all);
    assert_eq!(free(&mut places, &all, "gpu"), Some(4));
    places.delete_topology("lab", &all);
    assert_eq!(free(&mut places, &all, "gpu"), None);
}

#[test]
fn a_node_counts_while_it_is_ready_and_says_so_only_when_that_changes() {
    let all = flavors(&["gpu"]);
    let mut places = world(true, &all);
    assert!(places.apply_node(&node("x", "True"), &all).is_empty());
    assert_eq!(places.apply_node(&node("x", "False"), &all).len(), 1);
    assert_eq!(free(&mut places, &all, "gpu"), None);
    places.apply_node(&node("x", "True"), &all);
    assert_eq!(free(&mut places, &all, "gpu"), Some(4));
    assert_eq!(places.delete_node("x", &all).len(), 1);
    assert_eq!(free(&mut places, &all, "gpu"), None);
}

#[test]
fn foreign_pods_take_from_their_node_until_they_end() {
    let all = flavors(&["gpu"]);
    let mut places = world(true, &all);
    assert_eq!(free(&mut places, &all, "gpu"), Some(4));
    assert!(places.apply_pod(&pod("x", "3", "Running")).is_empty());
    assert_eq!(free(&mut places, &all, "gpu"), Some(1));
    assert_eq!(places.apply_pod(&pod("x", "1", "Running")).len(), 1);
    assert_eq!(free(&mut places, &all, "gpu"), Some(3));
    assert_eq!(places.apply_pod(&pod("x", "1", "Succeeded")).len(), 1);
    assert_eq!(free(&mut places, &all, "gpu"), Some(4));
    assert!(places.delete_pod("system", "daemon").is_empty());
}

#[test]
fn what_a_workload_holds_survives_the_loss_of_its_node() {
    let all = flavors(&["gpu"]);
    let mut places = world(true, &all);
    places.take(&held("gpu", 3));
    assert_eq!(free(&mut places, &all, "gpu"), Some(1));
    places.delete_node("x", &all);
    assert_eq!(free(&mut places, &all, "gpu"), None);
    places.apply_node(&node("x", "True"), &all);
    assert_eq!(free(&mut places, &all, "gpu"), Some(1));
    places.give_back(&held("gpu", 3));
    assert_eq!(free(&mut places, &all, "gpu"), Some(4));
}

#[test]
fn flavors_on_the_same_nodes_see_each_other_only_behind_the_gate() {
    let all = flavors(&["left", "right"]);
    for (overlapping, rest) in [(true, 2), (false, 4)] {
        let mut places = world(overlapping, &all);
        places.take(&held("left", 2));
        assert_eq!(free(&mut places, &all, "right"), Some(rest), "before");
        places.take(&held("left", 1));
        places.give_back(&held("left", 1));
        assert_eq!(free(&mut places, &all, "right"), Some(rest), "after");
        assert_eq!(free(&mut places, &all, "left"), Some(2));
    }
}

#[test]
fn a_cycle_keeps_what_it_saw() {
    let all = flavors(&["gpu"]);
    let mut places = world(true, &all);
    let seen = places.snapshot(&all);
    places.take(&held("gpu", 4));
    let before = seen.get("gpu").map(|topology| topology.fits(&cpus(4)));
    assert_eq!(before, Some(true));
    assert_eq!(free(&mut places, &all, "gpu"), Some(0));
}
