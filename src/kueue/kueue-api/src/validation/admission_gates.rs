//! The annotation `admission-gated-by`: names of controllers that hold a workload back, separated by commas.

use std::collections::BTreeSet;

use super::names::is_subdomain;
use crate::ObjectMeta;
use crate::field::{FieldError, Path};
use crate::names::annotations::ADMISSION_GATED_BY;

/// Path of an annotation.
pub(super) fn annotation(key: &str) -> Path {
    Path::new("metadata").child("annotations").key(key)
}

fn value(meta: &ObjectMeta) -> Option<&str> {
    meta.annotations
        .as_ref()?
        .get(ADMISSION_GATED_BY)
        .map(String::as_str)
}

fn gates(text: &str) -> Vec<&str> {
    text.split(',')
        .map(str::trim)
        .filter(|gate| !gate.is_empty())
        .collect()
}

/// What is wrong with the annotation itself.
pub(super) fn format(meta: &ObjectMeta) -> Option<FieldError> {
    let text = value(meta)?;
    let gates = gates(text);
    let path = annotation(ADMISSION_GATED_BY);
    if let Some(wrong) = gates.iter().find(|gate| !is_domain_path(gate)) {
        return Some(FieldError::invalid(
            &path,
            text,
            &format!("gate {wrong:?} must have the form \"subdomain/path\""),
        ));
    }
    let distinct: BTreeSet<_> = gates.iter().collect();
    (distinct.len() != gates.len())
        .then(|| FieldError::invalid(&path, text, "must not name a gate twice"))
}

/// Gates may only be taken away once the object exists.
pub(super) fn change(old: &ObjectMeta, new: &ObjectMeta) -> Option<FieldError> {
    let path = annotation(ADMISSION_GATED_BY);
    let (was, is) = (
        gates(value(old).unwrap_or_default()),
        gates(value(new).unwrap_or_default()),
    );
    if was.is_empty() && !is.is_empty() {
        return Some(FieldError::forbidden(
            &path,
            "cannot add admission gate after creation",
        ));
    }
    let added = is.iter().any(|gate| !was.contains(gate));
    added.then(|| FieldError::forbidden(&path, "can only remove gates, not add new ones"))
}

fn is_domain_path(gate: &str) -> bool {
    let path_character = |c: char| c.is_ascii_alphanumeric() || "/%:@._~!$&'()*+,;=-".contains(c);
    gate.split_once('/').is_some_and(|(domain, path)| {
        is_subdomain(domain) && !path.is_empty() && path.chars().all(path_character)
    })
}
