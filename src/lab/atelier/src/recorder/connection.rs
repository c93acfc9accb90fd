//! The client to one cluster, made again from the kubeconfig when the server moved. A kubeconfig that has gone meanwhile
//! costs nothing: the client made from it is kept.

use super::RecorderError;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use parking_lot::RwLock;
use std::{path::PathBuf, sync::Arc};

#[derive(Clone)]
pub(super) struct Connection {
    path: PathBuf,
    current: Arc<RwLock<(String, Client)>>,
}

impl Connection {
    pub(super) async fn open(path: PathBuf) -> Result<Self, RecorderError> {
        let text = read(&path).await?;
        let client = client(&path, &text).await?;
        Ok(Self {
            path,
            current: Arc::new(RwLock::new((text, client))),
        })
    }

    /// A connection that stays as it is.
    #[cfg(test)]
    pub(super) fn fixed(client: Client) -> Self {
        Self {
            path: PathBuf::from("/nonexistent"),
            current: Arc::new(RwLock::new((String::new(), client))),
        }
    }

    pub(super) fn client(&self) -> Client {
        self.current.read().1.clone()
    }

    /// After a failed connection: a new client when the kubeconfig has changed.
    pub(super) async fn refresh(&self) {
        match self.try_refresh().await {
            Ok(true) => {
                tracing::info!(path = %self.path.display(), "kubeconfig changed, connecting anew");
            }
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "keeping the former connection"),
        }
    }

    async fn try_refresh(&self) -> Result<bool, RecorderError> {
        let text = read(&self.path).await?;
        if self.current.read().0 == text {
            return Ok(false);
        }
        let client = client(&self.path, &text).await?;
        *self.current.write() = (text, client);
        Ok(true)
    }
}

async fn read(path: &std::path::Path) -> Result<String, RecorderError> {
    let failed = |error: std::io::Error| RecorderError::Kubeconfig {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    tokio::fs::read_to_string(path).await.map_err(failed)
}

async fn client(path: &std::path::Path, text: &str) -> Result<Client, RecorderError> {
    let failed = |reason: String| RecorderError::Kubeconfig {
        path: path.to_owned(),
        reason,
    };
    let kubeconfig = Kubeconfig::from_yaml(text).map_err(|error| failed(error.to_string()))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(|error| failed(error.to_string()))?;
    Client::try_from(config).map_err(|error| failed(error.to_string()))
}
