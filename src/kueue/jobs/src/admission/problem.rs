//! One thing that is wrong with a field, in the words of the API server.

use std::fmt;

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Invalid,
    Forbidden,
    Required,
}

/// A fault of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Path of the field.
    pub field: String,
    pub cause: Cause,
    /// The value found, for [`Cause::Invalid`].
    pub value: String,
    /// What would be right.
    pub detail: String,
}

impl Problem {
    pub fn invalid(field: impl Into<String>, value: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { field: field.into(), cause: Cause::Invalid, value: value.into(), detail: detail.into() }
    }

    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { field: field.into(), cause: Cause::Forbidden, value: String::new(), detail: detail.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause {
            Cause::Invalid => write!(f, "{}: Invalid value: {:?}: {}", self.field, self.value, self.detail),
            Cause::Forbidden => write!(f, "{}: Forbidden: {}", self.field, self.detail),
            Cause::Required => write!(f, "{}: Required value: {}", self.field, self.detail),
        }
    }
}
