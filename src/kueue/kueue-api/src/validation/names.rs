//! Forms of names, labels and annotations that Kubernetes prescribes, and the texts that explain them.

use std::collections::BTreeMap;

use crate::field::{FieldError, Path};

const LABEL_KEY: &str = "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
const NAME: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// What a subdomain looks like, as the API machinery says it.
pub const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const MAX_NAME: usize = 63;
const MAX_SUBDOMAIN: usize = 253;

/// A label key, resource name or annotation key: `[subdomain/]name`.
#[must_use]
pub fn is_qualified_name(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => is_subdomain(prefix) && is_name(name),
        None => is_name(text),
    }
}

/// Everything that is wrong with a qualified name, as the API machinery says it.
#[must_use]
pub fn qualified_name_faults(text: &str) -> Vec<String> {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    let mut faults = Vec::new();
    if let Some(prefix) = prefix {
        if prefix.is_empty() {
            faults.push("prefix part must be non-empty".to_owned());
        } else if !is_subdomain(prefix) {
            faults.push(format!("prefix part {SUBDOMAIN}"));
        }
    }
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    } else if name.len() > MAX_NAME {
        faults.push(format!("name part must be no more than {MAX_NAME} bytes"));
    }
    if !is_name(name.get(..MAX_NAME).unwrap_or(name)) {
        faults.push(format!("name part {NAME}"));
    }
    faults
}

/// A label's value; the empty one is valid.
#[must_use]
pub fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_name(text)
}

/// RFC 1123 subdomain, as most object names are.
#[must_use]
pub fn is_subdomain(text: &str) -> bool {
    let part = |part: &str| {
        let fine = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        !part.is_empty() && part.bytes().all(|b| fine(b) || b == b'-') && ends(part, fine)
    };
    !text.is_empty() && text.len() <= MAX_SUBDOMAIN && text.split('.').all(part)
}

fn is_name(text: &str) -> bool {
    let fine = |b: u8| b.is_ascii_alphanumeric();
    !text.is_empty()
        && text.len() <= MAX_NAME
        && text.bytes().all(|b| fine(b) || b"-_.".contains(&b))
        && ends(text, fine)
}

fn ends(text: &str, fine: impl Fn(u8) -> bool) -> bool {
    text.bytes().next().is_some_and(&fine) && text.bytes().last().is_some_and(&fine)
}

pub(super) fn label_key(path: &Path, key: &str) -> Option<FieldError> {
    (!is_qualified_name(key)).then(|| FieldError::invalid(path, key, LABEL_KEY))
}

pub(super) fn label_value(path: &Path, value: &str) -> Option<FieldError> {
    (!is_label_value(value)).then(|| FieldError::invalid(path, value, LABEL_VALUE))
}

/// Faults of a map of labels, all at the path of the map.
pub(super) fn labels(path: &Path, labels: Option<&BTreeMap<String, String>>) -> Vec<FieldError> {
    let pairs = labels.into_iter().flatten();
    pairs
        .flat_map(|(key, value)| [label_key(path, key), label_value(path, value)])
        .flatten()
        .collect()
}

/// Faults of annotation keys; they may be written in any case.
pub(super) fn annotations(
    path: &Path,
    annotations: Option<&BTreeMap<String, String>>,
) -> Vec<FieldError> {
    let keys = annotations.into_iter().flatten().map(|(key, _)| key);
    keys.filter(|key| !is_qualified_name(&key.to_lowercase()))
        .map(|key| FieldError::invalid(path, key.as_str(), LABEL_KEY))
        .collect()
}
