//! Names of labs, steps, criteria and questions: kebab-case words that people see in URLs and messages.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether `text` may be an id: `a-z`, `0-9` and single inner hyphens, at most 60 characters.
pub(crate) fn is_kebab(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 60
        && text.split('-').all(|word| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The name, when it is kebab-case.
            pub fn new(text: &str) -> Option<Self> {
                is_kebab(text).then(|| Self(text.to_owned()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

id!(
    /// A lab, named as its folder.
    LabId
);
id!(
    /// A step of a lab, named as its Markdown files.
    StepId
);
id!(
    /// A criterion, unique in its lab; also the name of its message.
    CriterionId
);
id!(
    /// A question, unique in its lab.
    QuestionId
);
