use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Stores;
use crate::key::Key;

fn object<T: DeserializeOwned>(name: &str, version: &str, more: &Value) -> Arc<T> {
    let mut meta =
        json!({"name": name, "namespace": "fen", "uid": name, "resourceVersion": version});
    for (key, value) in more.as_object().into_iter().flatten() {
        meta[key] = value.clone();
    }
    Arc::new(serde_json::from_value(json!({"metadata": meta, "spec": {}})).unwrap())
}

fn of_chain(chain: &str) -> Value {
    json!({"annotations": {
        "kueue.x-k8s.io/elastic-job": "true",
        "kueue.x-k8s.io/workload-slice-name": chain,
    }})
}

fn of_workload(name: &str) -> Value {
    let owner = json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "name": name, "uid": name});
    json!({"ownerReferences": [owner]})
}

#[test]
fn what_belongs_elsewhere_now_is_found_there_only() {
    let stores = Stores::new(&[]);
    let (a, b) = (Key::new("fen", "a"), Key::new("fen", "b"));
    let counts = |of: &Key| {
        let [pods, slices] = [stores.pods_of(of).len(), stores.slices_of(of).len()];
        [pods, slices, stores.requests_of(of).len()]
    };
    for (version, to) in [("1", "a"), ("2", "b")] {
        let of = stores.put_pod(&object("pod", version, &of_chain(to)));
        assert_eq!(of, Some(Key::new("fen", to)));
        let _ = stores.put_workload(&object("slice", version, &of_chain(to)));
        let _ = stores.put_request(&object("request", version, &of_workload(to)));
        let want = if to == "a" {
            ([1; 3], [0; 3])
        } else {
            ([0; 3], [1; 3])
        };
        assert_eq!((counts(&a), counts(&b)), want, "belongs to {to}");
    }
    assert_eq!(
        stores.remove_pod(&Key::new("fen", "pod"), None),
        Some(b.clone())
    );
    assert!(
        stores
            .remove_workload(&Key::new("fen", "slice"), None)
            .is_some()
    );
    assert!(stores.remove_request(&Key::new("fen", "request")).is_some());
    assert_eq!(counts(&b), [0; 3]);
}

#[test]
fn a_pod_that_names_nothing_is_not_kept() {
    let stores = Stores::new(&[]);
    assert_eq!(stores.put_pod(&object("pod", "1", &json!({}))), None);
    assert!(stores.pods.get(&Key::new("fen", "pod")).is_none());
}
