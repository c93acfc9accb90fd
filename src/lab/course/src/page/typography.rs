//! Typography of running text: the apostrophe ’ in every language, and in French a no-break space before the high signs and
//! inside guillemets, so that no line begins with « ? ».

use crate::{catalogue::Language, finding::Findings};
use comrak::nodes::{AstNode, NodeValue};

const NO_BREAK: [char; 2] = ['\u{a0}', '\u{202f}'];

/// Checks the running text below `root`; code is left alone.
pub(crate) fn check<'a>(
    file: &str,
    root: &'a AstNode<'a>,
    language: Language,
    findings: &mut Findings,
) {
    for node in root.descendants() {
        let data = node.data();
        let NodeValue::Text(text) = &data.value else {
            continue;
        };
        let line = u32::try_from(data.sourcepos.start.line).unwrap_or(0);
        let at_start = node.previous_sibling().is_none();
        if let Some(fault) = fault(text, language, at_start) {
            findings.add(file, line, fault);
        }
    }
}

/// Checks a message catalogue line by line, leaving `{ … }`, back-quoted code and comments alone.
pub(crate) fn check_message(file: &str, text: &str, language: Language, findings: &mut Findings) {
    for (number, line) in (1u32..).zip(text.lines()) {
        if line.starts_with('#') {
            continue;
        }
        let value = line.split_once('=').map_or(line, |(_, value)| value);
        let mut running = String::new();
        let mut skipping: Option<char> = None;
        for letter in value.chars() {
            match (skipping, letter) {
                (None, '{') => skipping = Some('}'),
                (None, '`') => skipping = Some('`'),
                (Some(end), found) if end == found => {
                    skipping = None;
                    running.push('x');
                }
                (None, other) => running.push(other),
                (Some(_), _) => {}
            }
        }
        if let Some(fault) = fault(&running, language, false) {
            findings.add(file, number, fault);
        }
    }
}

/// The first fault of a run of text. `at_start`: nothing stands before it on its line.
fn fault(text: &str, language: Language, at_start: bool) -> Option<String> {
    let letters: Vec<char> = text.chars().collect();
    if letters.windows(3).any(straight_apostrophe) {
        return Some("the apostrophe of running text is `’` (U+2019)".to_owned());
    }
    match language {
        Language::Fr => missing_space(&letters, at_start),
        Language::En => None,
    }
}

fn straight_apostrophe(letters: &[char]) -> bool {
    matches!(letters, [before, '\'', after] if before.is_alphabetic() && after.is_alphabetic())
}

fn missing_space(letters: &[char], at_start: bool) -> Option<String> {
    for (index, letter) in letters.iter().copied().enumerate() {
        let before = index.checked_sub(1).and_then(|at| letters.get(at)).copied();
        let after = letters.get(index + 1).copied();
        let ends = after.is_none_or(|next| next.is_whitespace() || "?!)»…,.".contains(next));
        let high = matches!(letter, ';' | '?' | '!' | ':') && ends || letter == '»';
        if high && needs_space(before, at_start) {
            return Some(format!(
                "French: a no-break space (U+00A0) is expected before `{letter}`"
            ));
        }
        if letter == '«' && !after.is_some_and(|next| NO_BREAK.contains(&next)) {
            return Some("French: a no-break space (U+00A0) is expected after `«`".to_owned());
        }
    }
    None
}

fn needs_space(before: Option<char>, at_start: bool) -> bool {
    match before {
        None => !at_start,
        Some(letter) => !NO_BREAK.contains(&letter) && !"?!".contains(letter),
    }
}
