//! The certificate that is shown to clients now: handed over by whoever made it, or read from a folder that a mounted Secret
//! keeps fresh.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::{Choice, TlsError, certified_key};
use crate::certificates::{CERTIFICATE, KEY};

/// The certificate of a server.
pub struct Identity {
    folder: Option<PathBuf>,
    pub(super) choice: Choice,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What was last offered, usable or not.
    seen: Option<(Vec<u8>, Vec<u8>)>,
    current: Option<Arc<CertifiedKey>>,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl Identity {
    /// Nothing until `install` is called.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            folder: None,
            choice: Choice::default(),
            state: Mutex::default(),
        }
    }

    /// What `tls.crt` and `tls.key` of a folder hold at the time.
    #[must_use]
    pub fn folder(path: &Path) -> Self {
        Self {
            folder: Some(path.to_owned()),
            choice: Choice::default(),
            state: Mutex::default(),
        }
    }

    /// The same, for servers that agree to what is chosen here.
    #[must_use]
    pub fn agreeing(self, choice: Choice) -> Self {
        Self { choice, ..self }
    }

    /// Shows this certificate (PEM) from now on.
    ///
    /// # Errors
    /// When it cannot be used; the one before it stays.
    pub fn install(&self, certificate: &[u8], key: &[u8]) -> Result<(), TlsError> {
        let mut state = self.state();
        let offered = (certificate.to_vec(), key.to_vec());
        if state.seen.as_ref() == Some(&offered) {
            return Ok(());
        }
        state.seen = Some(offered);
        state.current = Some(Arc::new(certified_key(certificate, key)?));
        Ok(())
    }

    /// Looks at the folder, if there is one. Returns whether there is a certificate to serve with. Files that cannot be used are
    /// logged once, and the certificate before them stays.
    pub async fn refresh(&self) -> bool {
        if let Some(folder) = &self.folder {
            let read = |name: &str| tokio::fs::read(folder.join(name));
            if let Ok((certificate, key)) = tokio::try_join!(read(CERTIFICATE), read(KEY)) {
                // Also seen between the writing of one file and of the other.
                if let Err(error) = self.install(&certificate, &key) {
                    tracing::warn!(folder = %folder.display(), %error, "serving certificate cannot be used");
                }
            }
        }
        self.state().current.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResolvesServerCert for Identity {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.state().current.clone()
    }
}
