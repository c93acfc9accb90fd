//! The server from outside: no certificate yet, a certificate, another one while it runs, and the end.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_util::sync::CancellationToken;
use webhooks::certificates::{Bundle, make};
use webhooks::tls::{Identity, serve};

use crate::reviews::{review, server};

const HOST: &str = "kueue-webhook-service.kueue-system.svc";

fn bundle() -> Bundle {
    // Some day in the past: certificates are valid for ten years, and the client looks at its own clock.
    make(
        &["kueue-webhook-service".to_owned()],
        "kueue-system",
        "2024-11-30T20:00:00Z".parse().unwrap(),
    )
    .unwrap()
}

fn put(folder: &Path, bundle: &Bundle) {
    std::fs::write(folder.join("tls.crt"), &bundle.certificate).unwrap();
    std::fs::write(folder.join("tls.key"), &bundle.key).unwrap();
}

#[tokio::test]
async fn a_certificate_is_handed_over_in_memory() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (stop, identity) = (CancellationToken::new(), Arc::new(Identity::empty()));
    let running = tokio::spawn(serve(listener, identity.clone(), server(&[]), stop.clone()));
    for bundle in [bundle(), bundle()] {
        identity
            .install(bundle.certificate.as_bytes(), bundle.key.as_bytes())
            .unwrap();
        assert!(
            ask(port, &bundle.ca)
                .await
                .unwrap()
                .contains("\"allowed\":true")
        );
    }
    stop.cancel();
    running.await.unwrap().unwrap();
}

/// One request by a client that trusts this CA only.
async fn ask(port: u16, ca: &str) -> Result<String, std::io::Error> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(ca.as_bytes()).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    let connector = TlsConnector::from(Arc::new(
        builder.with_root_certificates(roots).with_no_client_auth(),
    ));
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let mut stream = connector
        .connect(ServerName::try_from(HOST).unwrap(), stream)
        .await?;
    let object = json!({"metadata": {"name": "x"}, "spec": {}});
    let body = review("CREATE", "", &object, &Value::Null).to_string();
    let path = "/validate-kueue-x-k8s-io-v1beta2-clusterqueue";
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

#[tokio::test]
async fn reviews_are_answered_over_tls_with_the_certificate_of_the_moment() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let stop = CancellationToken::new();
    let identity = Arc::new(Identity::folder(folder.path()));
    let running = tokio::spawn(serve(listener, identity.clone(), server(&[]), stop.clone()));
    let (first, second) = (bundle(), bundle());

    assert!(!identity.refresh().await);
    assert!(
        ask(port, &first.ca).await.is_err(),
        "answered without a certificate"
    );

    put(folder.path(), &first);
    let answer = ask(port, &first.ca).await.unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("\"allowed\":true"),
        "{answer}"
    );
    assert!(
        ask(port, &second.ca).await.is_err(),
        "a client that trusts another CA was served"
    );

    put(folder.path(), &second);
    assert!(
        ask(port, &second.ca)
            .await
            .unwrap()
            .contains("\"allowed\":true")
    );

    std::fs::write(folder.path().join("tls.crt"), "nonsense").unwrap();
    assert!(
        ask(port, &second.ca)
            .await
            .unwrap()
            .contains("\"allowed\":true"),
        "a broken file replaced a good certificate"
    );

    let third = bundle();
    identity
        .install(third.certificate.as_bytes(), third.key.as_bytes())
        .unwrap();
    assert!(
        identity
            .install(first.certificate.as_bytes(), third.key.as_bytes())
            .is_err(),
        "a key of another certificate was taken"
    );

    stop.cancel();
    running.await.unwrap().unwrap();
    assert!(
        TcpStream::connect(("127.0.0.1", port)).await.is_err(),
        "still listening after the end"
    );
}
