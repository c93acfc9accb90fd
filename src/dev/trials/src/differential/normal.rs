//! Objects without what may differ between two control planes: times, identities, versions, and the names that are made from identities.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

use super::compare::Objects;

/// Fields that the API server or a clock fills in.
const DROPPED: &[&str] = &[
    "uid",
    "resourceVersion",
    "generation",
    "observedGeneration",
    "creationTimestamp",
    "lastTransitionTime",
    "lastProbeTime",
    "deletionTimestamp",
    "requeueAt",
    "startTime",
    "completionTime",
    "accumulatedPastExecutionTimeSeconds",
    "accumulatedPastExexcutionTimeSeconds",
    "managedFields",
    "job-uid",
    "kueue.x-k8s.io/job-uid",
    "batch.kubernetes.io/controller-uid",
    "controller-uid",
];

/// All objects by kind, namespace and name, made comparable.
pub(super) fn normal(objects: Vec<(&'static str, Value)>) -> Objects {
    let names: BTreeMap<String, String> = objects.iter().filter_map(made_up).collect();
    let mut all = Objects::new();
    for (kind, mut object) in objects {
        clean(&mut object, &names);
        let text = |path: &str| {
            object
                .pointer(path)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let key = format!(
            "{kind} {}/{}",
            text("/metadata/namespace"),
            text("/metadata/name")
        );
        all.insert(key.replace(" /", " "), object);
    }
    all
}

/// A Workload's name ends in a hash of its owner's identity.
fn made_up((kind, object): &(&'static str, Value)) -> Option<(String, String)> {
    let owner = object
        .pointer("/metadata/ownerReferences/0/name")?
        .as_str()?;
    let name = object.pointer("/metadata/name")?.as_str()?;
    (*kind == "Workload").then(|| (name.to_owned(), format!("job-{owner}-#")))
}

fn clean(value: &mut Value, names: &BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| !DROPPED.contains(&name.as_str()) && !is_empty(value));
            fields.values_mut().for_each(|value| clean(value, names));
            fields.sort_keys();
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| clean(item, names));
            by_name(items);
        }
        Value::String(text) => *text = neutral(text, names),
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Lists that are maps by their meaning have no order.
fn by_name(items: &mut [Value]) {
    let key = |item: &Value| {
        let name = ["type", "name"]
            .iter()
            .find_map(|field| item.get(field)?.as_str());
        name.map(str::to_owned)
    };
    if items.iter().all(|item| item.get("type").is_some()) {
        items.sort_by_key(key);
    }
}

fn neutral(text: &str, names: &BTreeMap<String, String>) -> String {
    let mut text = text.to_owned();
    for (name, neutral) in names {
        text = text.replace(name, neutral);
    }
    let mut neutral = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest
        .char_indices()
        .map(|(at, _)| at)
        .find(|at| is_uuid(&rest[*at..]))
    {
        neutral.push_str(&rest[..at]);
        neutral.push_str("<uid>");
        rest = &rest[at + UUID..];
    }
    neutral + rest
}

const UUID: usize = 36;

fn is_uuid(text: &str) -> bool {
    let Some(start) = text.get(..UUID) else {
        return false;
    };
    start.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}
