//! The folder of `tls.crt` and `tls.key`, as a mounted Secret keeps it fresh.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::certified_key;
use crate::certificates::{CERTIFICATE, KEY};

/// The certificate that is shown to clients now.
pub struct Folder {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What the files held when they were last looked at.
    seen: Option<(Vec<u8>, Vec<u8>)>,
    current: Option<Arc<CertifiedKey>>,
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Folder {
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            state: Mutex::default(),
        }
    }

    /// Looks at the files. Returns whether there is a certificate to serve with. Files that cannot be used are logged once, and the
    /// certificate before them stays.
    pub async fn refresh(&self) -> bool {
        let read = |name: &str| tokio::fs::read(self.path.join(name));
        let files = tokio::try_join!(read(CERTIFICATE), read(KEY)).ok();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(files) = files.filter(|files| state.seen.as_ref() != Some(files)) {
            match certified_key(&files.0, &files.1) {
                Ok(key) => {
                    tracing::info!(folder = %self.path.display(), "serving certificate loaded");
                    state.current = Some(Arc::new(key));
                }
                // Also seen between the writing of one file and of the other.
                Err(error) => {
                    tracing::warn!(folder = %self.path.display(), %error, "serving certificate cannot be used")
                }
            }
            state.seen = Some(files);
        }
        state.current.is_some()
    }
}

impl ResolvesServerCert for Folder {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .current
            .clone()
    }
}
