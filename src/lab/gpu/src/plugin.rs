//! The device plugin: keeps the node's devices registered with the kubelet, whatever happens to either socket.
//!
//! A session binds a socket of ours in the kubelet's folder, serves it, and registers it. It ends when the kubelet's socket is
//! another one (the kubelet restarted, and forgot us) or when ours is gone; then the next one begins.

pub mod rpc;
pub mod service;

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::inventory::{Folders, Inventory};
use crate::watch::FolderWatch;
use crate::{RESOURCE, wire};
use service::DevicePlugin;

/// The kubelet's socket in its folder.
pub const KUBELET: &str = "kubelet.sock";
/// Ours.
pub const ENDPOINT: &str = "atelier-gpu.sock";
/// Between two attempts after a failure: the first, and the longest.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));

/// What a plugin needs to know.
#[derive(Debug, Clone)]
pub struct Plugin {
    /// Usually `/var/lib/kubelet/device-plugins`.
    pub kubelet: PathBuf,
    pub folders: Folders,
    pub inventory: watch::Receiver<Arc<Inventory>>,
}

/// Why a session could not be held.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("watch {}: {source}", path.display())]
    Watch { path: PathBuf, source: io::Error },
    #[error("bind {}: {source}", path.display())]
    Bind { path: PathBuf, source: io::Error },
    #[error("serve the device plugin: {0}")]
    Serve(#[source] tonic::transport::Error),
    #[error("register {RESOURCE} with the kubelet: {0}")]
    Register(#[source] rpc::CallError),
}

/// Why a session ended without a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Cancelled,
    KubeletRestarted,
    SocketVanished,
}

/// What makes a file the same file: device, inode and the time of its last change, for inodes are used again.
type Identity = (u64, u64, i64, i64);

impl Plugin {
    /// Holds one session after the other until it is cancelled.
    pub async fn run(self, cancel: CancellationToken) {
        let mut wait = BACKOFF.0;
        loop {
            match self.session(&cancel).await {
                Ok(Ended::Cancelled) => return,
                Ok(ended) => {
                    tracing::info!(?ended, "registering anew");
                    wait = BACKOFF.0;
                }
                Err(error) => {
                    tracing::warn!(%error, "trying again in {wait:?}");
                    tokio::select! {
                        () = cancel.cancelled() => return,
                        () = tokio::time::sleep(wait) => {}
                    }
                    wait = (wait * 2).min(BACKOFF.1);
                }
            }
        }
    }

    async fn session(&self, cancel: &CancellationToken) -> Result<Ended, SessionError> {
        let watched = |source| SessionError::Watch {
            path: self.kubelet.clone(),
            source,
        };
        let watch = FolderWatch::new(&self.kubelet).map_err(watched)?;
        let kubelet = self.kubelet.join(KUBELET);
        let known = loop {
            if let Some(identity) = identity(&kubelet) {
                break identity;
            }
            tokio::select! {
                () = cancel.cancelled() => return Ok(Ended::Cancelled),
                change = watch.changed() => change.map_err(watched)?,
            }
        };
        let socket = self.kubelet.join(ENDPOINT);
        let listener = bind(&socket)?;
        let mine = identity(&socket);
        // Ends the server and every stream it serves, however this session ends.
        let over = cancel.child_token();
        let _guard = over.clone().drop_guard();
        let served = DevicePlugin::new(self.inventory.clone(), self.folders.clone(), over.clone());
        let mut server = Box::pin(served.serve(listener, over));
        let watching = async {
            register(&kubelet).await.map_err(SessionError::Register)?;
            tracing::info!(resource = RESOURCE, "registered with the kubelet");
            loop {
                if identity(&kubelet) != Some(known) {
                    return Ok(Ended::KubeletRestarted);
                }
                if identity(&socket) != mine {
                    return Ok(Ended::SocketVanished);
                }
                watch.changed().await.map_err(watched)?;
            }
        };
        tokio::select! {
            () = cancel.cancelled() => Ok(Ended::Cancelled),
            outcome = watching => outcome,
            outcome = &mut server => outcome.map(|()| Ended::Cancelled).map_err(SessionError::Serve),
        }
    }
}

fn identity(path: &Path) -> Option<Identity> {
    let file = std::fs::symlink_metadata(path).ok()?;
    Some((file.dev(), file.ino(), file.ctime(), file.ctime_nsec()))
}

fn bind(socket: &Path) -> Result<UnixListener, SessionError> {
    let failed = |source| SessionError::Bind {
        path: socket.to_owned(),
        source,
    };
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    UnixListener::bind(socket).map_err(failed)
}

async fn register(kubelet: &Path) -> Result<(), rpc::CallError> {
    let request = wire::RegisterRequest {
        version: wire::VERSION.to_owned(),
        endpoint: ENDPOINT.to_owned(),
        resource_name: RESOURCE.to_owned(),
        options: Some(service::OPTIONS),
    };
    let channel = rpc::connect(kubelet).await?;
    let _: wire::Empty = rpc::call(channel, "/v1beta1.Registration/Register", request).await?;
    Ok(())
}

#[cfg(test)]
mod tests;
