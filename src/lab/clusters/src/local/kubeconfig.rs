//! Kubeconfigs with everything in them, one a person or program.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::layout::Layout;
use super::record::write_file;
use crate::pki::{Identity, Pki, PkiError};

/// What the API server is called in a sandbox.
pub(crate) const IN_SANDBOX: &str = "https://127.0.0.1:6443";

#[derive(Debug, thiserror::Error)]
pub(crate) enum KubeconfigError {
    #[error(transparent)]
    Certificate(#[from] PkiError),
    #[error("write {}: {source}{}", path.display(), super::record::advice(source))]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
}

pub(crate) fn server_on(port: u16) -> String {
    format!("https://127.0.0.1:{port}")
}

/// Writes the kubeconfig of `identity`, and answers its path.
pub(crate) fn write(
    layout: &Layout,
    pki: &Pki,
    identity: Identity,
    server: &str,
) -> Result<PathBuf, KubeconfigError> {
    let path = layout.kubeconfig(identity.file);
    let text = text(pki, identity, server)?;
    write_file(&path, &text).map_err(|source| KubeconfigError::Write {
        path: path.clone(),
        source,
    })?;
    Ok(path)
}

/// JSON is YAML, and needs no care with quotes.
fn text(pki: &Pki, identity: Identity, server: &str) -> Result<String, PkiError> {
    let data = |name: String| pki.text(&name).map(|pem| STANDARD.encode(pem));
    let cluster =
        json!({ "server": server, "certificate-authority-data": data("ca.pem".to_owned())? });
    let user = json!({
        "client-certificate-data": data(format!("{}.pem", identity.file))?,
        "client-key-data": data(format!("{}-key.pem", identity.file))?,
    });
    let kubeconfig = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "atelier", "cluster": cluster }],
        "users": [{ "name": identity.file, "user": user }],
        "contexts": [{ "name": "atelier", "context": { "cluster": "atelier", "user": identity.file } }],
        "current-context": "atelier",
    });
    Ok(format!("{kubeconfig:#}\n"))
}
