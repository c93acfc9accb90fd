//! Faults of fields, in the words Kubernetes uses for them: where, what kind, which value, what would be right.

use std::fmt;

use serde_json::Value;

/// Path of a field, built from the outside in: `spec.podSets[0].template`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path(String);

impl Path {
    #[must_use]
    pub fn new(root: &str) -> Self {
        Self(root.to_owned())
    }

    /// A field below this one.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        if self.0.is_empty() {
            Self::new(name)
        } else {
            Self(format!("{}.{name}", self.0))
        }
    }

    /// An element of this list.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// The value under a key of this map.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self(format!("{}[{key}]", self.0))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Required,
    Invalid,
    NotSupported,
    NotFound,
    Duplicate,
    Forbidden,
    TooLong,
    TooMany,
}

impl Cause {
    /// Name used by the API machinery and by the conformance corpus.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::NotFound => "FieldValueNotFound",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::NotFound => "Not found",
            Self::Duplicate => "Duplicate value",
            Self::Forbidden => "Forbidden",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
        }
    }
}

/// One fault of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    pub cause: Cause,
    pub field: String,
    /// The value found; `Null` where the cause says enough.
    pub value: Value,
    /// What would be right; may be empty.
    pub detail: String,
}

impl FieldError {
    fn new(cause: Cause, path: &Path, value: Value, detail: &str) -> Self {
        Self {
            cause,
            field: path.0.clone(),
            value,
            detail: detail.to_owned(),
        }
    }

    #[must_use]
    pub fn required(path: &Path, detail: &str) -> Self {
        Self::new(Cause::Required, path, Value::Null, detail)
    }

    #[must_use]
    pub fn invalid(path: &Path, value: impl Into<Value>, detail: &str) -> Self {
        Self::new(Cause::Invalid, path, value.into(), detail)
    }

    /// A text of more than `most` bytes; it is not repeated.
    #[must_use]
    pub fn too_long(path: &Path, most: usize) -> Self {
        let detail = format!("may not be more than {most} bytes");
        Self::new(Cause::TooLong, path, "<value omitted>".into(), &detail)
    }

    /// A list of more than `most` elements.
    #[must_use]
    pub fn too_many(path: &Path, found: usize, most: usize) -> Self {
        let detail = format!("must have at most {most} items");
        Self::new(Cause::TooMany, path, found.into(), &detail)
    }

    #[must_use]
    pub fn forbidden(path: &Path, detail: &str) -> Self {
        Self::new(Cause::Forbidden, path, Value::Null, detail)
    }

    #[must_use]
    pub fn not_found(path: &Path, value: impl Into<Value>) -> Self {
        Self::new(Cause::NotFound, path, value.into(), "")
    }

    #[must_use]
    pub fn duplicate(path: &Path, value: impl Into<Value>) -> Self {
        Self::new(Cause::Duplicate, path, value.into(), "")
    }

    /// The value is not one of a list, which the message names.
    #[must_use]
    pub fn not_supported<'a>(
        path: &Path,
        value: impl Into<Value>,
        supported: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut names: Vec<_> = supported
            .into_iter()
            .map(|name| format!("{name:?}"))
            .collect();
        names.sort_unstable();
        names.dedup();
        let detail = if names.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", names.join(", "))
        };
        Self::new(Cause::NotSupported, path, value.into(), &detail)
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.cause.words())?;
        if !matches!(
            self.cause,
            Cause::Required | Cause::Forbidden | Cause::TooLong
        ) {
            write!(f, ": {}", self.value)?;
        }
        if self.detail.is_empty() {
            Ok(())
        } else {
            write!(f, ": {}", self.detail)
        }
    }
}

/// The text of several faults, as the API machinery joins them: one as it is, more in brackets, repetitions once.
#[must_use]
pub fn aggregate<E: fmt::Display>(errors: &[E]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for text in errors.iter().map(ToString::to_string) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.len() == 1 {
        texts.remove(0)
    } else {
        format!("[{}]", texts.join(", "))
    }
}
