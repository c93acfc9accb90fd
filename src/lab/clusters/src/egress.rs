//! The only way out of an environment's API server: an HTTP CONNECT proxy on a unix socket.
//!
//! It knows two kinds of destinations, the ports of pods that run on the host node and the kubelet endpoint of nodes,
//! and refuses everything else in words. So no webhook, aggregated API or proxy request of a trainee's can reach the
//! machine, its network or another environment.

mod request;
mod routes;
#[cfg(test)]
mod tests;

use std::time::Duration;

use tokio::io::{AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

pub use routes::{Destination, Routes};

/// A client that does not finish its request in this time is let go.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves until cancelled. Connections that are open then are cut.
pub async fn serve(listener: UnixListener, routes: Routes, cancel: CancellationToken) {
    loop {
        let accepted = tokio::select! {
            () = cancel.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let (routes, cancel) = (routes.clone(), cancel.clone());
                tokio::spawn(async move {
                    tokio::select! {
                        () = cancel.cancelled() => {}
                        () = connection(stream, &routes) => {}
                    }
                });
            }
            Err(error) => {
                // Out of file descriptors, most likely; the listener itself is sound.
                warn!(%error, "accept a connection of the API server");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn connection(mut stream: UnixStream, routes: &Routes) {
    let target = match tokio::time::timeout(REQUEST_TIMEOUT, request::read(&mut stream)).await {
        Ok(Ok(target)) => target,
        Ok(Err(error)) => return refuse(&mut stream, 400, &error.to_string()).await,
        Err(_) => return,
    };
    match routes.destination(&target) {
        Some(Destination::Pod(socket)) => to_pod(stream, &socket, &target).await,
        Some(Destination::Kubelet(endpoint)) => {
            if accept(&mut stream).await.is_ok() && endpoint.send(stream).await.is_err() {
                debug!(%target, "the kubelet endpoint is gone");
            }
        }
        None => {
            let why = format!(
                "{target} is not a pod of this environment's host node; nothing else can be reached"
            );
            refuse(&mut stream, 403, &why).await;
        }
    }
}

async fn to_pod(mut stream: UnixStream, socket: &std::path::Path, target: &request::Target) {
    let mut pod = match exec::relay::connect(socket, target.port).await {
        Ok(pod) => pod,
        Err(error) => {
            return refuse(
                &mut stream,
                502,
                &format!("{target} does not answer: {error}"),
            )
            .await;
        }
    };
    if accept(&mut stream).await.is_ok() {
        // Either side may hang up at any time; there is nobody to tell.
        let _ = copy_bidirectional(&mut stream, &mut pod).await;
    }
}

async fn accept(stream: &mut UnixStream) -> std::io::Result<()> {
    stream
        .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
        .await
}

async fn refuse(stream: &mut UnixStream, code: u16, why: &str) {
    let reason = match code {
        400 => "Bad Request",
        403 => "Forbidden",
        _ => "Bad Gateway",
    };
    debug!(code, why, "refuse a connection of the API server");
    let length = why.len();
    let answer = format!(
        "HTTP/1.1 {code} {reason}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{why}"
    );
    let _ = stream.write_all(answer.as_bytes()).await;
}
