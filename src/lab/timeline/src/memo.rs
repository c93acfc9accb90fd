//! Evaluated predicates. An object's version never changes, so a predicate is run once on each.

use crate::{objects::Version, quantity, timeline::Timeline};
use cel::{Context, ExecutionError, Value as Cel};
use course::Predicate;
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};

/// Results by predicate and entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memo {
    results: BTreeMap<(usize, u64), bool>,
}

impl Memo {
    /// Whether the predicate is true of that version. A missing field, or any other failure of the expression, is false.
    pub(crate) fn holds(
        &mut self,
        predicate: &Predicate,
        version: &Version,
        timeline: &Timeline,
    ) -> bool {
        // The text lives as long as the rules, which the judge owns; its address names the predicate.
        let key = (predicate.source().as_ptr() as usize, version.place.seq);
        *self.results.entry(key).or_insert_with(|| {
            matches!(evaluate(predicate, version, timeline), Ok(Cel::Bool(true)))
        })
    }
}

/// The value of an expression about a version, as people read it.
pub(crate) fn shown(
    predicate: &Predicate,
    version: &Version,
    timeline: &Timeline,
) -> Option<String> {
    match evaluate(predicate, version, timeline).ok()? {
        Cel::String(text) => Some(text.to_string()),
        Cel::Int(number) => Some(number.to_string()),
        Cel::UInt(number) => Some(number.to_string()),
        Cel::Float(number) => Some(number.to_string()),
        Cel::Bool(truth) => Some(truth.to_string()),
        other => other.json().ok().map(|value| value.to_string()),
    }
}

fn evaluate(
    predicate: &Predicate,
    version: &Version,
    timeline: &Timeline,
) -> Result<Cel, ExecutionError> {
    let object = version.object.as_ref();
    let mut context = Context::default();
    let empty = Value::Object(serde_json::Map::new());
    let part = |path: &str| cel(crate::json::at(object, path).unwrap_or(&empty));
    context.add_variable_from_value("object", cel(object));
    for (name, path) in [
        ("metadata", "metadata"),
        ("spec", "spec"),
        ("status", "status"),
        ("labels", "metadata.labels"),
        ("annotations", "metadata.annotations"),
    ] {
        context.add_variable_from_value(name, part(path));
    }
    context.add_variable_from_value("conditions", conditions(object));
    if predicate.source().contains("nodes") {
        context.add_variable_from_value("nodes", nodes(timeline, version.place.seq));
    }
    context
        .add_function("quantity", |value: Cel| -> Result<f64, ExecutionError> {
            let number = match &value {
                Cel::Int(number) => Some(*number as f64),
                Cel::UInt(number) => Some(*number as f64),
                Cel::Float(number) => Some(*number),
                Cel::String(text) => quantity::parse(text),
                _ => None,
            };
            number.ok_or_else(|| ExecutionError::function_error("quantity", "not a quantity"))
        })
        .map_err(|error| ExecutionError::function_error("quantity", error.to_string()))?;
    predicate.program().execute(&context)
}

fn conditions(object: &Value) -> Cel {
    let map: BTreeMap<String, Cel> = crate::json::items(object, "status.conditions")
        .iter()
        .filter_map(|condition| {
            Some((
                crate::json::text(condition, "type")?.to_owned(),
                cel(condition),
            ))
        })
        .collect();
    cel_map(map)
}

/// The nodes as they were at that point of the log.
fn nodes(timeline: &Timeline, seq: u64) -> Cel {
    let nodes: Vec<Cel> = timeline
        .objects
        .of_kind("Node")
        .filter_map(|(_, lives)| lives.iter().rev().find_map(|life| life.as_of(seq)))
        .map(|version| cel(&version.object))
        .collect();
    Cel::List(Arc::new(nodes))
}

/// JSON as CEL. Whole numbers become `int`, so that they compare with literals.
fn cel(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(truth) => Cel::Bool(*truth),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Cel::Int(whole),
            None => Cel::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Cel::String(Arc::new(text.clone())),
        Value::Array(items) => Cel::List(Arc::new(items.iter().map(cel).collect())),
        Value::Object(map) => cel_map(
            map.iter()
                .map(|(key, value)| (key.clone(), cel(value)))
                .collect(),
        ),
    }
}

fn cel_map(map: BTreeMap<String, Cel>) -> Cel {
    Cel::from(
        map.into_iter()
            .collect::<std::collections::HashMap<String, Cel>>(),
    )
}
