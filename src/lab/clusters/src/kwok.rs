//! The simulated nodes of an environment: their Node objects, and KWOK, which plays their pods with stages of ours.
//!
//! Nothing here runs a process: the supervisor runs [`command`] with the configuration of [`configuration`]. KWOK
//! manages only nodes labelled [`NODE_LABEL`]`=`[`SIMULATED`], never the host node. Their leases are renewed by us
//! ([`keep_alive`]), so that a slow or frozen KWOK makes no node `NotReady`.

mod heartbeat;
mod nodes;
mod orphans;
mod stages;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use heartbeat::keep_alive;
pub(crate) use heartbeat::renew as renew_lease;
pub(crate) use nodes::{KUBELET_PORT, status as node_status};
pub use nodes::{create_namespaces, create_nodes, node_object};
pub use orphans::remove_orphans;
pub use stages::configuration;

/// Label that says who serves a node.
pub const NODE_LABEL: &str = "atelier.kueue/node";
/// Value of [`NODE_LABEL`] on nodes that KWOK plays.
pub const SIMULATED: &str = "simule";
/// Pod annotation: how long the pod runs, `45s`, `2m`, `1h` or plain seconds. It wins over `sleep N` in the command.
pub const DURATION_ANNOTATION: &str = "atelier.kueue/duration";
/// Pod annotation: exit code of every container when the pod's time is over.
pub const EXIT_CODE_ANNOTATION: &str = "atelier.kueue/exit-code";
/// Pod annotation: `"true"` for a pod that starts, never becomes ready and never ends.
pub const NEVER_READY_ANNOTATION: &str = "atelier.kueue/never-ready";
/// How long a pod runs when nothing says otherwise.
pub const DEFAULT_SECONDS: u32 = 20;

/// User name, and group, of KWOK's own client certificate.
pub const IDENTITY: &str = "atelier:kwok";
/// Addresses of simulated pods: nobody answers there, and the egress proxy refuses them.
pub(crate) const POD_CIDR: &str = "10.245.0.0/16";

/// Why the simulated nodes could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum KwokError {
    #[error("create node {node}: {source}")]
    CreateNode { node: String, source: kube::Error },
    #[error("create namespace {namespace}: {source}")]
    CreateNamespace {
        namespace: String,
        source: kube::Error,
    },
    #[error("write the simulator's configuration {}: {source}", path.display())]
    WriteConfiguration {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// What KWOK is started with.
#[derive(Debug, Clone)]
pub struct Options {
    pub kwok: PathBuf,
    pub configuration: PathBuf,
    pub kubeconfig: PathBuf,
}

/// Writes KWOK's configuration into `dir` and answers its path.
///
/// # Errors
/// When the file cannot be written.
pub fn write_configuration(dir: &Path) -> Result<PathBuf, KwokError> {
    let path = dir.join("kwok.yaml");
    std::fs::write(&path, configuration()).map_err(|source| KwokError::WriteConfiguration {
        path: path.clone(),
        source,
    })?;
    Ok(path)
}

/// The command line of KWOK: no port is opened, and leases are not its business.
#[must_use]
pub fn command(options: &Options) -> Vec<OsString> {
    let Options {
        kwok,
        configuration,
        kubeconfig,
    } = options;
    let selector = format!("--manage-nodes-with-label-selector={NODE_LABEL}={SIMULATED}");
    vec![
        kwok.into(),
        "--config".into(),
        configuration.into(),
        "--kubeconfig".into(),
        kubeconfig.into(),
        selector.into(),
        "--node-lease-duration-seconds=0".into(),
        format!("--cidr={POD_CIDR}").into(),
        "--node-port=0".into(),
    ]
}
