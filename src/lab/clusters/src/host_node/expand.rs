//! `$(NAME)` in commands, arguments and environment values, with the rules of Kubernetes: unknown names stay as they are
//! and `$$` stands for one dollar sign.

use std::collections::BTreeMap;

/// The text with every known reference replaced.
pub(super) fn expand(text: &str, known: &BTreeMap<String, String>) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        expanded.push_str(before);
        let (taken, piece) = reference(from, known);
        expanded.push_str(&piece);
        rest = from.get(taken..).unwrap_or_default();
    }
    expanded.push_str(rest);
    expanded
}

/// What the text that begins with a dollar sign stands for, and how many bytes of it that takes.
fn reference(from: &str, known: &BTreeMap<String, String>) -> (usize, String) {
    if from.starts_with("$$") {
        return (2, "$".to_owned());
    }
    let name = from
        .strip_prefix("$(")
        .and_then(|inner| inner.split_once(')'))
        .map(|(name, _)| name);
    match name {
        Some(name) => {
            let length = name.len() + 3;
            let whole = from.get(..length).unwrap_or_default();
            (
                length,
                known.get(name).cloned().unwrap_or_else(|| whole.to_owned()),
            )
        }
        None => (1, "$".to_owned()),
    }
}
