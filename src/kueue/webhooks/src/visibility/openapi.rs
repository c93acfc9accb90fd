//! The description of the API: one document a version (`OpenAPI` v3), and one for everything (v2), from the same schemas.

use kueue_api::visibility::{GROUP, VERSIONS};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Where schemas live in each form.
const V2: &str = "#/definitions/";
const V3: &str = "#/components/schemas/";
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

fn full(version: &str, kind: &str) -> String {
    format!("io.x-k8s.kueue.visibility.{version}.{kind}")
}

/// The schemas of one version, whose references begin with `at`.
fn schemas(version: &str, at: &str) -> Map<String, Value> {
    let refer = |name: &str| match at {
        V2 => json!({"$ref": format!("{at}{name}")}),
        _ => json!({"allOf": [{"$ref": format!("{at}{name}")}], "default": {}}),
    };
    let number = |text: &str| json!({"type": "integer", "format": "int32", "default": 0, "description": text});
    let item = json!({
        "type": "object",
        "description": "A workload that waits, and its place",
        "required": ["priority", "localQueueName", "positionInClusterQueue", "positionInLocalQueue"],
        "properties": {
            "metadata": refer(META),
            "priority": number("Priority without any boost"),
            "localQueueName": {"type": "string", "default": "", "description": "LocalQueue it came through"},
            "positionInClusterQueue": number("Place in the ClusterQueue, from 0"),
            "positionInLocalQueue": number("Place among those of its LocalQueue, from 0"),
        },
    });
    let summary = json!({
        "type": "object",
        "description": "Pending workloads in the order of their queue",
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": refer(META),
            "items": {"type": "array", "items": refer(&full(version, "PendingWorkload"))},
        },
        "x-kubernetes-group-version-kind": [{"group": GROUP, "version": version, "kind": "PendingWorkloadsSummary"}],
    });
    let meta = json!({"type": "object", "description": "Metadata of an object", "properties": {
        "name": {"type": "string"}, "namespace": {"type": "string"},
    }});
    [
        (full(version, "PendingWorkload"), item),
        (full(version, "PendingWorkloadsSummary"), summary),
        (META.to_owned(), meta),
    ]
    .into_iter()
    .collect()
}

/// The two paths of a version, each with the names in it.
fn paths(version: &str) -> [(String, Vec<&'static str>, &'static str); 2] {
    let base = format!("/apis/{GROUP}/{version}");
    [
        (
            format!("{base}/clusterqueues/{{name}}/pendingworkloads"),
            vec!["name"],
            "ClusterQueue",
        ),
        (
            format!("{base}/namespaces/{{namespace}}/localqueues/{{name}}/pendingworkloads"),
            vec!["namespace", "name"],
            "LocalQueue",
        ),
    ]
}

fn operation(version: &str, names: &[&str], kind: &str, at: &str) -> Value {
    let parameter = |name: &str, within: &str, of: &str| {
        let mut parameter = json!({"name": name, "in": within, "required": within == "path"});
        match at {
            V2 => parameter["type"] = json!(of),
            _ => parameter["schema"] = json!({"type": of}),
        }
        parameter
    };
    let within = names.iter().map(|name| parameter(name, "path", "string"));
    let asked = ["offset", "limit"].map(|name| parameter(name, "query", "integer"));
    let schema = json!({"$ref": format!("{at}{}", full(version, "PendingWorkloadsSummary"))});
    let answer = match at {
        V2 => json!({"description": "OK", "schema": schema}),
        _ => json!({"description": "OK", "content": {"application/json": {"schema": schema}}}),
    };
    let title = format!(
        "{}{}",
        version.get(..1).unwrap_or_default().to_uppercase(),
        version.get(1..).unwrap_or_default()
    );
    json!({"get": {
        "description": format!("pending workloads of a {kind}"),
        "operationId": format!("readVisibilityKueueXK8sIo{title}{kind}PendingWorkloads"),
        "parameters": within.chain(asked).collect::<Vec<_>>(),
        "responses": {"200": answer},
        "tags": ["visibilityKueueXK8sIo"],
    }})
}

fn info() -> Value {
    json!({"title": "Kueue visibility-server", "version": concat!("v", env!("CARGO_PKG_VERSION"))})
}

/// Which documents there are.
pub(super) fn index() -> Value {
    let paths: BTreeMap<String, Value> = VERSIONS
        .iter()
        .map(|version| {
            let path = format!("apis/{GROUP}/{version}");
            let relative = json!({"serverRelativeURL": format!("/openapi/v3/{path}")});
            (path, relative)
        })
        .collect();
    json!({ "paths": paths })
}

pub(super) fn v3(version: &str) -> Value {
    let paths: Map<String, Value> = paths(version)
        .into_iter()
        .map(|(path, names, kind)| (path, operation(version, &names, kind, V3)))
        .collect();
    json!({"openapi": "3.0.0", "info": info(), "paths": paths, "components": {"schemas": schemas(version, V3)}})
}

pub(super) fn v2() -> Value {
    let mut all: (Map<String, Value>, Map<String, Value>) = Default::default();
    for version in VERSIONS {
        all.0.extend(
            paths(version)
                .into_iter()
                .map(|(path, names, kind)| (path, operation(version, &names, kind, V2))),
        );
        all.1.extend(schemas(version, V2));
    }
    json!({"swagger": "2.0", "info": info(), "paths": all.0, "definitions": all.1})
}
