//! What comes out of a case.

use serde_json::Value;

use crate::compare;

/// The outcome of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As the reference.
    Passed,
    /// Otherwise: what we decided, what was expected, and why, for people.
    Failed(String),
    /// Not run.
    Skipped(Skip),
}

/// Why a case is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Skip {
    /// What it tests is not built yet.
    Feature(String),
    /// It tests a helper of the reference that has no outcome of its own; `INTERNAL.md` has a sentence on it.
    Internal(&'static str),
}

impl Verdict {
    /// Passed if both are equal, else a failure that shows both.
    #[must_use]
    pub fn equal<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, want: &T) -> Self {
        if got == want {
            Self::Passed
        } else {
            Self::Failed(format!("{what}\n  decided:  {got:?}\n  expected: {want:?}"))
        }
    }

    /// Passed if both are equal as JSON, where absent and empty are the same; else a failure that shows the places that differ.
    #[must_use]
    pub fn same<T: serde::Serialize + ?Sized>(got: &T, want: &Value) -> Self {
        let got = serde_json::to_value(got).unwrap();
        let (got, want) = (compare::lean(&got), compare::lean(want));
        if compare::is_empty(&got) && compare::is_empty(&want) {
            return Self::Passed;
        }
        let found = compare::differences(&got, &want);
        if found.is_empty() {
            Self::Passed
        } else {
            Self::Failed(found.join("\n"))
        }
    }

    /// A skip because of something that is not built.
    #[must_use]
    pub fn not_built(what: impl Into<String>) -> Self {
        Self::Skipped(Skip::Feature(what.into()))
    }

    /// The first verdict that is not a pass.
    #[must_use]
    pub fn all(verdicts: impl IntoIterator<Item = Self>) -> Self {
        verdicts
            .into_iter()
            .find(|verdict| *verdict != Self::Passed)
            .unwrap_or(Self::Passed)
    }
}

impl From<Result<(), String>> for Verdict {
    fn from(result: Result<(), String>) -> Self {
        result.map_or_else(Self::Failed, |()| Self::Passed)
    }
}

impl std::fmt::Display for Skip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Feature(what) => write!(f, "feature: {what}"),
            Self::Internal(what) => write!(f, "internal: {what}"),
        }
    }
}
