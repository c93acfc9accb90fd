//! What belongs to trying a lab out by machine: answers, and what a wrong answer is expected to break.

use crate::{
    finding::Findings,
    lab::LabSource,
    read::{Fields, Node, Tree},
    rules::LabRules,
};
use std::{collections::BTreeMap, time::Duration};

/// Question → value, from `answers.yaml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers(pub BTreeMap<String, serde_json::Value>);

impl Answers {
    /// # Errors
    /// When the text is not a map of question ids to values.
    pub fn read(file: &str, text: &str) -> Result<Self, Findings> {
        let mut findings = Findings::default();
        match Node::parse(text) {
            Ok(Node {
                tree: Tree::Map(entries),
                ..
            }) => {
                return Ok(Self(
                    entries
                        .iter()
                        .map(|(key, node)| (key.clone(), node.json()))
                        .collect(),
                ));
            }
            Ok(Node {
                tree: Tree::Null, ..
            }) => return Ok(Self::default()),
            Ok(other) => findings.add(
                file,
                other.line,
                format!("expected a map question: value, found {}", other.sort()),
            ),
            Err((line, reason)) => findings.add(file, line, reason),
        }
        Err(findings)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedState {
    Failed,
    Waiting,
    NotJudged,
}

/// What a wrong answer must lead to, from `expect.yaml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The criterion that must not pass.
    pub breaks: String,
    pub state: ExpectedState,
    pub reason: Option<String>,
    pub says: Option<String>,
    pub settle: Duration,
}

impl Expectation {
    /// # Errors
    /// What is wrong with the file.
    pub fn read(file: &str, text: &str, rules: &LabRules) -> Result<Self, Findings> {
        let mut findings = Findings::default();
        let read = Self::read_into(file, text, rules, &mut findings);
        match read {
            Some(expectation) if findings.is_empty() => Ok(expectation),
            _ => Err(findings),
        }
    }

    fn read_into(
        file: &str,
        text: &str,
        rules: &LabRules,
        findings: &mut Findings,
    ) -> Option<Self> {
        let node = match Node::parse(text) {
            Ok(node) => node,
            Err((line, reason)) => {
                findings.add(file, line, reason);
                return None;
            }
        };
        let mut fields = Fields::of(file, &node, "expectation", findings)?;
        let breaks = fields.need_text("breaks", findings);
        let state = fields.text("state", findings);
        let reason = fields.text("reason", findings).map(|(text, _)| text);
        let says = fields.text("says", findings).map(|(text, _)| text);
        let settle = fields
            .duration("settle", findings)
            .unwrap_or(Duration::from_secs(30));
        let (breaks, line) = breaks?;
        let criterion = rules.criterion(&breaks);
        if criterion.is_none() {
            fields.complain(findings, line, format!("there is no criterion `{breaks}`"));
        }
        if let (Some(criterion), Some(says)) = (criterion, &says)
            && !criterion.hints.iter().any(|hint| hint.say == *says)
        {
            fields.complain(
                findings,
                line,
                format!("criterion `{breaks}` has no hint `{says}`"),
            );
        }
        let state = match state.as_ref().map(|(text, _)| text.as_str()) {
            None | Some("failed") => ExpectedState::Failed,
            Some("waiting" | "pending") => ExpectedState::Waiting,
            Some("not-judged") => ExpectedState::NotJudged,
            Some(other) => {
                fields.complain(
                    findings,
                    line,
                    format!("`state: {other}` must be failed, waiting or not-judged"),
                );
                return None;
            }
        };
        fields.finish(findings);
        Some(Self {
            breaks,
            state,
            reason,
            says,
            settle,
        })
    }
}

/// Checks `solution/` and every folder of `wrong/`.
pub(crate) fn check(source: &LabSource, rules: &LabRules, findings: &mut Findings) {
    if !source.files.contains_key("solution/run.sh") {
        findings.add(
            "solution/run.sh",
            0,
            "is missing: a lab shows that it can be passed",
        );
    }
    answers(source, rules, "solution/answers.yaml", findings);
    for name in wrong_names(source) {
        let folder = format!("wrong/{name}");
        if !source.files.contains_key(&format!("{folder}/run.sh")) {
            findings.add(&format!("{folder}/run.sh"), 0, "is missing");
        }
        answers(source, rules, &format!("{folder}/answers.yaml"), findings);
        let file = format!("{folder}/expect.yaml");
        match source.files.get(&file) {
            Some(text) => {
                if let Err(more) = Expectation::read(&file, text, rules) {
                    findings.0.extend(more.0);
                }
            }
            None => findings.add(&file, 0, "is missing: which criterion must refuse this"),
        }
    }
}

/// The names of the wrong answers, sorted.
pub(crate) fn wrong_names(source: &LabSource) -> Vec<String> {
    let mut names: Vec<String> = source
        .files
        .keys()
        .filter_map(|path| Some(path.strip_prefix("wrong/")?.split_once('/')?.0.to_owned()))
        .collect();
    names.dedup();
    names
}

fn answers(source: &LabSource, rules: &LabRules, file: &str, findings: &mut Findings) {
    let Some(text) = source.files.get(file) else {
        return;
    };
    match Answers::read(file, text) {
        Ok(answers) => {
            for question in answers.0.keys().filter(|id| rules.question(id).is_none()) {
                findings.add(
                    file,
                    0,
                    format!("there is no question `{question}` in lab.yaml"),
                );
            }
        }
        Err(more) => findings.0.extend(more.0),
    }
}
