//! Message catalogues: one a language and lab (`messages.ftl`), and the engine's own sentences for every reason of a verdict.

use crate::finding::Findings;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue, concurrent::FluentBundle};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, collections::BTreeMap, fmt, sync::OnceLock};
use unic_langid::LanguageIdentifier;

/// The languages every lab exists in; French first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Fr,
    En,
}

impl Language {
    pub const ALL: [Self; 2] = [Self::Fr, Self::En];

    /// Folder name and language tag.
    pub fn code(self) -> &'static str {
        match self {
            Self::Fr => "fr",
            Self::En => "en",
        }
    }

    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|language| language.code() == code)
    }

    fn identifier(self) -> LanguageIdentifier {
        self.code().parse().unwrap_or_default()
    }
}

/// An argument of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Arg {
    Number(i64),
    Text(String),
}

impl From<&str> for Arg {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Arg {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

/// The arguments of a message, by name.
pub type Args = BTreeMap<String, Arg>;

/// What a verdict asks to be told.
#[derive(Clone, Copy, Debug)]
pub struct Telling<'a> {
    /// `passed`, `failed`, `waiting`, `pending` or `not-judged`.
    pub state: &'a str,
    /// The engine's reason, such as `still-queued`.
    pub reason: &'a str,
    /// The typical mistake that was recognised.
    pub say: Option<&'a str>,
    pub args: &'a Args,
}

/// What people read beside a criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CriterionText {
    /// The outcome, always the same.
    pub title: String,
    /// The lab's words for the present state; empty when it has none.
    pub text: String,
    /// What was seen, in the engine's words.
    pub detail: String,
}

/// A parsed `messages.ftl`.
pub struct Catalogue {
    bundle: FluentBundle<FluentResource>,
}

impl Catalogue {
    /// Parses; every syntax error becomes a finding.
    pub(crate) fn parse(
        file: &str,
        text: &str,
        language: Language,
        findings: &mut Findings,
    ) -> Self {
        let mut bundle = FluentBundle::new_concurrent(vec![language.identifier()]);
        bundle.set_use_isolating(false);
        let resource = match FluentResource::try_new(text.to_owned()) {
            Ok(resource) => resource,
            Err((resource, errors)) => {
                for error in errors {
                    let line = line_at(text, error.pos.start);
                    findings.add(file, line, format!("not a Fluent message: {}", error.kind));
                }
                resource
            }
        };
        if let Err(errors) = bundle.add_resource(resource) {
            for error in errors {
                findings.add(file, 0, format!("message defined twice: {error}"));
            }
        }
        Self { bundle }
    }

    pub fn has(&self, id: &str) -> bool {
        self.bundle
            .get_message(id)
            .is_some_and(|message| message.value().is_some())
    }

    pub fn has_attribute(&self, id: &str, attribute: &str) -> bool {
        self.bundle
            .get_message(id)
            .is_some_and(|message| message.get_attribute(attribute).is_some())
    }

    /// The message's own value.
    pub fn value(&self, id: &str, args: &Args) -> Option<String> {
        self.format(id, None, args)
    }

    pub fn attribute(&self, id: &str, attribute: &str, args: &Args) -> Option<String> {
        self.format(id, Some(attribute), args)
    }

    fn format(&self, id: &str, attribute: Option<&str>, args: &Args) -> Option<String> {
        let message = self.bundle.get_message(id)?;
        let pattern = match attribute {
            Some(name) => message.get_attribute(name)?.value(),
            None => message.value()?,
        };
        let mut fluent = FluentArgs::new();
        for (name, arg) in args {
            match arg {
                Arg::Number(number) => fluent.set(name.as_str(), *number),
                Arg::Text(text) => {
                    fluent.set(name.as_str(), FluentValue::String(Cow::Borrowed(text)));
                }
            }
        }
        let mut errors = Vec::new();
        Some(
            self.bundle
                .format_pattern(pattern, Some(&fluent), &mut errors)
                .into_owned(),
        )
    }

    /// What people read beside criterion `id`: the most particular text that the lab has, and the engine's sentence.
    pub fn criterion(&self, language: Language, id: &str, telling: &Telling<'_>) -> CriterionText {
        let Telling {
            state,
            reason,
            say,
            args,
        } = *telling;
        let family = if state == "pending" { "waiting" } else { state };
        let candidates = say
            .map(|name| format!("say-{name}"))
            .into_iter()
            .chain([format!("{family}-{reason}"), family.to_owned()]);
        let text = candidates
            .into_iter()
            .find_map(|attribute| self.attribute(id, &attribute, args));
        CriterionText {
            title: self.value(id, args).unwrap_or_else(|| id.to_owned()),
            text: text.unwrap_or_default(),
            detail: engine_sentence(language, reason, args),
        }
    }
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Catalogue")
    }
}

/// The engine's own sentence for a reason, in that language; empty for reasons that need none.
pub fn engine_sentence(language: Language, reason: &str, args: &Args) -> String {
    engine(language).value(reason, args).unwrap_or_default()
}

pub(crate) fn engine(language: Language) -> &'static Catalogue {
    static FR: OnceLock<Catalogue> = OnceLock::new();
    static EN: OnceLock<Catalogue> = OnceLock::new();
    let parse = |text: &str| Catalogue::parse("messages", text, language, &mut Findings::default());
    match language {
        Language::Fr => FR.get_or_init(|| parse(include_str!("../messages/fr.ftl"))),
        Language::En => EN.get_or_init(|| parse(include_str!("../messages/en.ftl"))),
    }
}

fn line_at(text: &str, at: usize) -> u32 {
    let newlines = text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    u32::try_from(newlines + 1).unwrap_or(0)
}
