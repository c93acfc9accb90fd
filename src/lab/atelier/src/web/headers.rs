//! Headers that every answer carries, whoever made it. A page cannot opt out by forgetting.

#[cfg(test)]
mod tests;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};

/// Allows the style elements that the terminal makes, for one answer.
#[derive(Debug, Clone)]
pub struct Nonce(pub String);

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");

/// Nothing is allowed but what this server itself hands out; no inline script, no inline style.
fn content_security_policy(nonce: &Nonce) -> String {
    [
        "default-src 'none'",
        "script-src 'self'",
        &format!("style-src 'self' 'nonce-{}'", nonce.0),
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
    .join("; ")
}

/// Gives the request a nonce and the answer its headers.
pub async fn secure(mut request: Request, next: Next) -> Response {
    let nonce = Nonce(hex::encode(rand::random::<[u8; 16]>()));
    request.extensions_mut().insert(nonce.clone());
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&content_security_policy(&nonce)) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    let fixed = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "same-origin"),
        (OPENER_POLICY, "same-origin"),
        (RESOURCE_POLICY, "same-origin"),
        (
            PERMISSIONS_POLICY,
            "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}
