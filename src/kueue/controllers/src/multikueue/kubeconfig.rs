//! Kubeconfigs of worker clusters: what may be in one. They come from Secrets and files that others write, so whatever would make this process
//! read a file, run a program or trust anybody is refused. Reference section 4.17, "Kubeconfig validation".

use std::path::{Component, Path, PathBuf};

use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};

/// Where kubeconfigs in files have to be.
pub const FOLDER: &str = "/etc/multikueue/kubeconfigs";

/// Why a kubeconfig is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It cannot be had or read.
    #[error("load client config failed: {0}")]
    Bad(String),
    /// It asks for what is not allowed.
    #[error("load client config failed: {0}")]
    Insecure(String),
}

impl Refused {
    /// The reason of the condition `Active`.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Bad(_) => "BadKubeConfig",
            Self::Insecure(_) => "InsecureKubeConfig",
        }
    }
}

/// Reads a kubeconfig and refuses what is not allowed in one.
///
/// # Errors
/// Names what is wrong, with the cluster or user it stands at.
pub fn read(text: &str) -> Result<Kubeconfig, Refused> {
    let file = Kubeconfig::from_yaml(text).map_err(|error| Refused::Bad(error.to_string()))?;
    for named in &file.clusters {
        let Some(cluster) = &named.cluster else {
            continue;
        };
        check_cluster(&named.name, cluster)?;
    }
    let users = file.auth_infos.iter();
    for user in users.filter_map(|named| named.auth_info.as_ref()) {
        check_user(user)?;
    }
    Ok(file)
}

fn insecure(words: impl Into<String>) -> Refused {
    Refused::Insecure(words.into())
}

fn check_cluster(name: &str, cluster: &kube::config::Cluster) -> Result<(), Refused> {
    if cluster.insecure_skip_tls_verify == Some(true) {
        let words = format!("insecure TLS verification is not allowed for cluster {name}");
        return Err(insecure(words));
    }
    if cluster.certificate_authority.is_some() {
        let words = "certificate-authority file paths are not allowed, use certificate-authority-data for cluster";
        return Err(insecure(format!("{words} {name}")));
    }
    let server = cluster.server.as_deref().unwrap_or_default();
    if server.is_empty() {
        return Err(insecure(format!(
            "server URL is required for cluster {name}"
        )));
    }
    if is_trusted(server) {
        Ok(())
    } else {
        Err(insecure("untrusted server endpoint"))
    }
}

fn check_user(user: &kube::config::AuthInfo) -> Result<(), Refused> {
    let refused = [
        (user.token_file.is_some(), "tokenFile is not allowed"),
        (
            user.username.is_some() || user.password.is_some(),
            "basic auth is not allowed",
        ),
        (user.exec.is_some(), "exec plugins are not allowed"),
        (
            user.auth_provider.is_some(),
            "auth providers are not allowed",
        ),
        (
            user.client_certificate.is_some() || user.client_key.is_some(),
            "client certificate file paths are not allowed, use client-certificate-data and client-key-data",
        ),
    ];
    match refused.into_iter().find(|(is, _)| *is) {
        Some((_, words)) => Err(insecure(words)),
        None => Ok(()),
    }
}

/// Whether a URL names a host by address or by a DNS name, and nothing besides.
fn is_trusted(server: &str) -> bool {
    let Ok(url) = server.parse::<http::Uri>() else {
        return false;
    };
    let Some(host) = url.host() else { return false };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_name = || {
        let label = |label: &str| {
            let ok = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            !label.is_empty()
                && label.chars().all(ok)
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        bare.len() <= 253 && bare.split('.').all(label)
    };
    bare.parse::<std::net::IpAddr>().is_ok() || is_name()
}

/// The file that a location names, once it is known to be where it may be.
///
/// # Errors
/// When it is, or leads, elsewhere, or is not there.
pub fn path(location: &str, checked: bool) -> Result<PathBuf, Refused> {
    const OUTSIDE: &str = "kubeconfig path is not under the allowed prefix";
    let given = Path::new(location);
    if !checked {
        return Ok(given.to_owned());
    }
    let climbs = given.components().any(|part| part == Component::ParentDir);
    if !given.is_absolute() || climbs {
        return Err(Refused::Bad(format!("{OUTSIDE}: {location}")));
    }
    let real = given.canonicalize();
    let real = real.map_err(|error| Refused::Bad(format!("{location}: {error}")))?;
    if real.starts_with(FOLDER) {
        Ok(real)
    } else {
        Err(Refused::Bad(format!("{OUTSIDE}: {location}")))
    }
}

/// A client's settings out of a kubeconfig that was read here.
///
/// # Errors
/// When it names no usable context, or its certificates cannot be read.
pub async fn settings(file: Kubeconfig) -> Result<Config, Refused> {
    let made = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
    made.map_err(|error| Refused::Bad(error.to_string()))
}

#[cfg(test)]
mod tests;
