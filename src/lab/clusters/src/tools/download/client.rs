//! A small HTTP client: GET, a few redirects, never from HTTPS back to HTTP, and no endless waiting.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Uri, header};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;

const REDIRECTS: u32 = 6;
/// Without a sign of life for this long, a server is gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// The body at `url`, and its length where the server says.
pub(super) async fn get(url: &str) -> Result<(Incoming, Option<u64>), String> {
    let provider = rustls::crypto::ring::default_provider();
    let connector = HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(provider)
        .map_err(|error| {
            format!(
                "no certificates of authorities on this machine (install ca-certificates): {error}"
            )
        })?
        .https_or_http()
        .enable_http1()
        .build();
    let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new()).build(connector);
    let mut uri: Uri = url
        .parse()
        .map_err(|error| format!("it is not a URL: {error}"))?;
    for _ in 0..=REDIRECTS {
        let request = Request::get(uri.clone())
            .header(header::USER_AGENT, "atelier-kueue")
            .body(Empty::new())
            .map_err(|error| error.to_string())?;
        let response = patiently(client.request(request))
            .await?
            .map_err(|error| chain(&error))?;
        if response.status().is_redirection() {
            uri = redirected(&uri, &response)?;
            continue;
        }
        if !response.status().is_success() {
            return Err(format!("the server answers {}", response.status()));
        }
        let length = response.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
        return Ok((response.into_body(), length));
    }
    Err(format!("more than {REDIRECTS} redirects"))
}

fn redirected(from: &Uri, response: &Response<Incoming>) -> Result<Uri, String> {
    let location = response
        .headers()
        .get(header::LOCATION)
        .and_then(|value| value.to_str().ok());
    let location = location.ok_or("the server redirects to nowhere")?;
    let to: Uri = location
        .parse()
        .map_err(|error| format!("the server redirects to {location:?}: {error}"))?;
    let mut parts = to.into_parts();
    // A path alone stays on the same server.
    parts.scheme = parts.scheme.or_else(|| from.scheme().cloned());
    parts.authority = parts.authority.or_else(|| from.authority().cloned());
    let to = Uri::from_parts(parts)
        .map_err(|error| format!("the server redirects to {location:?}: {error}"))?;
    if from.scheme_str() == Some("https") && to.scheme_str() != Some("https") {
        return Err(format!(
            "the server redirects to {to}, which is not encrypted"
        ));
    }
    Ok(to)
}

/// Gives up when nothing happens for too long.
pub(super) async fn patiently<T>(work: impl Future<Output = T>) -> Result<T, String> {
    tokio::time::timeout(PATIENCE, work)
        .await
        .map_err(|_| format!("nothing came for {} s", PATIENCE.as_secs()))
}

/// An error and what caused it, in one line: the outermost alone says "client error".
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let cause = error.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
        source = error.source();
    }
    text
}
