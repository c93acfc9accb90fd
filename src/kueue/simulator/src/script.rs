//! The language of scripts: text becomes statements, and a statement becomes a command or an error that names its line and says
//! what was expected. `LANGUAGE.md` beside the sources describes it for people; start reading at [`split`].

mod command;
mod node;
mod objects;
mod pods;
mod queues;
mod words;

pub use command::{Change, Command, Kind, Setting, View, parse};
pub use objects::Object;
pub(crate) use queues::{door, put};

/// Something in a script that cannot be understood or carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct ScriptError {
    /// The name of the script.
    pub file: String,
    /// Counted from one.
    pub line: usize,
    /// What is wrong and what would be right.
    pub problem: String,
}

/// A problem whose line is known and whose file is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Counted from one.
    pub line: usize,
    /// What is wrong and what would be right.
    pub problem: String,
}

impl Problem {
    pub(crate) fn new(line: usize, problem: impl Into<String>) -> Self {
        let problem = problem.into();
        Self { line, problem }
    }

    /// The same with the name of the script.
    #[must_use]
    pub fn in_file(self, file: &str) -> ScriptError {
        let Self { line, problem } = self;
        ScriptError {
            file: file.to_owned(),
            line,
            problem,
        }
    }
}

/// One sentence of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Where it begins.
    pub line: usize,
    /// Its lines as they were written.
    pub text: String,
    /// What it consists of.
    pub body: Body,
}

/// What a sentence consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A head, and settings after commas or on indented lines.
    Clauses(Vec<Clause>),
    /// Text for the reader.
    Say(String),
    /// Objects as people write them for a cluster.
    Yaml(String),
}

/// Words up to a comma or the end of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Where it stands.
    pub line: usize,
    /// Its words.
    pub words: Vec<String>,
}

/// Cuts a script into statements. Nothing is refused here.
#[must_use]
pub fn split(text: &str) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    while let Some((line, raw)) = lines.next() {
        if raw.trim_end() == "---" {
            let documents = lines
                .by_ref()
                .map(|(_, text)| text)
                .take_while(|text| text.trim_end() != "...");
            let yaml = documents.collect::<Vec<_>>().join("\n");
            statements.push(Statement {
                line,
                text: format!("---\n{yaml}\n..."),
                body: Body::Yaml(yaml),
            });
            continue;
        }
        if let Some(said) = raw.strip_prefix("say") {
            let body = Body::Say(said.trim().to_owned());
            statements.push(statement(line, raw, body));
            continue;
        }
        let clauses = clauses(line, raw);
        if clauses.is_empty() {
            continue;
        }
        let indented = raw.starts_with([' ', '\t']);
        match statements.last_mut() {
            Some(Statement {
                text,
                body: Body::Clauses(before),
                ..
            }) if indented => {
                before.extend(clauses);
                text.push('\n');
                text.push_str(raw);
            }
            _ => statements.push(statement(line, raw, Body::Clauses(clauses))),
        }
    }
    statements
}

fn statement(line: usize, raw: &str, body: Body) -> Statement {
    Statement {
        line,
        text: raw.to_owned(),
        body,
    }
}

fn clauses(line: usize, raw: &str) -> Vec<Clause> {
    let code = raw.split('#').next().unwrap_or_default();
    let parts = code.split(',').map(|part| Clause {
        line,
        words: part.split_whitespace().map(str::to_owned).collect(),
    });
    parts.filter(|clause| !clause.words.is_empty()).collect()
}
