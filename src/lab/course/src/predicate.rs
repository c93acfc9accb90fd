//! A CEL expression of a lab file, compiled once. It is run in `timeline`, which knows the objects.

use cel::Program;
use std::{fmt, sync::Arc};

/// A compiled CEL expression. Two predicates are the same when their text is.
#[derive(Clone)]
pub struct Predicate {
    source: Arc<str>,
    program: Arc<Program>,
}

/// The names an expression may use; anything else is a typing mistake that lint reports.
const VARIABLES: &[&str] = &[
    "object",
    "metadata",
    "spec",
    "status",
    "labels",
    "annotations",
    "conditions",
    "nodes",
];

impl Predicate {
    /// Compiles, and refuses unknown variables: they would make the predicate false for ever.
    pub fn compile(source: &str) -> Result<Self, String> {
        let program = Program::compile(source).map_err(|error| {
            let first = error
                .errors
                .first()
                .map_or_else(|| error.to_string(), |e| e.msg.clone());
            format!("not a CEL expression: {first}")
        })?;
        let references = program.references();
        let unknown = references.variables().into_iter().find(|name| {
            !VARIABLES.contains(name) && !name.starts_with('@') && is_free(source, name)
        });
        if let Some(name) = unknown {
            return Err(format!(
                "unknown variable `{name}` in CEL: {}",
                crate::finding::suggestion(name, VARIABLES)
            ));
        }
        Ok(Self {
            source: source.into(),
            program: Arc::new(program),
        })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn program(&self) -> &Program {
        &self.program
    }
}

/// Macros bind names of their own (`exists(c, …)`); those are not free.
fn is_free(source: &str, name: &str) -> bool {
    ["all", "exists", "exists_one", "map", "filter"]
        .iter()
        .all(|call| {
            let mut rest = source;
            while let Some(at) = rest.find(&format!(".{call}(")) {
                rest = rest.get(at + call.len() + 2..).unwrap_or_default();
                let bound = rest.split(',').next().unwrap_or_default().trim();
                if bound == name {
                    return false;
                }
            }
            true
        })
}

impl fmt::Debug for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Predicate({})", self.source)
    }
}

impl PartialEq for Predicate {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Predicate {}
