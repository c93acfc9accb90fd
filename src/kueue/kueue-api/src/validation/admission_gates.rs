//! The annotation `admission-gated-by`: names of controllers that hold a workload back, separated by commas.

use std::collections::BTreeSet;

use super::names::{SUBDOMAIN, is_subdomain};
use crate::ObjectMeta;
use crate::field::{FieldError, Path};
use crate::names::annotations::ADMISSION_GATED_BY;

/// Longest name of a gate, in bytes.
const MAX_GATE: usize = 63;
const PATH: &str = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";

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

/// What is wrong with the annotation itself: the first thing.
#[must_use]
pub fn format(meta: &ObjectMeta) -> Option<FieldError> {
    let text = value(meta)?;
    let gates = gates(text);
    let path = annotation(ADMISSION_GATED_BY);
    if let Some(fault) = gates.iter().find_map(|gate| gate_fault(&path, gate)) {
        return Some(fault);
    }
    let mut seen = BTreeSet::new();
    let twice = gates.iter().find(|gate| !seen.insert(**gate))?;
    let detail = format!("duplicate gate name: {twice}");
    Some(FieldError::invalid(&path, text, &detail))
}

fn gate_fault(path: &Path, gate: &str) -> Option<FieldError> {
    let Some((domain, rest)) = gate
        .split_once('/')
        .filter(|(domain, rest)| !domain.is_empty() && !rest.is_empty())
    else {
        let form = "must be a domain-prefixed path (such as \"acme.io/foo\")";
        return Some(FieldError::invalid(path, gate, form));
    };
    if gate.len() > MAX_GATE {
        return Some(FieldError::too_long(path, MAX_GATE));
    }
    if !is_subdomain(domain) {
        return Some(FieldError::invalid(path, domain, SUBDOMAIN));
    }
    let fine = |c: char| c.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:".contains(c);
    (!rest.chars().all(fine)).then(|| FieldError::invalid(path, rest, PATH))
}

/// Gates may only be taken away once the object exists.
#[must_use]
pub fn change(old: &ObjectMeta, new: &ObjectMeta) -> Option<FieldError> {
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
