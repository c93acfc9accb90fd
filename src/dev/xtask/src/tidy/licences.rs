//! Licences of everything that is linked, and crates that must not be.

use std::collections::BTreeMap;

use cargo_metadata::Metadata;

/// Licences that a self-hosted platform under Apache-2.0 can carry.
const ACCEPTED: &[&str] = &[
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "CC0-1.0",
    "0BSD",
    "BSL-1.0",
    "MPL-2.0",
    "Unlicense",
    "CDLA-Permissive-2.0",
    "BlueOak-1.0.0",
    "NCSA",
];

/// TLS stays on rustls with ring: no C toolchain beyond `cc`, no system OpenSSL.
const BANNED: &[&str] = &[
    "aws-lc-rs",
    "aws-lc-sys",
    "openssl",
    "openssl-sys",
    "native-tls",
    "serde_yaml",
];

/// Crates of the Kubernetes stack of which two versions would mean two incompatible sets of types.
const SINGLE: &[&str] = &[
    "kube",
    "k8s-openapi",
    "rustls",
    "hyper",
    "tokio",
    "axum",
    "sqlx",
    "jiff",
    "serde",
];

pub(super) fn check(metadata: &Metadata) -> Vec<String> {
    let mut problems = Vec::new();
    let mut versions: BTreeMap<&str, usize> = BTreeMap::new();
    for package in &metadata.packages {
        let name = package.name.as_str();
        *versions.entry(name).or_default() += 1;
        if BANNED.contains(&name) {
            problems.push(format!(
                "crate `{name}` must not be linked: switch off the feature that brings it"
            ));
        }
        match &package.license {
            Some(expression) if acceptable(expression) => {}
            Some(expression) => problems.push(format!(
                "crate `{name}` has the licence `{expression}`, which is not accepted"
            )),
            None if package.license_file.is_some() => {}
            None => problems.push(format!("crate `{name}` states no licence")),
        }
    }
    for name in SINGLE {
        let count = versions.get(name).copied().unwrap_or(0);
        if count > 1 {
            problems.push(format!(
                "{count} versions of `{name}` are linked: their types do not fit together"
            ));
        }
    }
    problems
}

/// Whether one alternative of an SPDX expression is accepted in all its parts.
fn acceptable(expression: &str) -> bool {
    let plain = expression.replace('/', " OR ").replace(['(', ')'], "");
    plain.split(" OR ").any(|choice| {
        choice
            .split(" AND ")
            .all(|part| ACCEPTED.contains(&part.trim()))
    })
}

#[cfg(test)]
mod tests;
