//! Serves a router over TLS with a certificate that may change while connections come in: each new connection looks whether there is
//! another one than before. Without a certificate connections are refused, and the server waits for one.

mod choice;
mod clients;
mod der;
mod identity;
mod plain;
mod serve;

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

pub use choice::Choice;
pub use clients::{Authorities, Peer};
pub use identity::Identity;
pub use serve::{serve, serve_known};

/// A certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("the certificate is not PEM: {0}")]
    Certificate(rustls_pki_types::pem::Error),
    #[error("the private key is not PEM: {0}")]
    Key(rustls_pki_types::pem::Error),
    #[error("the private key does not fit the certificate: {0}")]
    Mismatch(rustls::Error),
    #[error("settings of the TLS server: {0}")]
    Settings(rustls::Error),
}

pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A certificate with its key, from PEM.
pub(crate) fn certified_key(certificate: &[u8], key: &[u8]) -> Result<CertifiedKey, TlsError> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(certificate)
        .collect::<Result<_, _>>()
        .map_err(TlsError::Certificate)?;
    if chain.is_empty() {
        return Err(TlsError::Certificate(
            rustls_pki_types::pem::Error::NoItemsFound,
        ));
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(TlsError::Key)?;
    CertifiedKey::from_der(chain, key, &provider()).map_err(TlsError::Mismatch)
}
