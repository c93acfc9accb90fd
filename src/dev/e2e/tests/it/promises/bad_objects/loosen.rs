//! Takes the fetters off the CRDs of this cluster, so that an API server keeps what a controller cannot read.

use serde_json::{Value, json};

use super::super::ground::Ground;
use crate::commands::ok;

/// Fields that may be anything from now on.
const LOOSE: &[(&str, &[&str])] = &[
    (
        "workloads",
        &[
            "/properties/spec/properties/podSets",
            "/properties/status/properties/requeueState",
        ],
    ),
    (
        "clusterqueues",
        &["/properties/spec/properties/resourceGroups"],
    ),
    ("cohorts", &["/properties/spec/properties/resourceGroups"]),
    ("localqueues", &["/properties/spec/properties/fairSharing"]),
    (
        "resourceflavors",
        &["/properties/spec/properties/nodeLabels"],
    ),
    ("topologies", &["/properties/spec/properties/levels"]),
    ("workloadpriorityclasses", &["/properties/value"]),
    (
        "admissionchecks",
        &["/properties/spec/properties/parameters"],
    ),
];

/// All of them.
pub(super) async fn all(ground: &Ground) {
    super::ask_no_webhooks(ground).await;
    for (plural, fields) in LOOSE {
        let name = format!("{plural}.kueue.x-k8s.io");
        let mut crd = ground.json(&["get", "crd", &name]).await;
        let versions = crd["spec"]["versions"].as_array_mut().expect("versions");
        for version in versions {
            let schema = &mut version["schema"]["openAPIV3Schema"];
            without_rules(schema);
            for field in *fields {
                let field = schema.pointer_mut(field);
                if let Some(field) = field {
                    *field = json!({"x-kubernetes-preserve-unknown-fields": true});
                }
            }
        }
        let replace = ground.cluster.kubectl(&["replace", "-f", "-"]);
        ok(replace.stdin(crd.to_string())).await;
    }
}

/// Rules refer to fields that have no type any more, and lists may be of any length.
fn without_rules(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.remove("x-kubernetes-validations");
            fields.remove("maxItems");
            fields.values_mut().for_each(without_rules);
        }
        Value::Array(items) => items.iter_mut().for_each(without_rules),
        _ => {}
    }
}
