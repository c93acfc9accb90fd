//! One attempt of a probe, through the relay in the container's sandbox.

use std::path::Path;

use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::host_node::plan::Check;
use crate::host_node::tls;

/// Asks once; the error says why the container is not well.
pub(super) async fn once(check: &Check, relay: &Path) -> Result<(), String> {
    match check {
        Check::Tcp { port } => connect(relay, *port).await.map(drop),
        Check::Http {
            tls: false,
            port,
            path,
            headers,
        } => get(connect(relay, *port).await?, path, headers).await,
        Check::Http {
            tls: true,
            port,
            path,
            headers,
        } => {
            let stream = connect(relay, *port).await?;
            get(
                tls::unverified(stream)
                    .await
                    .map_err(|error| error.to_string())?,
                path,
                headers,
            )
            .await
        }
        Check::Exec { command } => {
            let (code, output) = exec::relay::exec(relay, command)
                .await
                .map_err(|error| error.to_string())?;
            if code == 0 {
                Ok(())
            } else {
                Err(format!("command ended with {code}: {}", output.trim_end()))
            }
        }
    }
}

async fn connect(relay: &Path, port: u16) -> Result<tokio::net::UnixStream, String> {
    exec::relay::connect(relay, port)
        .await
        .map_err(|error| format!("connect to port {port}: {error}"))
}

async fn get<S>(stream: S, path: &str, headers: &[(String, String)]) -> Result<(), String>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| error.to_string())?;
    tokio::spawn(connection);
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    };
    let mut request = http::Request::get(path)
        .header("host", "localhost")
        .header("user-agent", "kube-probe/1.37");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    let answer = sender
        .send_request(request)
        .await
        .map_err(|error| error.to_string())?;
    let status = answer.status();
    if status.is_success() || status.is_redirection() {
        return Ok(());
    }
    Err(format!(
        "HTTP probe failed with statuscode: {}",
        status.as_u16()
    ))
}
