//! Reads a configuration leaf by leaf. Whatever no reader asked for is unknown, so the set of known fields is written down only
//! once, where they are read.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::duration::parse_duration;
use super::{ConfigError, older};
use crate::field::{FieldError, Path};
use crate::names::{CONFIG_API_VERSION, OLDER_CONFIG_API_VERSION};

/// Fields of the reference that have no effect here yet. Accepting one would promise a behaviour that does not come.
const NOT_YET: &[&str] = &["multiKueue.externalFrameworks"];

pub(super) const NOT_SUPPORTED: &str = "this controller does not support the field yet; remove it";

pub(super) struct Reader {
    root: Value,
    known: BTreeSet<&'static str>,
    errors: Vec<FieldError>,
    warnings: Vec<String>,
}

/// A path as errors show it.
pub(super) fn path(dotted: &str) -> Path {
    Path::new(dotted)
}

impl Reader {
    pub(super) fn empty() -> Self {
        Self {
            root: Value::Object(Map::new()),
            known: BTreeSet::from(["apiVersion", "kind"]),
            errors: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self, ConfigError> {
        let mut root: Value =
            serde_saphyr::from_str(text).map_err(|error| ConfigError::Parse(error.to_string()))?;
        let text_of = |name: &str| {
            root.get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (found, kind) = (text_of("apiVersion"), text_of("kind"));
        let is_older = found == OLDER_CONFIG_API_VERSION;
        if !(is_older || found == CONFIG_API_VERSION) || kind != "Configuration" {
            return Err(ConfigError::Version { found, kind });
        }
        if is_older {
            older::upgrade(&mut root);
        }
        Ok(Self {
            root,
            ..Self::empty()
        })
    }

    /// The value at a path, or the default when it is absent or null. A value that cannot be read is remembered as a fault.
    pub(super) fn or<T: DeserializeOwned>(&mut self, dotted: &'static str, default: T) -> T {
        self.known.insert(dotted);
        let Some(value) = self.find(dotted) else {
            return default;
        };
        match serde_json::from_value(value.clone()) {
            Ok(read) => read,
            Err(error) => {
                let fault = FieldError::invalid(&path(dotted), value.clone(), &error.to_string());
                self.errors.push(fault);
                default
            }
        }
    }

    pub(super) fn duration(&mut self, dotted: &'static str, default: Duration) -> Duration {
        let text = self.or(dotted, String::new());
        if text.is_empty() {
            return default;
        }
        parse_duration(&text).unwrap_or_else(|detail| {
            self.fault(FieldError::invalid(&path(dotted), text, &detail));
            default
        })
    }

    /// Whether the file speaks of a section at all.
    pub(super) fn has(&self, dotted: &str) -> bool {
        self.find(dotted).is_some()
    }

    /// As `or`, where there may be no value.
    pub(super) fn optional_duration(&mut self, dotted: &'static str) -> Option<Duration> {
        self.known.insert(dotted);
        self.find(dotted)?;
        Some(self.duration(dotted, Duration::ZERO))
    }

    /// Reads and drops a field that has no effect here and that shipped configurations carry: it is said, not refused.
    pub(super) fn without_effect(&mut self, dotted: &'static str, why: &str) {
        self.known.insert(dotted);
        if self.find(dotted).is_some() {
            self.warnings.push(format!("{dotted} has no effect: {why}"));
        }
    }

    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    pub(super) fn fault(&mut self, error: FieldError) {
        self.errors.push(error);
    }

    /// Everything that was wrong, the fields nobody read included.
    pub(super) fn finish(mut self) -> Vec<FieldError> {
        let mut unread = Vec::new();
        collect(&self.root, "", &self.known, &mut unread);
        self.errors.extend(unread);
        self.errors
    }

    fn find(&self, dotted: &str) -> Option<&Value> {
        let mut value = &self.root;
        for name in dotted.split('.') {
            value = value.get(name)?;
        }
        (!value.is_null()).then_some(value)
    }
}

fn collect(value: &Value, at: &str, known: &BTreeSet<&'static str>, unread: &mut Vec<FieldError>) {
    if known.contains(at) || value.is_null() {
        return;
    }
    if NOT_YET.contains(&at) {
        unread.push(FieldError::forbidden(&path(at), NOT_SUPPORTED));
        return;
    }
    let prefix = if at.is_empty() {
        String::new()
    } else {
        format!("{at}.")
    };
    let section = at.is_empty()
        || known
            .iter()
            .chain(NOT_YET)
            .any(|name| name.starts_with(&prefix));
    match value.as_object() {
        Some(fields) if section => fields
            .iter()
            .for_each(|(name, value)| collect(value, &format!("{prefix}{name}"), known, unread)),
        None if section => unread.push(FieldError::invalid(
            &path(at),
            value.clone(),
            "must be a mapping of fields",
        )),
        Some(_) | None => unread.push(FieldError::forbidden(&path(at), "unknown field")),
    }
}
