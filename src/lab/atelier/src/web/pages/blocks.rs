//! The typed blocks of a step as HTML.

use std::collections::BTreeMap;

use askama::Template;
use course::{Block, CalloutKind, FoldKind, QuestionId, QuestionKind};
use serde_json::Value;

use crate::web::words::Words;

/// Blocks with what their looks depend on.
#[derive(Debug, Template)]
#[template(path = "lab/blocks.html")]
pub struct Blocks<'a> {
    pub words: &'a Words,
    pub lab_id: &'a str,
    pub blocks: &'a [Block],
    /// The trainee's answers so far.
    pub answers: &'a BTreeMap<String, Value>,
}

#[expect(clippy::unused_self, reason = "templates call through self")]
impl<'a> Blocks<'a> {
    fn inner(&self, blocks: &'a [Block]) -> Self {
        Blocks {
            words: self.words,
            lab_id: self.lab_id,
            blocks,
            answers: self.answers,
        }
    }

    fn given(&self, question: &QuestionId) -> String {
        self.answers
            .get(question.as_str())
            .map(spoken)
            .unwrap_or_default()
    }

    fn chose(&self, question: &QuestionId, choice: &str) -> bool {
        match self.answers.get(question.as_str()) {
            Some(Value::String(given)) => given == choice,
            Some(Value::Array(given)) => given.iter().any(|one| one.as_str() == Some(choice)),
            _ => false,
        }
    }

    fn kind(&self, kind: &QuestionKind) -> &'static str {
        match kind {
            QuestionKind::Number => "number",
            QuestionKind::Text => "text",
            QuestionKind::Choice(_) => "choice",
            QuestionKind::Choices(_) => "choices",
        }
    }

    fn fold(&self, kind: &FoldKind) -> &'static str {
        match kind {
            FoldKind::Hint => "hint",
            FoldKind::More => "more",
            FoldKind::Trouble => "trouble",
        }
    }

    fn fold_word(&self, kind: &FoldKind) -> &'static str {
        match kind {
            FoldKind::Hint => "fold-hint",
            FoldKind::More => "fold-more",
            FoldKind::Trouble => "fold-trouble",
        }
    }

    fn callout(&self, kind: &CalloutKind) -> &'static str {
        match kind {
            CalloutKind::Note => "note-box",
            CalloutKind::Warning => "warning",
            CalloutKind::Expected => "expected",
            CalloutKind::Why => "why",
        }
    }

    fn callout_word(&self, kind: &CalloutKind) -> &'static str {
        match kind {
            CalloutKind::Note => "callout-note",
            CalloutKind::Warning => "callout-warning",
            CalloutKind::Expected => "callout-expected",
            CalloutKind::Why => "callout-why",
        }
    }
}

/// An answer as people would say it.
#[must_use]
pub fn spoken(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(spoken).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
