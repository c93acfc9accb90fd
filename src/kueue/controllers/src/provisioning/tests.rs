//! What is asked of an autoscaler, and what its answers mean: one Workload, attempt after attempt.

use std::collections::BTreeMap;
use std::sync::Arc;

use kueue_api::v1beta2::{ProvisioningRequestConfigSpec, Workload};
use serde_json::{Value, json};

use super::decide::{Act, View, plan};
use super::request::{Request, name_of};

fn workload(check: &Value, conditions: &[&str]) -> Workload {
    let condition = |kind: &&str| json!({"type": kind, "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-12-01T08:00:00Z"});
    let conditions: Vec<Value> = conditions.iter().map(condition).collect();
    let container = json!({"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1"}}});
    serde_json::from_value(json!({
        "metadata": {"name": "w", "namespace": "reef", "uid": "u", "annotations": {"provreq.kueue.x-k8s.io/ValidUntilSeconds": "60"}},
        "spec": {"podSets": [{"name": "main", "count": 2, "template": {"spec": {"containers": [container]}}}]},
        "status": {
            "conditions": conditions,
            "admission": {"clusterQueue": "cq", "podSetAssignments": [{"name": "main", "count": 2, "flavors": {"nvidia.com/gpu": "a100"}}]},
            "admissionChecks": [check],
        },
    }))
    .unwrap()
}

fn config() -> ProvisioningRequestConfigSpec {
    serde_json::from_value(json!({
        "provisioningClassName": "queued", "managedResources": ["nvidia.com/gpu"], "parameters": {"zone": "b"},
        "retryStrategy": {"backoffLimitCount": 2, "backoffBaseSeconds": 60, "backoffMaxSeconds": 100},
    }))
    .unwrap()
}

/// A request of an attempt, with a condition that is true.
fn request(attempt: i32, condition: &str) -> Request {
    let conditions = if condition.is_empty() {
        json!([])
    } else {
        json!([{"type": condition, "status": "True", "reason": "R", "message": "so it is", "lastTransitionTime": "2026-12-01T08:00:00Z"}])
    };
    serde_json::from_value(json!({
        "metadata": {"name": name_of("w", "nodes", attempt), "namespace": "reef"},
        "spec": {"provisioningClassName": "queued", "parameters": {"zone": "b"}, "podSets": [{"count": 2, "podTemplateRef": {"name": "ppt-w-nodes-1-main"}}]},
        "status": {"conditions": conditions},
    }))
    .unwrap()
}

/// One line for each act.
fn told(workload: &Workload, requests: Vec<Request>) -> Vec<String> {
    let requests: Vec<_> = requests.into_iter().map(Arc::new).collect();
    let checks = [("nodes".to_owned(), Some(config()))];
    let flavor = json!({"nodeLabels": {"gpu": "a100"}});
    let flavors = BTreeMap::from([("a100".to_owned(), serde_json::from_value(flavor).unwrap())]);
    let acts = plan(&View {
        workload,
        checks: &checks,
        requests: &requests,
        flavors: &flavors,
        cleans_up: true,
        now: "2026-12-01T08:01:00Z".parse().unwrap(),
    });
    let line = |act: Act| match act {
        Act::Answer { states, .. } => {
            let state = &states[0];
            let wait = state
                .requeue_after_seconds
                .map(|wait| format!(" after {wait} s"));
            format!(
                "{}: {}{}",
                state.state,
                state.message,
                wait.unwrap_or_default()
            )
        }
        Act::Delete(name) => format!("delete {name}"),
        Act::Create {
            request, templates, ..
        } => {
            let parameters = &request.spec.parameters;
            let spec = templates[0]
                .template
                .as_ref()
                .unwrap()
                .spec
                .as_ref()
                .unwrap();
            let asked = spec.containers[0]
                .resources
                .as_ref()
                .unwrap()
                .requests
                .as_ref();
            format!(
                "create {} for {} pods on {:?}, {:?}, {:?}",
                request.name(),
                request.spec.pod_sets[0].count,
                spec.node_selector.as_ref().unwrap(),
                parameters,
                asked.unwrap()["nvidia.com/gpu"].0
            )
        }
        Act::Own(request) => format!("own {}", request.name()),
    };
    acts.unwrap().into_iter().map(line).collect()
}

const HELD: &[&str] = &["QuotaReserved"];

fn pending(retries: i32) -> Value {
    json!({"name": "nodes", "state": "Pending", "message": "", "retryCount": retries, "lastTransitionTime": "2026-12-01T08:00:00Z"})
}

#[test]
fn nodes_are_asked_for_as_the_pods_will_need_them() {
    let made = "create w-nodes-1 for 2 pods on {\"gpu\": \"a100\"}, {\"ValidUntilSeconds\": \"60\", \"zone\": \"b\"}, \"1\"";
    assert_eq!(told(&workload(&pending(0), HELD), vec![]), [made]);
    assert_eq!(
        told(&workload(&pending(0), &[]), vec![]),
        [""; 0],
        "nothing is reserved yet"
    );
    let again = told(&workload(&pending(1), HELD), vec![]);
    assert!(again[0].starts_with("create w-nodes-2 "), "{again:?}");
}

#[test]
fn answers_are_taken_over() {
    let cases: &[(&str, i32, &str, &[&str])] = &[
        ("none yet", 0, "", &["own w-nodes-1"]),
        ("nodes are there", 0, "Provisioned", &["Ready: so it is"]),
        (
            "it failed",
            0,
            "Failed",
            &["Retry: Retrying after failure: so it is after 60 s"],
        ),
        (
            "that was answered already",
            1,
            "Failed",
            &["Pending: Retrying after failure: so it is"],
        ),
        (
            "the booking ran out",
            0,
            "BookingExpired",
            &["Retry: Retrying after booking expired: so it is after 60 s"],
        ),
        (
            "the nodes were taken away",
            0,
            "CapacityRevoked",
            &["Rejected: so it is"],
        ),
    ];
    for (name, retries, condition, want) in cases {
        let got = told(
            &workload(&pending(*retries), HELD),
            vec![request(1, condition)],
        );
        assert_eq!(&got[..want.len()], *want, "{name}");
    }
    let last = told(&workload(&pending(2), HELD), vec![request(3, "Failed")]);
    assert_eq!(last, ["Rejected: so it is"], "nobody tries for ever");
    let second = told(&workload(&pending(1), HELD), vec![request(2, "Failed")]);
    assert_eq!(
        second,
        ["Retry: Retrying after failure: so it is after 100 s"],
        "no longer than the configuration says"
    );
}

#[test]
fn what_is_of_no_use_goes() {
    let mut other = request(1, "");
    "other".clone_into(&mut other.spec.provisioning_class_name);
    let got = told(&workload(&pending(0), HELD), vec![other]);
    assert_eq!(got[0], "delete w-nodes-1");
    assert!(got[1].starts_with("create w-nodes-1 "), "{got:?}");
    let evicted = workload(&pending(0), &["QuotaReserved", "Evicted"]);
    assert_eq!(
        told(&evicted, vec![request(1, "Provisioned")]),
        ["delete w-nodes-1"]
    );
    let old = told(
        &workload(&pending(1), HELD),
        vec![request(1, "Failed"), request(2, "")],
    );
    assert_eq!(old, ["delete w-nodes-1", "own w-nodes-2"]);
}

#[test]
fn long_names_are_cut_and_stay_apart() {
    let long = "x".repeat(300);
    let [one, two] = [1, 2].map(|attempt| name_of(&long, "nodes", attempt));
    assert_eq!((one.len(), two.len()), (253, 253));
    assert_ne!(one, two);
}
