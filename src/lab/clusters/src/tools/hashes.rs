//! The table of SHA-256 hashes without which nothing is downloaded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const BUILT_IN: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../images/control-plane/SHA256SUMS"
));

/// Artifact names and their hashes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hashes(BTreeMap<String, String>);

/// A table that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HashesError {
    #[error("read {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{file}:{line}: expected 64 hexadecimal digits, blanks, and an artifact's name")]
    Line { file: String, line: usize },
}

impl Hashes {
    /// The table this program was built with.
    #[must_use]
    pub fn built_in() -> Self {
        // A test reads it too, so a mistake in it does not get this far.
        Self::parse("images/control-plane/SHA256SUMS", BUILT_IN).unwrap_or_default()
    }

    /// A table of the form that `sha256sum` prints. Empty lines and those with `#` are skipped.
    pub fn parse(file: &str, text: &str) -> Result<Self, HashesError> {
        let mut hashes = BTreeMap::new();
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.trim();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let wrong = || HashesError::Line {
                file: file.to_owned(),
                line,
            };
            let (hash, name) = content.split_once(char::is_whitespace).ok_or_else(wrong)?;
            if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(wrong());
            }
            hashes.insert(
                name.trim().trim_start_matches('*').to_owned(),
                hash.to_lowercase(),
            );
        }
        Ok(Self(hashes))
    }

    /// Adds the table in a file; its lines win.
    pub fn with_file(mut self, path: &Path) -> Result<Self, HashesError> {
        let text = std::fs::read_to_string(path).map_err(|source| HashesError::Read {
            path: path.to_owned(),
            source,
        })?;
        self.0
            .extend(Self::parse(&path.display().to_string(), &text)?.0);
        Ok(self)
    }

    pub(super) fn of(&self, artifact: &str) -> Option<&str> {
        self.0.get(artifact).map(String::as_str)
    }
}
