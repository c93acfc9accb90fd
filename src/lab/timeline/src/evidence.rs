//! An entry as a line of evidence: names and values as the cluster wrote them, so that it reads the same in every language.

use crate::{entry::Verb, json};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// What a verdict rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    pub seq: u64,
    pub at: Timestamp,
    /// `MODIFIED Workload equipe-vision/job-chiffres-3 · QuotaReserved=False WaitingForQuota: couldn't assign flavors…`
    pub what: String,
}

/// Enough of an entry to describe it later.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) at: Timestamp,
    pub(crate) subject: Subject,
}

#[derive(Clone, Debug)]
pub(crate) enum Subject {
    Object {
        verb: Verb,
        name: String,
        before: Option<Arc<Value>>,
        after: Arc<Value>,
    },
    Plain(String),
}

/// Longer messages are cut: evidence is to be read.
const LONGEST: usize = 400;

impl Note {
    pub(crate) fn evidence(&self, seq: u64) -> Evidence {
        let what = match &self.subject {
            Subject::Plain(text) => text.clone(),
            Subject::Object {
                verb,
                name,
                before,
                after,
            } => {
                let verb = match verb {
                    Verb::Added => "ADDED",
                    Verb::Modified => "MODIFIED",
                    Verb::Deleted => "DELETED",
                };
                let mut parts = vec![format!("{verb} {name}")];
                if verb != "DELETED" {
                    parts.extend(changes(before.as_deref(), after));
                }
                parts.join(" · ")
            }
        };
        Evidence {
            seq,
            at: self.at,
            what: cut(what),
        }
    }
}

fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// Conditions that turned or changed their reason, and the few fields that tell a job's life.
fn changes(before: Option<&Value>, after: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for condition in json::items(after, "status.conditions") {
        let kind = json::text(condition, "type").unwrap_or_default();
        let told = |condition: &Value| {
            let part = |path: &str| json::text(condition, path).unwrap_or_default().to_owned();
            (part("status"), part("reason"), part("message"))
        };
        let now = told(condition);
        let was = before
            .and_then(|before| json::condition(before, kind))
            .map(told);
        if was.as_ref() != Some(&now) {
            let (status, reason, message) = now;
            let colon = if message.is_empty() { "" } else { ": " };
            found.push(format!("{kind}={status} {reason}{colon}{message}"));
        }
    }
    for path in [
        "spec.suspend",
        "spec.active",
        "spec.nodeName",
        "status.phase",
        "status.admission.clusterQueue",
    ] {
        let (was, now) = (
            before.and_then(|before| json::at(before, path)),
            json::at(after, path),
        );
        if let Some(now) = now.filter(|now| was != Some(*now)) {
            let shown = now.as_str().map_or_else(|| now.to_string(), str::to_owned);
            found.push(format!("{path}={shown}"));
        }
    }
    let spec_changed = before.is_some_and(|before| before.get("spec") != after.get("spec"));
    if found.is_empty() && spec_changed {
        found.push("spec".to_owned());
    }
    found
}
