//! Pods with numbers, without, with wrong ones, and on failed nodes.

use k8s_openapi::api::core::v1::Pod;
use kueue_api::v1beta2::Workload;
use serde_json::{Value, json};

use super::ungate;

/// Two pods fit in rack r1, one in r2.
fn workload(request: &Value, unhealthy: &[&str]) -> Workload {
    let unhealthy: Vec<_> = unhealthy.iter().map(|name| json!({"name": name})).collect();
    serde_json::from_value(json!({
        "metadata": {"name": "w", "namespace": "equipe-vision"},
        "spec": {"podSets": [{"name": "main", "count": 3, "template": {}, "topologyRequest": request}]},
        "status": {
            "conditions": [{"type": "Admitted", "status": "True", "reason": "", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
            "unhealthyNodes": unhealthy,
            "admission": {"clusterQueue": "vision", "podSetAssignments": [{"name": "main", "count": 3, "topologyAssignment": {
                "levels": ["kubernetes.io/hostname"],
                "slices": [{"domainCount": 2, "podCounts": {"individual": [2, 1]}, "valuesPerLevel": [{"individual": {"roots": ["n1", "n2"]}}]}],
            }}]},
        },
    }))
    .unwrap()
}

fn pod(name: &str, index: Option<&str>, on: Option<&str>) -> Pod {
    let gates = on
        .is_none()
        .then(|| json!([{"name": "kueue.x-k8s.io/topology"}]));
    let selector = on.map(|node| json!({"kubernetes.io/hostname": node}));
    let mut labels = json!({"kueue.x-k8s.io/podset": "main"});
    if let Some(index) = index {
        labels["index"] = json!(index);
    }
    serde_json::from_value(json!({
        "metadata": {"name": name, "labels": labels, "annotations": {"kueue.x-k8s.io/workload": "w"}},
        "spec": {"containers": [], "schedulingGates": gates, "nodeSelector": selector},
    }))
    .unwrap()
}

#[test]
fn pods_go_where_their_number_or_the_room_says() {
    let numbered = json!({"podIndexLabel": "index"});
    for (name, request, unhealthy, pods, want) in [
        (
            "by number, whatever the order of arrival",
            &numbered,
            &[][..],
            vec![
                pod("a", Some("2"), None),
                pod("b", Some("0"), None),
                pod("c", Some("1"), None),
            ],
            vec![("b", "n1"), ("c", "n1"), ("a", "n2")],
        ),
        (
            "a number too large: by room",
            &numbered,
            &[],
            vec![pod("a", Some("3"), None), pod("b", Some("0"), None)],
            vec![("a", "n1"), ("b", "n1")],
        ),
        (
            "the same number twice: by room",
            &numbered,
            &[],
            vec![
                pod("a", Some("2"), None),
                pod("b", Some("2"), None),
                pod("c", Some("2"), None),
            ],
            vec![("a", "n1"), ("b", "n1"), ("c", "n2")],
        ),
        (
            "one runs where another belongs: by what room is left",
            &numbered,
            &[],
            vec![
                pod("a", Some("2"), Some("n1")),
                pod("b", Some("0"), None),
                pod("c", Some("1"), None),
            ],
            vec![("b", "n1"), ("c", "n2")],
        ),
        (
            "no numbers",
            &Value::Null,
            &[],
            vec![
                pod("a", None, Some("n2")),
                pod("b", None, None),
                pod("c", None, None),
                pod("d", None, None),
            ],
            vec![("b", "n1"), ("c", "n1")],
        ),
        (
            "a failed node takes nobody",
            &Value::Null,
            &["n1"],
            vec![pod("a", None, None), pod("b", None, None)],
            vec![("a", "n2")],
        ),
    ] {
        let placed = ungate(&workload(request, unhealthy), &pods).unwrap();
        let got: Vec<_> = placed
            .iter()
            .map(|placement| {
                let node = &placement.node_selector["kubernetes.io/hostname"];
                (placement.pod.as_str(), node.as_str())
            })
            .collect();
        assert_eq!(got, want, "{name}");
    }
}

#[test]
fn an_unreadable_offset_holds_the_workload_and_names_the_pod() {
    let mut odd = pod("a", Some("0"), None);
    let notes = odd.metadata.annotations.get_or_insert_default();
    notes.insert(
        "kueue.x-k8s.io/pod-index-offset".to_owned(),
        "one".to_owned(),
    );
    let error = ungate(&workload(&Value::Null, &[]), &[odd]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "pod a: annotation kueue.x-k8s.io/pod-index-offset: \"one\" is not a number"
    );
}
