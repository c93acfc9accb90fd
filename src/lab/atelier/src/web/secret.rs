//! The server's secret, and the session and form tokens derived from it.
//!
//! It lives in the data folder (0600), so that pages opened before a restart go on working after it. With a single
//! trainee the session names nobody: it only proves that the browser got it from this server.

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

const SIZE: usize = 32;
const BLOCK: usize = 64;

/// A random key that never leaves the server.
#[derive(Clone)]
pub struct Secret([u8; SIZE]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The secret could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("{act} {path}: {source}")]
pub struct SecretError {
    act: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl Secret {
    /// A new one.
    #[must_use]
    pub fn random() -> Self {
        Self(rand::random())
    }

    /// The data folder's secret, made at the first start.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn load(data_dir: &Path) -> Result<Self, SecretError> {
        let path = data_dir.join("server-secret");
        let failed = |act| {
            let path = path.clone();
            move |source| SecretError { act, path, source }
        };
        match read(&path).map_err(failed("read"))? {
            Some(secret) => Ok(secret),
            None => {
                fs::create_dir_all(data_dir).map_err(failed("make the folder of"))?;
                let secret = Self::random();
                write(&path, &secret.0).map_err(failed("write"))?;
                Ok(secret)
            }
        }
    }

    /// The value of the session cookie.
    #[must_use]
    pub fn session(&self) -> String {
        self.derive("session")
    }

    /// The token that forms and scripts send back.
    #[must_use]
    pub fn token(&self) -> String {
        self.derive("form token")
    }

    pub(crate) fn is_session(&self, given: &str) -> bool {
        same(&self.session(), given)
    }

    pub(crate) fn is_token(&self, given: &str) -> bool {
        same(&self.token(), given)
    }

    /// HMAC-SHA-256 of a purpose, in hex.
    fn derive(&self, purpose: &str) -> String {
        let mut key = [0_u8; BLOCK];
        key.iter_mut()
            .zip(self.0)
            .for_each(|(slot, byte)| *slot = byte);
        let inner = Sha256::new()
            .chain_update(key.map(|byte| byte ^ 0x36))
            .chain_update(purpose)
            .finalize();
        hex::encode(
            Sha256::new()
                .chain_update(key.map(|byte| byte ^ 0x5c))
                .chain_update(inner)
                .finalize(),
        )
    }
}

/// Compares in a time that does not depend on where the two differ.
fn same(wanted: &str, given: &str) -> bool {
    let differing = wanted
        .bytes()
        .zip(given.bytes())
        .fold(0, |seen, (a, b)| seen | (a ^ b));
    wanted.len() == given.len() && differing == 0
}

fn read(path: &Path) -> io::Result<Option<Secret>> {
    let mut file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = [0_u8; SIZE];
    file.read_exact(&mut bytes)?;
    Ok(Some(Secret(bytes)))
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
