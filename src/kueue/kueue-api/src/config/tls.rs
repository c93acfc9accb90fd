//! What the servers agree to: the oldest version of TLS, cipher suites and curves, by the names of the reference's runtime.

use serde::Deserialize;

use super::read::path;
use crate::field::FieldError;

#[cfg(test)]
mod tests;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Tls {
    pub min_version: String,
    /// Of TLS 1.2; those of 1.3 are not chosen.
    pub cipher_suites: Vec<String>,
    /// Numbers of the registry of TLS groups.
    pub curve_preferences: Vec<i32>,
}

const VERSIONS: [&str; 4] = ["VersionTLS10", "VersionTLS11", "VersionTLS12", NEWEST];
const NEWEST: &str = "VersionTLS13";
/// Suites that a configuration may name. Those without forward secrecy or without authenticated encryption are known and never used.
const SUITES: [&str; 22] = [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
];
/// P-256, P-384, P-521, X25519, and X25519 with ML-KEM.
const CURVES: [i32; 5] = [23, 24, 25, 29, 4588];

impl Tls {
    /// Whether older clients than those of TLS 1.3 are turned away.
    #[must_use]
    pub fn only_newest(&self) -> bool {
        self.min_version == NEWEST
    }
}

pub(super) fn check(tls: &Tls) -> Vec<FieldError> {
    let at = path("tls");
    let mut errors = Vec::new();
    let mut fault =
        |value: &str, detail: String| errors.push(FieldError::invalid(&at, value, &detail));
    let version = tls.min_version.as_str();
    if !version.is_empty() && !VERSIONS.contains(&version) {
        fault(version, format!("unknown tls version {version:?}"));
        return errors;
    }
    if tls.only_newest() && !tls.cipher_suites.is_empty() {
        fault(
            version,
            "cipherSuites must not be set with VersionTLS13: those of TLS 1.3 cannot be chosen"
                .to_owned(),
        );
    }
    for suite in &tls.cipher_suites {
        if !SUITES.contains(&suite.as_str()) {
            fault(suite, format!("unknown cipher suite {suite:?}"));
        }
    }
    for curve in &tls.curve_preferences {
        if !CURVES.contains(curve) {
            let known = CURVES.map(|curve| curve.to_string()).join(", ");
            fault(
                &curve.to_string(),
                format!("unknown curve: want one of {known}"),
            );
        }
    }
    errors.truncate(1);
    errors
}
