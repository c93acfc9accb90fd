//! The connection to the API server: an explicit kubeconfig, else the pod's service account, else the user's kubeconfig.

mod limit;

use std::path::{Path, PathBuf};

use kube::client::ClientBuilder;
use kube::config::{InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

pub use limit::LimitLayer;

/// Folder in which a pod finds its service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("kubeconfig {path} cannot be used: {source}")]
    File {
        path: PathBuf,
        source: KubeconfigError,
    },
    #[error("the pod's service account cannot be used: {0}")]
    Pod(#[from] InClusterError),
    #[error("no kubeconfig: give --kubeconfig, or run in a pod: {0}")]
    None(#[source] KubeconfigError),
    #[error("cannot make a client for the API server: {0}")]
    Client(#[source] kube::Error),
}

/// Connects, with a limit on requests if there is one. Nothing is asked of the API server yet.
pub async fn connect(
    kubeconfig: Option<&Path>,
    limit: Option<LimitLayer>,
) -> Result<Client, ConnectError> {
    let config = match kubeconfig.filter(|path| !path.as_os_str().is_empty()) {
        Some(path) => from_file(path).await.map_err(|source| ConnectError::File {
            path: path.to_owned(),
            source,
        })?,
        None if Path::new(SERVICE_ACCOUNT).join("token").exists() => Config::incluster()?,
        None => Config::from_kubeconfig(&KubeConfigOptions::default())
            .await
            .map_err(ConnectError::None)?,
    };
    let Some(limit) = limit else {
        return Client::try_from(config).map_err(ConnectError::Client);
    };
    let builder = ClientBuilder::try_from(config).map_err(ConnectError::Client)?;
    Ok(builder.with_layer(&limit).build())
}

async fn from_file(path: &Path) -> Result<Config, KubeconfigError> {
    let file = Kubeconfig::read_from(path)?;
    Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await
}

/// The namespace this process runs in, when it runs in a pod.
#[must_use]
pub fn own_namespace() -> Option<String> {
    let text = std::fs::read_to_string(Path::new(SERVICE_ACCOUNT).join("namespace")).ok()?;
    Some(text.trim().to_owned()).filter(|name| !name.is_empty())
}
