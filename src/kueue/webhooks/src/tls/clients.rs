//! Who is at the other end: clients may show a certificate, and one that was signed by an authority known at the time has its name
//! put beside every request of the connection. The authorities may change while connections come in.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::HandshakeSignatureValid;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, UnixTime};

use super::{TlsError, provider, subject};

/// The common name of a client whose certificate was believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer(pub String);

impl Peer {
    pub(super) fn of(certificates: &[CertificateDer<'_>]) -> Option<Self> {
        let [leaf, ..] = certificates else {
            return None;
        };
        subject::common_name(leaf).map(Self)
    }
}

/// The authorities that clients are believed by; none at the beginning.
#[derive(Default)]
pub struct Authorities(Mutex<Option<Arc<dyn ClientCertVerifier>>>);

impl fmt::Debug for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorities")
    }
}

impl Authorities {
    /// Believes these authorities (PEM) from now on, and no others.
    ///
    /// # Errors
    /// When there is none that can be read; those before stay.
    pub fn install(&self, pem: &[u8]) -> Result<(), TlsError> {
        let mut roots = RootCertStore::empty();
        for root in CertificateDer::pem_slice_iter(pem) {
            roots
                .add(root.map_err(TlsError::Certificate)?)
                .map_err(TlsError::Settings)?;
        }
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider())
            .allow_unauthenticated()
            .build()
            .map_err(|error| TlsError::Settings(Error::General(error.to_string())))?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(verifier);
        Ok(())
    }

    fn now(&self) -> Option<Arc<dyn ClientCertVerifier>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Verifier")
    }
}

/// Asks the authorities of the moment.
pub(super) struct Verifier(pub(super) Arc<Authorities>);

impl ClientCertVerifier for Verifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let unknown = Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let verifier = self.0.now().ok_or(unknown)?;
        verifier.verify_client_cert(end_entity, intermediates, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = provider().signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, &algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = provider().signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider().signature_verification_algorithms.supported_schemes()
    }
}
