//! Accepts connections until told to stop, then lets requests under way finish.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::server::NoServerSessionStorage;
use rustls::{ConfigBuilder, ServerConfig, WantsVerifier};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::clients::Verifier;
use super::{Authorities, Choice, Identity, Peer, TlsError};

/// A peer that does not finish its handshake in this time is let go.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long requests under way may take once the server stops.
const GRACE: Duration = Duration::from_secs(10);
/// Connections at once. The API server keeps a handful; a flood must not take the memory.
const CONNECTIONS: usize = 512;

/// Serves a router over TLS until the token is cancelled.
///
/// # Errors
/// When TLS cannot be set up at all.
pub async fn serve(
    listener: TcpListener,
    identity: Arc<Identity>,
    router: Router,
    stop: CancellationToken,
) -> Result<(), TlsError> {
    let settings = builder(&identity.choice)?
        .with_no_client_auth()
        .with_cert_resolver(identity.clone());
    accept(listener, identity, settings, router, stop).await
}

/// The same, and clients may show who they are: the name comes with each request as a [`Peer`].
///
/// # Errors
/// When TLS cannot be set up at all.
pub async fn serve_known(
    listener: TcpListener,
    identity: Arc<Identity>,
    clients: Arc<Authorities>,
    router: Router,
    stop: CancellationToken,
) -> Result<(), TlsError> {
    let mut settings = builder(&identity.choice)?
        .with_client_cert_verifier(Arc::new(Verifier(clients)))
        .with_cert_resolver(identity.clone());
    // A session that goes on would be believed by authorities that are not believed any more.
    settings.session_storage = Arc::new(NoServerSessionStorage {});
    settings.send_tls13_tickets = 0;
    accept(listener, identity, settings, router, stop).await
}

fn builder(choice: &Choice) -> Result<ConfigBuilder<ServerConfig, WantsVerifier>, TlsError> {
    ServerConfig::builder_with_provider(Arc::new(choice.provider()))
        .with_protocol_versions(choice.versions())
        .map_err(TlsError::Settings)
}

async fn accept(
    listener: TcpListener,
    identity: Arc<Identity>,
    mut settings: ServerConfig,
    router: Router,
    stop: CancellationToken,
) -> Result<(), TlsError> {
    settings.alpn_protocols = vec![b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(settings));
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let place = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            place = places.clone().acquire_owned() => place,
        };
        let stream = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match stream {
            Ok((stream, _)) => {
                let (acceptor, identity, router, stop) = (
                    acceptor.clone(),
                    identity.clone(),
                    router.clone(),
                    stop.clone(),
                );
                connections.spawn(async move {
                    connection(stream, acceptor, &identity, router, stop).await;
                    drop(place);
                });
            }
            // Out of file descriptors, or a peer that left while it waited: the next one may do better.
            Err(error) => {
                tracing::warn!(%error, "connection cannot be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    let rest = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, rest).await.is_err() {
        tracing::warn!("requests under way did not finish in time");
    }
    Ok(())
}

async fn connection(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    identity: &Identity,
    router: Router,
    stop: CancellationToken,
) {
    if !identity.refresh().await {
        tracing::debug!("connection refused: there is no serving certificate yet");
        return;
    }
    let stream = match tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(%error, "TLS handshake failed"),
        Err(_) => return tracing::debug!("TLS handshake took too long"),
    };
    let peer = Peer::of(stream.get_ref().1.peer_certificates().unwrap_or_default());
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        if let Some(peer) = &peer {
            request.extensions_mut().insert(peer.clone());
        }
        router.clone().oneshot(request)
    });
    let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    tokio::pin!(served);
    let outcome = tokio::select! {
        outcome = served.as_mut() => outcome,
        () = stop.cancelled() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, "connection ended early");
    }
}
