//! The keys of one YAML map: taken one by one, converted with a complaint that names the line, and the rest reported.

use super::tree::{Node, Tree};
use crate::{
    finding::{Findings, suggestion},
    predicate::Predicate,
};
use std::time::Duration;

/// A map being read. `what` says in complaints what the map is ("criterion `x`").
pub(crate) struct Fields<'a> {
    pub(crate) file: &'a str,
    pub(crate) line: u32,
    pub(crate) what: String,
    entries: Vec<(&'a str, &'a Node)>,
    asked: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(
        file: &'a str,
        node: &'a Node,
        what: &str,
        findings: &mut Findings,
    ) -> Option<Self> {
        let Tree::Map(entries) = &node.tree else {
            findings.add(
                file,
                node.line,
                format!("{what}: expected a map of keys, found {}", node.sort()),
            );
            return None;
        };
        let entries = entries
            .iter()
            .map(|(key, value)| (key.as_str(), value))
            .collect();
        Some(Self {
            file,
            line: node.line,
            what: what.to_owned(),
            entries,
            asked: Vec::new(),
        })
    }

    pub(crate) fn complain(&self, findings: &mut Findings, line: u32, what: impl AsRef<str>) {
        findings.add(self.file, line, format!("{}: {}", self.what, what.as_ref()));
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(name, _)| *name == key)
    }

    pub(crate) fn take(&mut self, key: &'static str) -> Option<&'a Node> {
        self.asked.push(key);
        let at = self.entries.iter().position(|(name, _)| *name == key)?;
        Some(self.entries.remove(at).1)
    }

    pub(crate) fn need(&mut self, key: &'static str, findings: &mut Findings) -> Option<&'a Node> {
        let found = self.take(key);
        if found.is_none() {
            self.complain(findings, self.line, format!("`{key}` is missing"));
        }
        found
    }

    pub(crate) fn text(
        &mut self,
        key: &'static str,
        findings: &mut Findings,
    ) -> Option<(String, u32)> {
        let node = self.take(key)?;
        self.as_text(key, node, findings)
    }

    pub(crate) fn need_text(
        &mut self,
        key: &'static str,
        findings: &mut Findings,
    ) -> Option<(String, u32)> {
        let node = self.need(key, findings)?;
        self.as_text(key, node, findings)
    }

    pub(crate) fn as_text(
        &self,
        key: &str,
        node: &Node,
        findings: &mut Findings,
    ) -> Option<(String, u32)> {
        match &node.tree {
            Tree::Text(text) if !text.trim().is_empty() => Some((text.clone(), node.line)),
            Tree::Int(number) => Some((number.to_string(), node.line)),
            _ => {
                self.complain(
                    findings,
                    node.line,
                    format!("`{key}` must be a text, found {}", node.sort()),
                );
                None
            }
        }
    }

    /// One text or a list of texts.
    pub(crate) fn texts(
        &mut self,
        key: &'static str,
        findings: &mut Findings,
    ) -> Vec<(String, u32)> {
        match self.take(key) {
            None => Vec::new(),
            Some(Node {
                tree: Tree::Seq(items),
                ..
            }) => items
                .iter()
                .filter_map(|item| self.as_text(key, item, findings))
                .collect(),
            Some(node) => self.as_text(key, node, findings).into_iter().collect(),
        }
    }

    pub(crate) fn number(
        &mut self,
        key: &'static str,
        least: u32,
        findings: &mut Findings,
    ) -> Option<u32> {
        let node = self.take(key)?;
        match node.tree {
            Tree::Int(value) if value >= i64::from(least) && value <= 100_000 => {
                u32::try_from(value).ok()
            }
            _ => {
                self.complain(
                    findings,
                    node.line,
                    format!(
                        "`{key}` must be a whole number of {least} or more, found {}",
                        node.sort()
                    ),
                );
                None
            }
        }
    }

    pub(crate) fn need_number(
        &mut self,
        key: &'static str,
        least: u32,
        findings: &mut Findings,
    ) -> Option<u32> {
        if self.has(key) {
            return self.number(key, least, findings);
        }
        self.need(key, findings);
        None
    }

    pub(crate) fn flag(&mut self, key: &'static str, findings: &mut Findings) -> Option<bool> {
        let node = self.take(key)?;
        if let Tree::Bool(value) = node.tree {
            return Some(value);
        }
        self.complain(
            findings,
            node.line,
            format!("`{key}` must be true or false, found {}", node.sort()),
        );
        None
    }

    pub(crate) fn duration(
        &mut self,
        key: &'static str,
        findings: &mut Findings,
    ) -> Option<Duration> {
        let (text, line) = self.text(key, findings)?;
        let parsed = duration(&text);
        if parsed.is_none() {
            self.complain(
                findings,
                line,
                format!("`{key}: {text}` is not a duration such as 10s, 2m or 500ms"),
            );
        }
        parsed
    }

    pub(crate) fn predicate(
        &mut self,
        key: &'static str,
        findings: &mut Findings,
    ) -> Option<Predicate> {
        let (text, line) = self.text(key, findings)?;
        match Predicate::compile(&text) {
            Ok(predicate) => Some(predicate),
            Err(reason) => {
                self.complain(findings, line, format!("`{key}`: {reason}"));
                None
            }
        }
    }

    pub(crate) fn list(&mut self, key: &'static str, findings: &mut Findings) -> &'a [Node] {
        match self.take(key) {
            Some(Node {
                tree: Tree::Seq(items),
                ..
            }) => items,
            Some(node) => {
                self.complain(
                    findings,
                    node.line,
                    format!("`{key}` must be a list, found {}", node.sort()),
                );
                &[]
            }
            None => &[],
        }
    }

    /// After a complaint about the whole map: its keys need no further ones.
    pub(crate) fn forget(&mut self) {
        self.entries.clear();
    }

    /// Reports the keys that nobody asked for.
    pub(crate) fn finish(self, findings: &mut Findings) {
        for (key, node) in &self.entries {
            let hint = suggestion(key, &self.asked);
            self.complain(findings, node.line, format!("unknown key `{key}`; {hint}"));
        }
    }
}

/// `10s`, `2m`, `500ms`, `1h`.
fn duration(text: &str) -> Option<Duration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let number: u64 = number.parse().ok()?;
    let millis = match unit {
        "ms" => number,
        "s" => number.checked_mul(1_000)?,
        "m" => number.checked_mul(60_000)?,
        "h" => number.checked_mul(3_600_000)?,
        _ => return None,
    };
    (millis > 0).then(|| Duration::from_millis(millis))
}
