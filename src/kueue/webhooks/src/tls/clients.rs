//! Who is at the other end: clients may show a certificate, and one that was signed by an authority known at the time has its name
//! put beside every request of the connection. The authorities may change while connections come in.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::verify_tls13_signature_with_raw_key;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore,
    SignatureScheme,
};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, SubjectPublicKeyInfoDer, UnixTime};

use super::{TlsError, der, plain, provider};

/// The common name of a client whose certificate was believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer(pub String);

impl Peer {
    pub(super) fn of(certificates: &[CertificateDer<'_>]) -> Option<Self> {
        let [leaf, ..] = certificates else {
            return None;
        };
        der::common_name(leaf).map(Self)
    }
}

/// The authorities that clients are believed by; none at the beginning.
#[derive(Default)]
pub struct Authorities(Mutex<Option<Known>>);

#[derive(Clone)]
struct Known {
    verifier: Arc<dyn ClientCertVerifier>,
    authorities: Arc<[CertificateDer<'static>]>,
}

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
        let authorities: Vec<_> = CertificateDer::pem_slice_iter(pem)
            .collect::<Result<_, _>>()
            .map_err(TlsError::Certificate)?;
        let mut roots = RootCertStore::empty();
        for root in &authorities {
            roots.add(root.clone()).map_err(TlsError::Settings)?;
        }
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider())
            .allow_unauthenticated()
            .build()
            .map_err(|error| TlsError::Settings(Error::General(error.to_string())))?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Known {
            verifier,
            authorities: authorities.into(),
        });
        Ok(())
    }

    fn now(&self) -> Option<Known> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
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
        let known = self.0.now().ok_or(unknown)?;
        if plain::is_plain(end_entity) {
            let algorithms = provider().signature_verification_algorithms;
            plain::verify(end_entity, &known.authorities, &algorithms, now)
                .map_err(Error::InvalidCertificate)?;
            return Ok(ClientCertVerified::assertion());
        }
        known
            .verifier
            .verify_client_cert(end_entity, intermediates, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = provider().signature_verification_algorithms;
        // The older protocol proves a key only together with a certificate that the library can read.
        rustls::crypto::verify_tls12_signature(message, cert, dss, &algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = provider().signature_verification_algorithms;
        if plain::is_plain(cert) {
            let key = der::parts(cert).ok_or(CertificateError::BadEncoding)?.key;
            let key = SubjectPublicKeyInfoDer::from(key.whole);
            return verify_tls13_signature_with_raw_key(message, &key, dss, &algorithms);
        }
        rustls::crypto::verify_tls13_signature(message, cert, dss, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}
