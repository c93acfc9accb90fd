//! An entry of the record as a fact that a verdict rests on: what was seen, of which object, in the cluster's words.

#[cfg(test)]
mod tests;

use serde_json::Value;
use timeline::{Entry, ObjectEntry, Verb, What};

use super::desk::Evidence;
use super::pages::blocks::spoken;

/// The fact in an entry; none for what only the recorder cares about.
#[must_use]
pub fn describe(entry: &Entry) -> Option<Evidence> {
    let (verb, subject, details) = match &entry.what {
        What::Object(object) => (verb(object), subject(object), details(object)),
        What::Answer { question, value } => {
            ("evidence-answered", question.to_string(), spoken(value))
        }
        What::Gap { kinds, from, to } => {
            ("evidence-gap", kinds.join(", "), format!("{from} – {to}"))
        }
        What::Lost { .. } | What::Back { .. } | What::Tick => return None,
    };
    Some(Evidence {
        at: entry.at,
        verb,
        subject,
        details,
    })
}

fn verb(object: &ObjectEntry) -> &'static str {
    match object.verb {
        Verb::Added => "evidence-added",
        Verb::Modified => "evidence-modified",
        Verb::Deleted => "evidence-deleted",
    }
}

fn subject(object: &ObjectEntry) -> String {
    match &object.namespace {
        Some(namespace) => format!("{} {namespace}/{}", object.kind, object.name),
        None => format!("{} {}", object.kind, object.name),
    }
}

/// What people look at first in an object of that kind.
fn details(object: &ObjectEntry) -> String {
    let at = |path: &str| object.object.pointer(path);
    let mut parts = Vec::new();
    if object.kind == "Job" {
        parts.extend(at("/spec/suspend").map(|suspend| format!("suspend={suspend}")));
    }
    parts.extend(at("/status/phase").map(spoken));
    if let Some(Value::Array(conditions)) = at("/status/conditions") {
        parts.extend(conditions.iter().map(condition));
    }
    parts.join(" · ")
}

fn condition(condition: &Value) -> String {
    let text = |name: &str| {
        condition
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (kind, status, reason) = (text("type"), text("status"), text("reason"));
    if status == "True" || reason.is_empty() {
        format!("{kind}={status}")
    } else {
        format!("{kind}={status} ({reason})")
    }
}
