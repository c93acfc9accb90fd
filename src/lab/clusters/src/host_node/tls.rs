//! TLS on both sides: the kubelet endpoint lets in the API server and nobody else; HTTPS probes, like kubelets', do not
//! ask who answers.

use std::io;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, ServerConfig, SignatureScheme};
use tokio::net::UnixStream;
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};

use super::{HostNodeError, Options};

/// Accepts connections that show one certain client certificate.
#[derive(Clone)]
pub(super) struct Acceptor {
    tls: TlsAcceptor,
    only: CertificateDer<'static>,
}

pub(super) fn acceptor(options: &Options) -> Result<Acceptor, HostNodeError> {
    build(options).map_err(|error| HostNodeError::Endpoint {
        reason: error.to_string(),
    })
}

fn build(options: &Options) -> Result<Acceptor, Box<dyn std::error::Error>> {
    let provider = Arc::new(ring::default_provider());
    let mut authorities = RootCertStore::empty();
    for authority in certificates(&options.client_ca)? {
        authorities.add(authority)?;
    }
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), provider.clone())
            .build()?;
    let key = PrivateKeyDer::from_pem_slice(options.serving_key.as_bytes())?;
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier)
        .with_single_cert(certificates(&options.serving_cert)?, key)?;
    let only = certificates(&options.kubelet_client_cert)?
        .into_iter()
        .next()
        .ok_or("no client certificate")?;
    Ok(Acceptor {
        tls: TlsAcceptor::from(Arc::new(config)),
        only,
    })
}

fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, rustls::pki_types::pem::Error> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).collect()
}

impl Acceptor {
    /// Completes the handshake. The trainee's certificate has the same authority, so the authority is not enough.
    pub(super) async fn accept(
        &self,
        stream: UnixStream,
    ) -> io::Result<server::TlsStream<UnixStream>> {
        let stream = self.tls.accept(stream).await?;
        let shown = stream
            .get_ref()
            .1
            .peer_certificates()
            .and_then(<[_]>::first);
        if shown == Some(&self.only) {
            return Ok(stream);
        }
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "only the API server may speak to the kubelet endpoint",
        ))
    }
}

/// A TLS connection to a container, whoever it says it is.
pub(super) async fn unverified(stream: UnixStream) -> io::Result<client::TlsStream<UnixStream>> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody(provider)))
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
