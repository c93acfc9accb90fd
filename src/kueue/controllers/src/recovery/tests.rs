//! Pods that do not end, case by case.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, Pod};
use serde_json::{Value, json};

use super::decide::{Turn, turn};

const DELETED: &str = "2026-12-01T08:00:00Z";

fn pod(safe: &str, status: &Value) -> Pod {
    let notes = json!({"kueue.x-k8s.io/safe-to-forcefully-delete": safe});
    let meta = json!({"name": "p", "namespace": "reef", "annotations": notes, "deletionTimestamp": DELETED, "deletionGracePeriodSeconds": 30});
    let spec = json!({"containers": [], "nodeName": "n"});
    serde_json::from_value(json!({"metadata": meta, "spec": spec, "status": status})).unwrap()
}

fn node(taint: Option<&str>) -> Option<Arc<Node>> {
    let taints: Vec<_> = taint
        .iter()
        .map(|key| json!({"key": key, "effect": "NoExecute"}))
        .collect();
    let node = json!({"metadata": {"name": "n"}, "spec": {"taints": taints}});
    Some(Arc::new(serde_json::from_value(node).unwrap()))
}

fn after(seconds: i64) -> Timestamp {
    let deleted: Timestamp = DELETED.parse().unwrap();
    deleted + jiff::SignedDuration::from_secs(seconds)
}

const LOST: Option<&str> = Some("node.kubernetes.io/unreachable");

#[test]
fn a_pod_is_ended_once_nobody_can_hope_for_its_node() {
    let running = pod("true", &json!({"phase": "Running"}));
    let cases = [
        (
            "in time",
            turn(&running, |_| node(LOST), after(20)),
            Turn::Wait(Duration::from_secs(40)),
        ),
        (
            "its node answers",
            turn(&running, |_| node(None), after(90)),
            Turn::Rest,
        ),
        (
            "its node is gone",
            turn(&running, |_| None, after(90)),
            Turn::Rest,
        ),
        (
            "nobody said that this is safe",
            turn(&pod("false", &json!({})), |_| node(LOST), after(90)),
            Turn::Rest,
        ),
    ];
    for (name, got, want) in cases {
        assert_eq!(got, want, "{name}");
    }
    let Turn::End { status, message } = turn(&running, |_| node(LOST), after(60)) else {
        panic!("not ended");
    };
    assert_eq!(status["status"]["phase"], "Failed");
    assert!(message.contains("after 1m30s grace period due to unreachable node `n`"));
}

#[test]
fn what_a_pod_said_before_stays() {
    let ready = json!({"type": "Ready", "status": "False"});
    let done = pod(
        "true",
        &json!({"phase": "Succeeded", "conditions": [ready]}),
    );
    let Turn::End { status, .. } = turn(&done, |_| node(LOST), after(60)) else {
        panic!("not ended");
    };
    assert!(status["status"]["phase"].is_null());
    let conditions = status["status"]["conditions"].as_array().unwrap();
    let types: Vec<_> = conditions
        .iter()
        .map(|one| one["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["Ready", "KueueFailureRecovery"]);
}
