//! Who may talk to the server at all: host names, origins, session and form tokens.
//!
//! The decisions are functions of a request's head. A page of another site must be able neither to act here (CSRF),
//! nor to read here by renaming itself to our address (DNS rebinding), nor to open a terminal.

#[cfg(test)]
mod tests;

use std::net::IpAddr;

use http::header::{COOKIE, HOST, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method};

use super::secret::Secret;

/// Name of the session cookie.
pub const SESSION_COOKIE: &str = "atelier-session";
/// Header in which scripts send the form token.
pub const TOKEN_HEADER: HeaderName = HeaderName::from_static("x-atelier-token");

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Why a request was turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the Host header names neither this machine nor the configured public address")]
    Host,
    #[error("the request was made by a page of another site")]
    Origin,
    #[error("the session is unknown")]
    Session,
    #[error("the form token is missing or old")]
    Token,
}

/// Names under which this server may be addressed.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// The host of the public address, when a proxy stands in front.
    pub public: Option<String>,
}

impl Names {
    /// Whether a Host (or the authority of an Origin) is one of ours. Ports are not compared: forwarded ports differ.
    #[must_use]
    pub fn allow(&self, authority: &str) -> bool {
        let host = without_port(authority);
        let loopback = host.eq_ignore_ascii_case("localhost")
            || host
                .trim_matches(['[', ']'])
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback());
        loopback
            || self
                .public
                .as_deref()
                .is_some_and(|public| public.eq_ignore_ascii_case(host))
    }
}

/// Refuses requests for another host name. Holds for every request, also for reading.
///
/// # Errors
/// [`Refusal::Host`].
pub fn check_host(names: &Names, parts: &Parts) -> Result<(), Refusal> {
    let host = header(&parts.headers, &HOST)
        .or_else(|| parts.uri.authority().map(http::uri::Authority::as_str));
    host.filter(|host| names.allow(host))
        .map(drop)
        .ok_or(Refusal::Host)
}

/// Refuses what another site made this browser send. Holds for everything but plain reading.
///
/// # Errors
/// [`Refusal::Origin`].
pub fn check_origin(parts: &Parts) -> Result<(), Refusal> {
    if is_reading(&parts.method) && !is_upgrade(&parts.headers) {
        return Ok(());
    }
    let site = header(&parts.headers, &FETCH_SITE);
    if site.is_some_and(|site| site != "same-origin") {
        return Err(Refusal::Origin);
    }
    let host = header(&parts.headers, &HOST).unwrap_or_default();
    match header(&parts.headers, &ORIGIN) {
        Some(origin) if origin_is(origin, host) => Ok(()),
        // A browser leaves Origin out of no mutating request; a program may, and has no other site's cookies.
        None if site == Some("same-origin") => Ok(()),
        Some(_) | None => Err(Refusal::Origin),
    }
}

/// Refuses requests without our session cookie.
///
/// # Errors
/// [`Refusal::Session`].
pub fn check_session(secret: &Secret, headers: &HeaderMap) -> Result<(), Refusal> {
    let session = cookie(headers, SESSION_COOKIE).unwrap_or_default();
    if secret.is_session(session) {
        Ok(())
    } else {
        Err(Refusal::Session)
    }
}

/// Refuses a form or script call without the session's token.
///
/// # Errors
/// [`Refusal::Token`].
pub fn check_token(secret: &Secret, token: Option<&str>) -> Result<(), Refusal> {
    if token.is_some_and(|token| secret.is_token(token)) {
        Ok(())
    } else {
        Err(Refusal::Token)
    }
}

/// The value of a cookie.
#[must_use]
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

/// Whether a method only reads.
#[must_use]
pub fn is_reading(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn is_upgrade(headers: &HeaderMap) -> bool {
    headers.contains_key(http::header::UPGRADE)
}

fn origin_is(origin: &str, host: &str) -> bool {
    let authority = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn without_port(authority: &str) -> &str {
    if authority.starts_with('[') {
        return authority
            .find(']')
            .map_or(authority, |end| authority.get(..=end).unwrap_or(authority));
    }
    authority
        .rsplit_once(':')
        .map_or(authority, |(host, _)| host)
}
