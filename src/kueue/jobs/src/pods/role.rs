//! The role of a pod in its group, as the reference's webhook notes it too: a group that one controller has begun goes on under the other,
//! and its replacement pods play the roles of those they replace.
//!
//! The reference hashes JSON as Go writes it: maps in the order of their keys, structs in the order of their fields, `<`, `>` and `&` escaped.

use k8s_openapi::api::core::v1::PodSpec;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

#[cfg(test)]
mod tests;

/// The role a pod plays in its group: eight hex digits.
#[must_use]
pub fn role(spec: &PodSpec) -> String {
    let whole = ordered("", json!({"spec": super::shape(spec)}));
    let mut text = whole.to_string();
    for (letter, escaped) in ESCAPED {
        text = text.replace(letter, escaped);
    }
    let digest = Sha256::digest(text.as_bytes());
    let digits = digest.iter().take(4).map(|byte| format!("{byte:02x}"));
    digits.collect()
}

const ESCAPED: &[(&str, &str)] = &[("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")];

/// The same value, written as Go writes what is found under `key`.
fn ordered(key: &str, value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| ordered(key, item)).collect(),
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> = fields.into_iter().collect();
            fields.sort_by_cached_key(|(name, _)| (place(key, name), name.clone()));
            let fields = fields.into_iter();
            let fields: Map<String, Value> = fields
                .map(|(name, value)| {
                    let value = ordered(&name, value);
                    (name, value)
                })
                .collect();
            Value::Object(fields)
        }
        other => other,
    }
}

/// Where a field stands in its struct; all stand alike in a map, and where the alphabet is the order anyway.
fn place(of: &str, field: &str) -> usize {
    let order: &[&str] = match of {
        "tolerations" => &["key", "operator", "value", "effect", "tolerationSeconds"],
        "ports" => &["name", "hostPort", "containerPort", "protocol", "hostIP"],
        "nodeAffinity" | "podAffinity" | "podAntiAffinity" => &[REQUIRED, PREFERRED],
        PREFERRED => &["weight", "preference", "podAffinityTerm"],
        REQUIRED | "podAffinityTerm" => &[
            "labelSelector",
            "namespaces",
            "topologyKey",
            "namespaceSelector",
            "matchLabelKeys",
            "mismatchLabelKeys",
        ],
        "labelSelector" | "namespaceSelector" => &["matchLabels", "matchExpressions"],
        "topologySpreadConstraints" => &[
            "maxSkew",
            "topologyKey",
            "whenUnsatisfiable",
            "labelSelector",
            "minDomains",
            "nodeAffinityPolicy",
            "nodeTaintsPolicy",
            "matchLabelKeys",
        ],
        _ => &[],
    };
    let place = order.iter().position(|known| *known == field);
    place.unwrap_or(order.len())
}

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
