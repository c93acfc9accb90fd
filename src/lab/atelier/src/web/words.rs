//! The interface's words in both languages: one Fluent catalogue a language, compiled in.
//!
//! Lab texts are not here; they belong to their lab. Pages get a [`Words`] and ask it by key.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use course::Language;
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};

/// All words of one language.
struct Catalogue {
    bundle: FluentBundle<FluentResource>,
    source: &'static str,
}

/// The words of a visitor's language.
#[derive(Clone, Copy)]
pub struct Words {
    pub language: Language,
    catalogue: &'static Catalogue,
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Words").field(&self.language).finish()
    }
}

/// A value that a sentence mentions.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    Number(i64),
    Text(Cow<'a, str>),
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

macro_rules! numbers {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Value<'_> {
            fn from(number: $kind) -> Self {
                Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
            }
        }

        /// Templates hand over references.
        impl From<&$kind> for Value<'_> {
            fn from(number: &$kind) -> Self {
                Self::from(*number)
            }
        }
    )*};
}

numbers!(u32, u64, usize);

impl Words {
    /// The words of a language.
    #[must_use]
    pub fn of(language: Language) -> Self {
        static FRENCH: OnceLock<Catalogue> = OnceLock::new();
        static ENGLISH: OnceLock<Catalogue> = OnceLock::new();
        let catalogue = match language {
            Language::Fr => FRENCH
                .get_or_init(|| Catalogue::parse(language, include_str!("../../messages/fr.ftl"))),
            Language::En => ENGLISH
                .get_or_init(|| Catalogue::parse(language, include_str!("../../messages/en.ftl"))),
        };
        Self {
            language,
            catalogue,
        }
    }

    /// The language's tag.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.language.code()
    }

    /// A word or sentence. A missing key shows itself; a test finds those.
    #[must_use]
    pub fn t(&self, key: &str) -> String {
        self.with(key, &[])
    }

    /// A sentence about a number.
    #[must_use]
    pub fn n<'a>(&self, key: &str, number: impl Into<Value<'a>>) -> String {
        self.with(key, &[("n", number.into())])
    }

    /// A sentence that mentions `$x`.
    #[must_use]
    pub fn x<'a>(&self, key: &str, x: impl Into<Value<'a>>) -> String {
        self.with(key, &[("x", x.into())])
    }

    /// A sentence with values.
    #[must_use]
    pub fn with(&self, key: &str, values: &[(&str, Value<'_>)]) -> String {
        let Some(pattern) = self
            .catalogue
            .bundle
            .get_message(key)
            .and_then(|message| message.value())
        else {
            return key.to_owned();
        };
        let mut args = FluentArgs::new();
        for (name, value) in values {
            match value {
                Value::Number(number) => args.set(*name, *number),
                Value::Text(text) => {
                    args.set(*name, FluentValue::String(Cow::Borrowed(text.as_ref())));
                }
            }
        }
        self.catalogue
            .bundle
            .format_pattern(pattern, Some(&args), &mut Vec::new())
            .into_owned()
    }

    /// Whether there is such a key.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.catalogue.bundle.has_message(key)
    }

    /// The words that scripts need, by key without the `script-` before it.
    #[must_use]
    pub fn for_scripts(&self) -> serde_json::Map<String, serde_json::Value> {
        self.keys()
            .filter_map(|key| Some((key.strip_prefix("script-")?.to_owned(), self.t(key).into())))
            .collect()
    }

    /// All keys, in the order of the file.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.catalogue.source.lines().filter_map(|line| {
            let (key, _) = line.split_once(" =")?;
            (!key.starts_with([' ', '#', '.', '*', '['])).then_some(key)
        })
    }
}

impl Catalogue {
    /// A message that cannot be read is left out; a test finds those.
    fn parse(language: Language, source: &'static str) -> Self {
        let resource =
            FluentResource::try_new(source.to_owned()).unwrap_or_else(|(readable, _)| readable);
        let mut bundle =
            FluentBundle::new_concurrent(vec![language.code().parse().unwrap_or_default()]);
        bundle.set_use_isolating(false);
        // Two messages of one name: the later wins; a test finds those.
        bundle.add_resource_overriding(resource);
        Self { bundle, source }
    }
}
