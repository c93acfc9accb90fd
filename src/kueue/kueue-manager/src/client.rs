//! The connection to the API server: an explicit kubeconfig, else the pod's service account, else the user's kubeconfig.

use std::path::Path;

use anyhow::Context as _;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// Folder in which a pod finds its service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Connects. Nothing is asked of the API server yet.
pub(crate) async fn connect(kubeconfig: Option<&Path>) -> anyhow::Result<Client> {
    let config = match kubeconfig.filter(|path| !path.as_os_str().is_empty()) {
        Some(path) => from_file(path).await?,
        None if Path::new(SERVICE_ACCOUNT).join("token").exists() => Config::incluster().context("cannot use the pod's service account")?,
        None => Config::from_kubeconfig(&KubeConfigOptions::default()).await.context("no kubeconfig: give --kubeconfig, or run in a pod")?,
    };
    Client::try_from(config).context("cannot make a client for the API server")
}

async fn from_file(path: &Path) -> anyhow::Result<Config> {
    let file = Kubeconfig::read_from(path).with_context(|| format!("cannot read kubeconfig {}", path.display()))?;
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
    config.with_context(|| format!("kubeconfig {} cannot be used", path.display()))
}

/// The namespace this process runs in, when it runs in a pod.
pub(crate) fn own_namespace() -> Option<String> {
    let text = std::fs::read_to_string(Path::new(SERVICE_ACCOUNT).join("namespace")).ok()?;
    Some(text.trim().to_owned()).filter(|name| !name.is_empty())
}
