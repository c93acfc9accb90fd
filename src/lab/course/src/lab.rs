//! A whole lab out of the texts of its folder, and all the checks that need more than one file.

use crate::{
    catalogue::{Args, Catalogue, CriterionText, Language, Telling},
    finding::Findings,
    ids::StepId,
    page::{self, StepPage, Surroundings},
    read,
    rules::{LabRules, Rule, RuleKind},
    trial,
};
use std::collections::BTreeMap;

/// The texts of a lab's folder: path below the folder (`fr/messages.ftl`) → text.
#[derive(Clone, Debug, Default)]
pub struct LabSource {
    /// The folder's own name.
    pub folder: String,
    pub files: BTreeMap<String, String>,
}

/// What the rest of the course offers to a lab.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Names of `labs/profiles/*.yaml`.
    pub profiles: Vec<String>,
}

/// A lab without faults.
#[derive(Debug)]
pub struct Lab {
    pub rules: LabRules,
    fr: LabTexts,
    en: LabTexts,
}

/// A lab's prose in one language.
#[derive(Debug)]
pub struct LabTexts {
    language: Language,
    catalogue: Catalogue,
    pages: BTreeMap<StepId, StepPage>,
}

impl LabTexts {
    pub fn title(&self) -> String {
        self.catalogue
            .value("lab-title", &Args::new())
            .unwrap_or_default()
    }

    pub fn summary(&self) -> String {
        self.catalogue
            .value("lab-summary", &Args::new())
            .unwrap_or_default()
    }

    /// What one will be able to do afterwards.
    pub fn goals(&self) -> Vec<String> {
        let goals = self
            .catalogue
            .value("lab-goals", &Args::new())
            .unwrap_or_default();
        goals
            .split(';')
            .map(|goal| {
                goal.trim_matches([' ', '\u{a0}', '\u{202f}', '\n'])
                    .to_owned()
            })
            .collect()
    }

    pub fn page(&self, step: &StepId) -> Option<&StepPage> {
        self.pages.get(step)
    }

    pub fn criterion(&self, id: &str, telling: &Telling<'_>) -> CriterionText {
        self.catalogue.criterion(self.language, id, telling)
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }
}

impl Lab {
    /// Reads and checks a lab.
    ///
    /// # Errors
    /// Everything that an author has to correct, each with file and line.
    pub fn read(source: &LabSource, known: &Known) -> Result<Self, Findings> {
        let mut findings = Findings::default();
        let lab = Self::read_into(source, known, &mut findings);
        match lab {
            Some(lab) if findings.is_empty() => Ok(lab),
            _ => Err(findings.sorted()),
        }
    }

    /// The logic alone, for tests of criteria and for grading from the record.
    ///
    /// # Errors
    /// What is wrong with `lab.yaml`.
    pub fn rules_only(text: &str, known: &Known) -> Result<LabRules, Findings> {
        let mut findings = Findings::default();
        let rules = read::rules("lab.yaml", text, &known.profiles, &mut findings);
        if let Some(rules) = &rules {
            answered(rules, &mut findings);
        }
        match rules {
            Some(rules) if findings.is_empty() => Ok(rules),
            _ => Err(findings.sorted()),
        }
    }

    pub fn texts(&self, language: Language) -> &LabTexts {
        match language {
            Language::Fr => &self.fr,
            Language::En => &self.en,
        }
    }

    fn read_into(source: &LabSource, known: &Known, findings: &mut Findings) -> Option<Self> {
        let Some(text) = source.files.get("lab.yaml") else {
            findings.add("lab.yaml", 0, "is missing");
            return None;
        };
        let rules = read::rules("lab.yaml", text, &known.profiles, findings)?;
        if rules.id.as_str() != source.folder {
            findings.add(
                "lab.yaml",
                1,
                format!(
                    "id `{}` must be the folder's name `{}`",
                    rules.id, source.folder
                ),
            );
        }
        answered(&rules, findings);
        for name in &rules.setup {
            if !source.files.contains_key(&format!("setup/{name}")) {
                findings.add(
                    "lab.yaml",
                    0,
                    format!("setup file `setup/{name}` does not exist"),
                );
            }
        }
        let fr = texts(source, &rules, Language::Fr, findings);
        let en = texts(source, &rules, Language::En, findings);
        same_commands(&rules, &fr, &en, findings);
        strangers(source, &rules, findings);
        trial::check(source, &rules, findings);
        Some(Self { rules, fr, en })
    }
}

fn texts(
    source: &LabSource,
    rules: &LabRules,
    language: Language,
    findings: &mut Findings,
) -> LabTexts {
    let file = format!("{}/messages.ftl", language.code());
    let text = source
        .files
        .get(&file)
        .map(String::as_str)
        .unwrap_or_else(|| {
            findings.add(
                &file,
                0,
                "is missing: the lab's titles and texts in this language",
            );
            ""
        });
    let catalogue = Catalogue::parse(&file, text, language, findings);
    page::check_message(&file, text, language, findings);
    messages(&file, rules, &catalogue, findings);
    let files: BTreeMap<String, String> = source
        .files
        .iter()
        .filter_map(|(path, text)| Some((path.strip_prefix("files/")?.to_owned(), text.clone())))
        .collect();
    let steps: Vec<StepId> = rules.steps.iter().map(|step| step.id.clone()).collect();
    let mut pages = BTreeMap::new();
    for step in &rules.steps {
        let file = format!("{}/{}.md", language.code(), step.id);
        match source.files.get(&file) {
            Some(text) => {
                let around = Surroundings {
                    language,
                    questions: &step.questions,
                    steps: &steps,
                    files: &files,
                };
                pages.insert(step.id.clone(), page::page(&file, text, &around, findings));
            }
            None => findings.add(
                &file,
                0,
                format!("is missing: step `{}` in this language", step.id),
            ),
        }
    }
    LabTexts {
        language,
        catalogue,
        pages,
    }
}

fn messages(file: &str, rules: &LabRules, catalogue: &Catalogue, findings: &mut Findings) {
    for key in ["lab-title", "lab-summary", "lab-goals"] {
        if !catalogue.has(key) {
            findings.add(file, 0, format!("message `{key}` is missing"));
        }
    }
    for (_, criterion) in rules.criteria() {
        let id = criterion.id.as_str();
        if !catalogue.has(id) {
            findings.add(
                file,
                0,
                format!(
                    "criterion `{id}` (lab.yaml:{}) has no message",
                    criterion.line
                ),
            );
            continue;
        }
        let says = criterion
            .hints
            .iter()
            .map(|hint| format!("say-{}", hint.say));
        for attribute in ["waiting".to_owned(), "failed".to_owned()]
            .into_iter()
            .chain(says)
        {
            if !catalogue.has_attribute(id, &attribute) {
                findings.add(file, 0, format!("message `{id}` lacks `.{attribute}`"));
            }
        }
    }
}

/// Every answer a criterion asks for has its question, and the other way round.
fn answered(rules: &LabRules, findings: &mut Findings) {
    for (_, criterion) in rules.criteria() {
        for question in asked(&criterion.rule) {
            if rules.question(question).is_none() {
                let what = format!(
                    "criterion `{}`: there is no question `{question}`",
                    criterion.id
                );
                findings.add("lab.yaml", criterion.line, what);
            }
        }
    }
}

fn asked(rule: &Rule) -> Vec<&str> {
    match &rule.kind {
        RuleKind::Answer { question, .. } => vec![question.as_str()],
        RuleKind::All(rules) | RuleKind::Any(rules) => rules.iter().flat_map(asked).collect(),
        _ => Vec::new(),
    }
}

fn same_commands(rules: &LabRules, fr: &LabTexts, en: &LabTexts, findings: &mut Findings) {
    for step in &rules.steps {
        let (Some(left), Some(right)) = (fr.page(&step.id), en.page(&step.id)) else {
            continue;
        };
        let (left, right) = (left.commands(), right.commands());
        if left == right {
            continue;
        }
        let differing = left.iter().zip(&right).find(|(a, b)| a != b);
        let what = match differing {
            Some((a, b)) => {
                format!("`run` blocks differ between languages: `{a}` in fr, `{b}` in en")
            }
            None => format!(
                "`run` blocks differ between languages: {} in fr, {} in en",
                left.len(),
                right.len()
            ),
        };
        findings.add(&format!("en/{}.md", step.id), 0, what);
    }
}

/// Files that nobody reads are misspelt names.
fn strangers(source: &LabSource, rules: &LabRules, findings: &mut Findings) {
    for path in source.files.keys() {
        let Some((folder, name)) = path.split_once('/') else {
            if path != "lab.yaml" && path != "README.md" {
                findings.add(path, 0, "is not part of a lab; see labs/FORMAT.md");
            }
            continue;
        };
        let known = match folder {
            "files" | "setup" | "solution" | "wrong" | "traces" => true,
            "fr" | "en" => {
                name == "messages.ftl"
                    || name
                        .strip_suffix(".md")
                        .is_some_and(|id| rules.steps.iter().any(|step| step.id.as_str() == id))
            }
            _ => false,
        };
        if !known {
            findings.add(
                path,
                0,
                "is not part of a lab: no step of that name, or an unknown folder",
            );
        }
    }
}
