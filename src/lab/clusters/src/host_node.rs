//! The host node: one Node of the cluster that runs pods for real, as sandboxed processes of this machine.
//!
//! It is a small kubelet for pods whose image it knows, and says in words what it cannot do for all others. Pure parts
//! first: [`plan`] (pod → what to run), [`status`] (what happened → pod status), [`payload`] (what is in a volume).
//! Then what acts: [`fetch`], [`runner`], [`server`]. It opens no TCP port: the API server comes in through
//! [`crate::egress`], pods go out to nothing but the API server.

mod addresses;
mod backoff;
mod events;
mod expand;
mod fetch;
mod images;
mod logs;
mod node;
mod payload;
mod plan;
mod probes;
mod process;
mod runner;
mod server;
mod status;
mod sync;
#[cfg(test)]
mod tests;
mod tls;
mod volumes;

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use kube::Client;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use images::{Image, KNOWN_IMAGES};

use crate::egress::Routes;

/// Name of the Node. Its certificate is that of `system:node:` and this name.
pub const NODE_NAME: &str = "plateforme";
/// Value of [`crate::kwok::NODE_LABEL`] on the host node.
pub const LABEL_VALUE: &str = "plateforme";
/// Key of the taint that keeps other pods away.
pub const TAINT_KEY: &str = "atelier.kueue/plateforme";

/// What the host node is made from.
#[derive(Clone)]
pub struct Options {
    /// Client with the certificate of `system:node:plateforme`.
    pub client: Client,
    /// Folder of its own for pods: volumes, logs, sockets. What an earlier run left there is removed.
    pub dir: PathBuf,
    /// Unix socket behind which the API server answers; alone in its folder.
    pub api_socket: PathBuf,
    /// The `sandbox-relay` program.
    pub sandbox_relay: PathBuf,
    /// The images it can run.
    pub images: Vec<Image>,
    /// Certificate and key of the kubelet endpoint, PEM.
    pub serving_cert: String,
    pub serving_key: String,
    /// The authority of client certificates, and the one certificate that may come in: the API server's. PEM.
    pub client_ca: String,
    pub kubelet_client_cert: String,
    /// Where the egress proxy looks up pods and the kubelet endpoint.
    pub routes: Routes,
    /// The supervisor's clock.
    pub clock: fn() -> Timestamp,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("dir", &self.dir)
            .field("images", &self.images)
            .finish_non_exhaustive()
    }
}

/// Why the host node does not run.
#[derive(Debug, thiserror::Error)]
pub enum HostNodeError {
    #[error("prepare the folder {}: {source}", path.display())]
    Folder {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("set up the kubelet endpoint: {reason}")]
    Endpoint { reason: String },
    #[error("register node {NODE_NAME}: {source}")]
    Register { source: Box<kube::Error> },
}

/// A running host node. Dropping it kills its pods' processes.
#[derive(Debug)]
pub struct HostNode {
    cancel: CancellationToken,
    pods: JoinHandle<()>,
    services: Vec<JoinHandle<()>>,
}

/// Everything the parts of the host node share.
pub(crate) struct Context {
    options: Options,
    events: events::Events,
    addresses: addresses::Addresses,
    logs: logs::LogBooks,
}

impl Context {
    fn now(&self) -> Timestamp {
        (self.options.clock)()
    }
}

/// Registers the node and starts serving it.
///
/// # Errors
/// When its folder cannot be prepared, its certificates are unusable, or the API server refuses the node.
pub async fn start(options: Options) -> Result<HostNode, HostNodeError> {
    prepare(&options.dir)?;
    let tls = tls::acceptor(&options)?;
    node::register(&options)
        .await
        .map_err(|source| HostNodeError::Register {
            source: Box::new(source),
        })?;
    let connections = options.routes.serve_kubelet();
    let context = Arc::new(Context {
        events: events::Events::new(&options.client),
        addresses: addresses::Addresses::default(),
        logs: logs::LogBooks::default(),
        options,
    });
    let cancel = CancellationToken::new();
    let services = vec![
        tokio::spawn(node::heartbeat(context.clone(), cancel.clone())),
        tokio::spawn(server::serve(
            context.clone(),
            connections,
            tls,
            cancel.clone(),
        )),
    ];
    let pods = tokio::spawn(sync::run(context, cancel.clone()));
    Ok(HostNode {
        cancel,
        pods,
        services,
    })
}

impl HostNode {
    /// Ends every pod's process within its grace period, and everything else. The pods stay in the cluster.
    pub async fn stop(mut self) {
        self.cancel.cancel();
        // A panic in there was already reported by the runtime.
        let _ = (&mut self.pods).await;
    }
}

impl Drop for HostNode {
    fn drop(&mut self) {
        self.cancel.cancel();
        self.pods.abort();
        self.services.iter().for_each(JoinHandle::abort);
    }
}

/// Volumes may hold credentials of pods that no longer exist; nothing in here is worth keeping.
fn prepare(dir: &std::path::Path) -> Result<(), HostNodeError> {
    let failed = |source| HostNodeError::Folder {
        path: dir.to_path_buf(),
        source,
    };
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    std::fs::create_dir_all(dir).map_err(failed)
}
