//! Label selectors: whether they are well-formed, and what they match.

use std::collections::BTreeMap;

use super::names;
use crate::LabelSelector;
use crate::field::{FieldError, Path};

const OPERATORS: &str = "not a valid selector operator";

/// Faults of a selector.
#[must_use]
pub fn selector(path: &Path, selector: &LabelSelector) -> Vec<FieldError> {
    let mut errors = names::labels(&path.child("matchLabels"), selector.match_labels.as_ref());
    for (i, requirement) in selector.match_expressions.iter().flatten().enumerate() {
        let path = path.child("matchExpressions").index(i);
        let empty = requirement.values.as_ref().is_none_or(Vec::is_empty);
        match requirement.operator.as_str() {
            "In" | "NotIn" if empty => {
                errors.push(FieldError::required(
                    &path.child("values"),
                    "must be specified when `operator` is 'In' or 'NotIn'",
                ));
            }
            "Exists" | "DoesNotExist" if !empty => {
                errors.push(FieldError::forbidden(
                    &path.child("values"),
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                ));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => errors.push(FieldError::invalid(
                &path.child("operator"),
                other,
                OPERATORS,
            )),
        }
        errors.extend(names::label_key(&path.child("key"), &requirement.key));
        let values = requirement.values.iter().flatten().enumerate();
        errors
            .extend(values.filter_map(|(i, value)| {
                names::label_value(&path.child("values").index(i), value)
            }));
    }
    errors
}

/// Whether labels satisfy a selector. An empty selector matches everything; an operator nobody knows matches nothing.
#[must_use]
pub fn matches_selector(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    let equal = selector
        .match_labels
        .iter()
        .flatten()
        .all(|(key, value)| labels.get(key) == Some(value));
    equal
        && selector
            .match_expressions
            .iter()
            .flatten()
            .all(|requirement| {
                let value = labels.get(&requirement.key);
                let listed =
                    value.is_some_and(|v| requirement.values.iter().flatten().any(|w| w == v));
                match requirement.operator.as_str() {
                    "In" => listed,
                    "NotIn" => !listed,
                    "Exists" => value.is_some(),
                    "DoesNotExist" => value.is_none(),
                    _ => false,
                }
            })
}
