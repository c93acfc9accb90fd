//! The Markdown of one step → typed blocks with safe HTML inside. The page's templates decide how a block looks;
//! this room decides what may be in it.

mod blocks;
mod html;
mod links;
mod typography;

use crate::{
    catalogue::Language,
    finding::Findings,
    ids::{QuestionId, StepId},
    rules::{Question, QuestionKind},
};
use std::collections::BTreeMap;

pub use html::SafeHtml;
pub(crate) use typography::check_message;

/// One step in one language.
#[derive(Clone, Debug, Default)]
pub struct StepPage {
    /// The text of the `#` heading.
    pub title: String,
    pub blocks: Vec<Block>,
}

impl StepPage {
    /// `##` sections as (anchor, text), for a table of contents.
    pub fn sections(&self) -> impl Iterator<Item = (&str, &str)> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Heading {
                level: 2,
                anchor,
                text,
                ..
            } => Some((anchor.as_str(), text.as_str())),
            _ => None,
        })
    }

    /// Every command that can be run in the terminal, in order, also inside folds and callouts.
    pub fn commands(&self) -> Vec<&str> {
        let mut found = Vec::new();
        collect_commands(&self.blocks, &mut found);
        found
    }

    /// Every question of the page, in order.
    pub fn questions(&self) -> Vec<&QuestionId> {
        let mut found = Vec::new();
        collect_questions(&self.blocks, &mut found);
        found
    }
}

fn collect_commands<'a>(blocks: &'a [Block], into: &mut Vec<&'a str>) {
    for block in blocks {
        match block {
            Block::Command {
                text, run: true, ..
            } => into.push(text),
            Block::Fold { blocks, .. } | Block::Callout { blocks, .. } => {
                collect_commands(blocks, into);
            }
            _ => {}
        }
    }
}

fn collect_questions<'a>(blocks: &'a [Block], into: &mut Vec<&'a QuestionId>) {
    for block in blocks {
        match block {
            Block::Question { id, .. } => into.push(id),
            Block::Fold { blocks, .. } | Block::Callout { blocks, .. } => {
                collect_questions(blocks, into);
            }
            _ => {}
        }
    }
}

/// A piece of a step's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Paragraphs, lists, tables, quotations.
    Html(SafeHtml),
    /// `level` is 2 or 3; `anchor` is unique on the page.
    Heading {
        level: u8,
        anchor: String,
        text: String,
        html: SafeHtml,
    },
    /// Shell commands: copyable, and when `run` also sent to the terminal.
    Command {
        lang: String,
        text: String,
        run: bool,
    },
    /// A file or fragment to read and copy.
    Listing(Listing),
    /// What a command prints.
    Output { text: String },
    /// A text diagram, read aloud by its caption.
    Diagram { caption: String, text: String },
    Question {
        id: QuestionId,
        kind: QuestionKind,
        prediction: bool,
        prompt: SafeHtml,
        choices: Vec<Choice>,
    },
    /// Folded until asked for.
    Fold {
        kind: FoldKind,
        title: String,
        blocks: Vec<Self>,
    },
    /// Set apart from the text. `title` is empty when the kind's own word is enough.
    Callout {
        kind: CalloutKind,
        title: String,
        blocks: Vec<Self>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    pub lang: String,
    /// The file of the working folder that this is, when it is one.
    pub file: Option<String>,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub id: String,
    pub label: SafeHtml,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldKind {
    /// One rung of a ladder.
    Hint,
    /// Going further.
    More,
    /// When it does not work.
    Trouble,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalloutKind {
    Note,
    Warning,
    Expected,
    Why,
}

/// What a page may refer to.
pub(crate) struct Surroundings<'a> {
    pub(crate) language: Language,
    pub(crate) questions: &'a [Question],
    pub(crate) steps: &'a [StepId],
    /// Path in `files/` → text.
    pub(crate) files: &'a BTreeMap<String, String>,
}

/// Reads one Markdown file. Complaints are added; the page holds what could be read.
pub(crate) fn page(
    file: &str,
    text: &str,
    around: &Surroundings<'_>,
    findings: &mut Findings,
) -> StepPage {
    let page = blocks::read(file, text, around, findings);
    let asked: Vec<&QuestionId> = page.questions();
    for question in around.questions {
        match asked.iter().filter(|id| ***id == question.id).count() {
            1 => {}
            0 => findings.add(
                file,
                0,
                format!(
                    "question `{}` is not asked; expected `:::question {}`",
                    question.id, question.id
                ),
            ),
            _ => findings.add(
                file,
                0,
                format!("question `{}` is asked twice", question.id),
            ),
        }
    }
    page
}
