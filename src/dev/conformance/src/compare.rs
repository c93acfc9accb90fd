//! Compares JSON the way the corpus asks for: what is absent equals what is empty, and a difference is shown path by path.

use kueue_api::field::FieldError;
use serde_json::{Value, json};

use crate::verdict::Verdict;

/// Drops null, empty texts, empty lists and empty maps, as the corpus does. False and zero stay.
#[must_use]
pub fn lean(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| (key.clone(), lean(value)))
                .filter(|(_, value)| !is_empty(value))
                .collect(),
        ),
        Value::Array(list) => Value::Array(list.iter().map(lean).collect()),
        other => other.clone(),
    }
}

/// Whether nothing is in it.
#[must_use]
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The paths at which two values differ, one line each; empty if they are equal. Compare lean values.
#[must_use]
pub fn differences(got: &Value, want: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk("", got, want, &mut found);
    found
}

fn walk(path: &str, got: &Value, want: &Value, found: &mut Vec<String>) {
    match (got, want) {
        (Value::Object(left), Value::Object(right)) => {
            for (key, value) in left {
                walk(
                    &format!("{path}.{key}"),
                    value,
                    right.get(key).unwrap_or(&Value::Null),
                    found,
                );
            }
            for (key, value) in right.iter().filter(|(key, _)| !left.contains_key(*key)) {
                walk(&format!("{path}.{key}"), &Value::Null, value, found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                walk(&format!("{path}[{index}]"), left, right, found);
            }
        }
        _ if got == want => {}
        _ => found.push(format!(
            "{}\n  decided:  {got}\n  expected: {want}",
            if path.is_empty() { "." } else { path }
        )),
    }
}

/// Which parts of a fault count besides its kind and its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Also {
    /// None.
    Nothing,
    /// The value that was found.
    Value,
    /// What would be right.
    Detail,
    /// Both.
    Everything,
}

/// Compares faults of fields: number, order, kind, field, and what else counts.
#[must_use]
pub fn faults(got: &[FieldError], want: &Value, also: Also) -> Verdict {
    let (value, detail) = (
        matches!(also, Also::Value | Also::Everything),
        matches!(also, Also::Detail | Also::Everything),
    );
    let got: Vec<_> = got
        .iter()
        .map(|fault| {
            let detail = detail.then_some(fault.detail.as_str());
            let value = value.then_some(&fault.value);
            json!({"type": fault.cause.reason(), "field": fault.field, "badValue": value, "detail": detail})
        })
        .collect();
    let want: Vec<_> = want
        .as_array()
        .into_iter()
        .flatten()
        .map(|fault| {
            let detail = detail.then_some(&fault["detail"]);
            let value = value.then_some(&fault["badValue"]);
            json!({"type": fault["type"], "field": fault["field"], "badValue": value, "detail": detail})
        })
        .collect();
    Verdict::same(&got, &Value::Array(want))
}
