//! Checks of the annotations that ask for a placement, for every pod template of a job and for templates that form a group.
//! Reference section 5.1 ("TAS annotation validation").

use std::collections::BTreeMap;

use kueue_api::field::{FieldError, Path};
use kueue_api::names::annotations as keys;
use kueue_api::v1beta2::{PodSet, SliceTopologyConstraint};
use kueue_api::validation::is_qualified_name;
use serde_json::Value;

use crate::topology_request::{MOST_LAYERS, layers};

/// The annotations of which at most one may be there.
const MODES: [&str; 3] = [
    keys::POD_SET_REQUIRED_TOPOLOGY,
    keys::POD_SET_PREFERRED_TOPOLOGY,
    keys::POD_SET_UNCONSTRAINED_TOPOLOGY,
];

const LABEL_NAME: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/// A template's place in its object, and the podset made from it.
#[derive(Clone, Debug)]
pub struct Template {
    /// Path of the template's metadata.
    pub path: Path,
    /// The podset.
    pub pod_set: PodSet,
}

const GATED: &str = "the TASMultiLayerTopology feature gate must be enabled to use this annotation";

/// What is wrong with the templates of a job. `layers` is the gate `TASMultiLayerTopology`: slices may be inside each other.
#[must_use]
pub fn problems(templates: &[Template], layers: bool) -> Vec<FieldError> {
    let mut found = problems_of_each(templates, layers);
    found.extend(groups(templates));
    found
}

/// The same for templates that form no groups.
#[must_use]
pub fn problems_of_each(templates: &[Template], layers: bool) -> Vec<FieldError> {
    let each = templates.iter();
    each.flat_map(|one| of_template(one, layers)).collect()
}

struct Notes<'a> {
    path: Path,
    all: &'a BTreeMap<String, String>,
}

impl Notes<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.all.get(key).map(String::as_str)
    }

    fn invalid(&self, key: &str, detail: &str) -> FieldError {
        FieldError::invalid(
            &self.path.key(key),
            self.get(key).unwrap_or_default(),
            detail,
        )
    }

    fn forbidden(&self, key: &str, detail: &str) -> FieldError {
        FieldError::forbidden(&self.path.key(key), detail)
    }
}

fn notes(template: &Template) -> Option<Notes<'_>> {
    let meta = template.pod_set.template.metadata.as_ref()?;
    Some(Notes {
        path: template.path.child("annotations"),
        all: meta.annotations.as_ref()?,
    })
}

fn of_template(template: &Template, layers: bool) -> Vec<FieldError> {
    let Some(notes) = notes(template) else {
        return Vec::new();
    };
    let count = template.pod_set.count;
    let mut found = mode(&notes);
    found.extend(slice(&notes, count));
    let key = keys::POD_SET_SLICE_CONSTRAINTS;
    if !layers && notes.get(key).is_some() {
        found.push(notes.forbidden(key, GATED));
    } else {
        found.extend(layered(&notes, count));
    }
    found.extend(group_name(&notes));
    found
}

fn mode(notes: &Notes<'_>) -> Vec<FieldError> {
    let mut found = Vec::new();
    if MODES.iter().filter(|key| notes.get(key).is_some()).count() > 1 {
        let names = MODES.map(|key| format!("{key:?}")).join(", ");
        found.push(FieldError::invalid(
            &notes.path,
            Value::Object(serde_json::Map::new()),
            &format!("must not contain more than one topology annotation: [{names}]"),
        ));
    }
    let levels = [
        keys::POD_SET_REQUIRED_TOPOLOGY,
        keys::POD_SET_PREFERRED_TOPOLOGY,
        keys::POD_SET_SLICE_REQUIRED_TOPOLOGY,
    ];
    for key in levels {
        if notes
            .get(key)
            .is_some_and(|value| !is_qualified_name(value))
        {
            found.push(notes.invalid(key, LABEL_NAME));
        }
    }
    let key = keys::POD_SET_UNCONSTRAINED_TOPOLOGY;
    if notes
        .get(key)
        .is_some_and(|value| value.parse::<bool>().is_err())
    {
        found.push(notes.invalid(key, "must be a boolean value"));
    }
    found
}

fn slice(notes: &Notes<'_>, count: i32) -> Vec<FieldError> {
    let (topology, size) = (
        notes.get(keys::POD_SET_SLICE_REQUIRED_TOPOLOGY),
        notes.get(keys::POD_SET_SLICE_SIZE),
    );
    let needs = |key: &str, other: &str| {
        notes.forbidden(
            key,
            &format!("may not be set when '{other}' is not specified"),
        )
    };
    match (topology, size) {
        (None, None) => Vec::new(),
        (Some(_), None) => vec![FieldError::required(
            &notes.path.key(keys::POD_SET_SLICE_SIZE),
            &format!(
                "must be set when '{}' is specified",
                keys::POD_SET_SLICE_REQUIRED_TOPOLOGY
            ),
        )],
        (None, Some(_)) => vec![needs(
            keys::POD_SET_SLICE_SIZE,
            keys::POD_SET_SLICE_REQUIRED_TOPOLOGY,
        )],
        (Some(_), Some(size)) => slice_size(notes, size, count).into_iter().collect(),
    }
}

fn slice_size(notes: &Notes<'_>, size: &str, count: i32) -> Option<FieldError> {
    let key = keys::POD_SET_SLICE_SIZE;
    match size.parse::<i32>() {
        Err(_) => Some(notes.invalid(key, "must be a numeric value")),
        Ok(size) if size < 1 => Some(notes.invalid(key, "must be greater than or equal to 1")),
        Ok(size) if size > count => Some(notes.invalid(
            key,
            &format!("must not be greater than pod set count {count}"),
        )),
        Ok(_) => None,
    }
}

/// An annotation that may not stand beside others.
fn excluded_by(notes: &Notes<'_>, key: &str, others: &[&str]) -> Vec<FieldError> {
    let there = others.iter().filter(|other| notes.get(other).is_some());
    there
        .map(|other| notes.forbidden(key, &format!("may not be set when '{other}' is specified")))
        .collect()
}

fn layered(notes: &Notes<'_>, count: i32) -> Vec<FieldError> {
    let key = keys::POD_SET_SLICE_CONSTRAINTS;
    let mut found = Vec::new();
    let Some(read) = layers(notes.all) else {
        return found;
    };
    found.extend(excluded_by(
        notes,
        key,
        &[
            keys::POD_SET_SLICE_REQUIRED_TOPOLOGY,
            keys::POD_SET_SLICE_SIZE,
            keys::POD_SET_GROUP_NAME,
        ],
    ));
    match read {
        Err(error) => found.push(notes.invalid(key, &error.to_string())),
        Ok(layers) => {
            found.extend(layer_problem(&layers, count).map(|why| notes.invalid(key, &why)));
        }
    }
    found
}

/// The first thing that is wrong with layers of slices.
fn layer_problem(layers: &[SliceTopologyConstraint], count: i32) -> Option<String> {
    debug_assert!(layers.len() <= MOST_LAYERS);
    let mut outer: Option<i32> = None;
    for (index, layer) in layers.iter().enumerate() {
        if layers[..index]
            .iter()
            .any(|other| other.topology == layer.topology)
        {
            return Some(format!("topology {:?} is there twice", layer.topology));
        }
        if layer.size < 1 {
            return Some("every size must be greater than or equal to 1".to_owned());
        }
        match outer {
            None if layer.size > count => {
                return Some(format!("must not be greater than pod set count {count}"));
            }
            Some(outer) if outer % layer.size != 0 => {
                return Some(format!("size {} does not divide {outer}", layer.size));
            }
            _ => {}
        }
        outer = Some(layer.size);
    }
    None
}

fn group_name(notes: &Notes<'_>) -> Vec<FieldError> {
    let key = keys::POD_SET_GROUP_NAME;
    let Some(name) = notes.get(key) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if name.parse::<u64>().is_ok() {
        found.push(notes.invalid(key, "must not be a number"));
    }
    let placed = [
        keys::POD_SET_REQUIRED_TOPOLOGY,
        keys::POD_SET_PREFERRED_TOPOLOGY,
    ];
    if placed.iter().all(|key| notes.get(key).is_none()) {
        found.push(notes.forbidden(
            key,
            &format!(
                "may not be set when neither '{}' nor '{}' is specified",
                placed[1], placed[0]
            ),
        ));
    }
    found.extend(excluded_by(
        notes,
        key,
        &[
            keys::POD_SET_SLICE_REQUIRED_TOPOLOGY,
            keys::POD_SET_SLICE_SIZE,
        ],
    ));
    found
}

/// Groups have two podsets, one of which is a single pod, and both ask for the same place.
fn groups(templates: &[Template]) -> Vec<FieldError> {
    let mut by_name: BTreeMap<&str, Vec<(&Template, Notes<'_>)>> = BTreeMap::new();
    for template in templates {
        let Some(notes) = notes(template) else {
            continue;
        };
        if let Some(name) = notes.all.get(keys::POD_SET_GROUP_NAME) {
            by_name.entry(name).or_default().push((template, notes));
        }
    }
    by_name
        .values()
        .flat_map(|members| group(members))
        .collect()
}

fn group(members: &[(&Template, Notes<'_>)]) -> Vec<FieldError> {
    let key = keys::POD_SET_GROUP_NAME;
    let all = |why: &str| -> Vec<FieldError> {
        members
            .iter()
            .map(|(_, notes)| notes.invalid(key, why))
            .collect()
    };
    let [(first, one), (second, other)] = members else {
        return all(&format!(
            "can only define groups of exactly 2 pod sets, got: {} pod set(s)",
            members.len()
        ));
    };
    if first.pod_set.count != 1 && second.pod_set.count != 1 {
        return all(&format!(
            "can only define groups where at least one pod set has only 1 replica, got: {} replica(s) and {} replica(s) in the group",
            first.pod_set.count, second.pod_set.count
        ));
    }
    let places = [
        keys::POD_SET_REQUIRED_TOPOLOGY,
        keys::POD_SET_PREFERRED_TOPOLOGY,
    ];
    if places.iter().all(|key| one.get(key) == other.get(key)) {
        return Vec::new();
    }
    let name = one.get(key).unwrap_or_default();
    let why = |own: &Notes<'_>, other: &Notes<'_>| {
        let detail = format!(
            "must specify '{}' or '{}' topology consistent with '{}' in group '{name}'",
            places[0], places[1], other.path
        );
        FieldError::invalid(&own.path, Value::Object(serde_json::Map::new()), &detail)
    };
    vec![why(one, other), why(other, one)]
}
