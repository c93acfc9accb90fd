//! Names of environments: short, valid as a folder and a label, and never two people's at once.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Names end up in folder names, host names and labels.
const LONGEST: usize = 32;
const READABLE: usize = 16;
const HASH_DIGITS: usize = 10;

/// The name of an environment on this machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EnvironmentId(String);

/// A text that cannot name an environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} cannot name an environment: 1 to {LONGEST} of a-z, 0-9 and -, beginning and ending with a letter or digit"
)]
pub struct InvalidId(String);

impl EnvironmentId {
    /// The id of an account's environment: readable, and different for different accounts, whatever they are called.
    #[must_use]
    pub fn for_account(account: &str) -> Self {
        let mut readable = String::new();
        for c in account
            .to_lowercase()
            .chars()
            .filter(|c| c.is_ascii_alphanumeric())
            .take(READABLE)
        {
            readable.push(c);
        }
        let digest = hex::encode(Sha256::digest(account.as_bytes()));
        let hash: String = digest.chars().take(HASH_DIGITS).collect();
        Self(if readable.is_empty() {
            format!("e-{hash}")
        } else {
            format!("{readable}-{hash}")
        })
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for EnvironmentId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let whole = text.chars().all(|c| letter(c) || c == '-');
        let edges = text.starts_with(letter) && text.ends_with(letter);
        if whole && edges && text.len() <= LONGEST {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidId(text.to_owned()))
        }
    }
}

impl TryFrom<String> for EnvironmentId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<EnvironmentId> for String {
    fn from(id: EnvironmentId) -> Self {
        id.0
    }
}

impl fmt::Display for EnvironmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
