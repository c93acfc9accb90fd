use std::sync::Arc;

use serde_json::json;

use super::{check_is_named, leaving, topology_is_named};
use crate::stores::Stores;

#[test]
fn who_is_named_by_whom() {
    let stores = Stores::new(&[]);
    let flavor = json!({"metadata": {"name": "gpu", "resourceVersion": "1"}, "spec": {"topologyName": "racks"}});
    let queue = json!({
        "metadata": {"name": "cq", "resourceVersion": "1"},
        "spec": {"admissionChecksStrategy": {"admissionChecks": [{"name": "budget"}]}},
    });
    let _ = stores
        .flavors
        .put(Arc::new(serde_json::from_value(flavor).unwrap()));
    let _ = stores
        .cluster_queues
        .put(Arc::new(serde_json::from_value(queue).unwrap()));
    assert!(topology_is_named(&stores, "racks"));
    assert!(!topology_is_named(&stores, "blocks"));
    assert!(check_is_named(&stores, "budget"));
    assert!(!check_is_named(&stores, "other"));
}

#[test]
fn only_those_that_are_deleted_leave() {
    let stores = Stores::new(&[]);
    for (name, deleted) in [("a", json!("2026-11-30T20:00:00Z")), ("b", json!(null))] {
        let topology = json!({"metadata": {"name": name, "resourceVersion": "1", "deletionTimestamp": deleted}, "spec": {"levels": []}});
        let _ = stores
            .topologies
            .put(Arc::new(serde_json::from_value(topology).unwrap()));
    }
    let (topologies, checks) = leaving(&stores);
    assert_eq!(topologies.len(), 1);
    assert_eq!(topologies[0].name, "a");
    assert!(checks.is_empty());
}
