//! What the API server and kubectl are told about the API: groups, versions, resources, in the old form and in the aggregated one.

use kueue_api::visibility::{GROUP, PENDING_WORKLOADS, VERSIONS};
use serde_json::{Value, json};

/// Kind, plural, singular, and whether it lives in a namespace. Only the subresource can be read.
const PARENTS: [(&str, &str, &str, bool); 2] = [
    ("ClusterQueue", "clusterqueues", "clusterqueue", false),
    ("LocalQueue", "localqueues", "localqueue", true),
];
const SUMMARY: &str = "PendingWorkloadsSummary";

fn of(version: &str) -> Value {
    json!({"groupVersion": format!("{GROUP}/{version}"), "version": version})
}

pub(super) fn group() -> Value {
    let mut group = entry();
    group["kind"] = json!("APIGroup");
    group["apiVersion"] = json!("v1");
    group
}

fn entry() -> Value {
    let [preferred, ..] = VERSIONS;
    json!({"name": GROUP, "versions": VERSIONS.map(of), "preferredVersion": of(preferred)})
}

pub(super) fn groups() -> Value {
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": [entry()]})
}

pub(super) fn resources(version: &str) -> Value {
    let resources = PARENTS.iter().flat_map(|(kind, plural, singular, namespaced)| {
        [
            json!({"name": plural, "singularName": singular, "namespaced": namespaced, "kind": kind, "verbs": []}),
            json!({
                "name": format!("{plural}/{PENDING_WORKLOADS}"), "singularName": "", "namespaced": namespaced,
                "kind": SUMMARY, "verbs": ["get"],
            }),
        ]
    });
    json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": format!("{GROUP}/{version}"),
        "resources": resources.collect::<Vec<_>>(),
    })
}

/// The aggregated form in the newest version that is accepted, with its content type.
pub(super) fn aggregated(accepted: &str) -> Option<(String, Value)> {
    let asks = |version: &str| {
        accepted.split(',').any(|form| {
            let has = |part: &str| form.split(';').any(|own| own.trim() == part);
            has("application/json")
                && has("as=APIGroupDiscoveryList")
                && has("g=apidiscovery.k8s.io")
                && has(&format!("v={version}"))
        })
    };
    let version = ["v2", "v2beta1"]
        .into_iter()
        .find(|version| asks(version))?;
    let content_type =
        format!("application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList");
    let body = json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": format!("apidiscovery.k8s.io/{version}"),
        "metadata": {},
        "items": [{"metadata": {"name": GROUP}, "versions": VERSIONS.map(all_of)}],
    });
    Some((content_type, body))
}

fn all_of(version: &str) -> Value {
    let resources = PARENTS.map(|(kind, plural, singular, namespaced)| {
        let named = |kind: &str| json!({"group": GROUP, "version": version, "kind": kind});
        json!({
            "resource": plural,
            "responseKind": named(kind),
            "scope": if namespaced { "Namespaced" } else { "Cluster" },
            "singularResource": singular,
            "verbs": [],
            "subresources": [{"subresource": PENDING_WORKLOADS, "responseKind": named(SUMMARY), "verbs": ["get"]}],
        })
    });
    json!({"version": version, "resources": resources, "freshness": "Current"})
}

/// The version of this server, which speaks like a Kubernetes API server.
pub(super) fn version() -> Value {
    json!({"major": "0", "minor": "19", "gitVersion": concat!("v", env!("CARGO_PKG_VERSION")), "platform": "linux/amd64"})
}
