//! What every kind of environment can do, as one trait: the rest of the platform cannot tell which kind it has.
//!
//! Values only, and no process or client. Texts for people are made elsewhere, from the keys and reasons here.

mod id;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::profile::Profile;

pub use id::{EnvironmentId, InvalidId};

/// What a new environment is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentSpec {
    /// Its name on this machine.
    pub id: EnvironmentId,
    /// Its nodes.
    pub profile: Profile,
}

/// An environment as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    pub id: EnvironmentId,
    pub state: EnvironmentState,
    /// Holds everything of the environment; only its owner may enter.
    pub dir: PathBuf,
    /// For the platform: every right, over TCP on loopback. It appears with the first start.
    pub admin_kubeconfig: PathBuf,
    /// For the trainee: the enumerated role, and `https://127.0.0.1:6443` as seen in a sandbox.
    pub trainee_kubeconfig: PathBuf,
    /// A unix socket behind which the API server answers. It is alone in its folder, as `exec::Sandbox` wants.
    pub api_socket: PathBuf,
    /// Where its trainee's shells live, when that is a container.
    pub shells: Option<ShellNetwork>,
    pub profile_name: String,
    /// When it was created.
    pub created: Timestamp,
}

/// A container engine's network with the nodes of one environment, and what shells on it are made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellNetwork {
    /// The engine's own program.
    pub engine: PathBuf,
    /// The network's name in the engine.
    pub name: String,
    /// Where the API server answers there. Its certificate is for `localhost`.
    pub server: String,
    /// The image of shells, as the engine calls it.
    pub image: String,
    /// Where that image is found when the engine does not have it yet.
    pub archive: PathBuf,
}

/// Where an environment is in its life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum EnvironmentState {
    /// Its servers are being started; the progress events say how far.
    Starting,
    /// Usable.
    Running,
    /// Its servers are being stopped.
    Stopping,
    /// Kept on disk, nothing runs.
    Stopped,
    /// It should run and does not.
    Broken { reason: String },
}

/// The steps of a start, in the order in which they end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    Directory,
    Certificates,
    Etcd,
    /// The containers of a cluster's nodes, with the servers in them.
    Containers,
    ApiServer,
    ControllerManager,
    Scheduler,
    Rules,
    Nodes,
    HostNode,
    Ready,
}

impl Phase {
    /// Every phase, in order.
    pub const ALL: [Self; 11] = [
        Self::Directory,
        Self::Certificates,
        Self::Etcd,
        Self::Containers,
        Self::ApiServer,
        Self::ControllerManager,
        Self::Scheduler,
        Self::Rules,
        Self::Nodes,
        Self::HostNode,
        Self::Ready,
    ];

    /// The phases of a start, in order, given those that have begun: servers are processes of the machine until it shows
    /// that they are containers, where some begin unseen.
    #[must_use]
    pub fn of_start(begun: &[Self]) -> Vec<Self> {
        let unseen: &[Self] = if begun.contains(&Self::Containers) {
            &[Self::Etcd, Self::Scheduler]
        } else {
            &[Self::Containers]
        };
        let seen = |phase: &Self| !unseen.contains(phase);
        Self::ALL.into_iter().filter(seen).collect()
    }

    /// The stable name that pages translate.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::Certificates => "certificates",
            Self::Etcd => "etcd",
            Self::Containers => "containers",
            Self::ApiServer => "api-server",
            Self::ControllerManager => "controller-manager",
            Self::Scheduler => "scheduler",
            Self::Rules => "rules",
            Self::Nodes => "nodes",
            Self::HostNode => "host-node",
            Self::Ready => "ready",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

/// How far one phase is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum PhaseState {
    Started,
    Done,
    Failed { reason: String },
}

/// One step forward of a start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseEvent {
    pub phase: Phase,
    pub state: PhaseState,
    pub at: Timestamp,
}

/// What happened to one of an environment's programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum ChildChange {
    /// It ended by itself; it will be started again after `next_try_ms`.
    Died { status: String, next_try_ms: u64 },
    /// It runs again.
    Restarted,
}

/// A program of an environment died or runs again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildEvent {
    /// Its name, as in `kube-apiserver`.
    pub child: String,
    pub change: ChildChange,
    /// How often it was started again without lasting.
    pub attempt: u32,
    pub at: Timestamp,
}

impl ChildEvent {
    /// How long until it is started again.
    #[must_use]
    pub fn next_try(&self) -> Option<Duration> {
        match &self.change {
            ChildChange::Died { next_try_ms, .. } => Some(Duration::from_millis(*next_try_ms)),
            ChildChange::Restarted => None,
        }
    }
}

/// What a subscriber hears.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Progress {
    Phase(PhaseEvent),
    Child(ChildEvent),
    State(EnvironmentState),
}

/// An act on an environment that failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ProviderError {
    #[error("no environment is named {0}")]
    Unknown(EnvironmentId),
    #[error("environment {0} exists already: delete it first, or start it")]
    Exists(EnvironmentId),
    #[error("environment {id} is busy: {what}")]
    Busy { id: EnvironmentId, what: String },
    #[error("{reason}")]
    Unsuitable {
        /// Why this machine cannot hold (another) environment, and what to do.
        reason: String,
    },
    #[error("{act} environment {id}: {reason}")]
    Failed {
        id: EnvironmentId,
        act: &'static str,
        phase: Option<Phase>,
        reason: String,
    },
    #[error("{act} of environment {id} was cancelled")]
    Cancelled {
        id: EnvironmentId,
        act: &'static str,
    },
}

/// Brings environments up and down.
pub trait Provider: fmt::Debug + Send + Sync {
    /// Makes an environment and returns when it is usable. When it fails or is cancelled, nothing of it is left.
    fn create(
        &self,
        spec: EnvironmentSpec,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Environment, ProviderError>>;

    /// Starts a stopped or broken environment on its data and returns when it is usable. One that runs is left alone.
    fn start(
        &self,
        id: EnvironmentId,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Environment, ProviderError>>;

    /// Stops every program of an environment and keeps its data.
    fn stop(&self, id: EnvironmentId) -> BoxFuture<'_, Result<(), ProviderError>>;

    /// Stops an environment and removes everything of it. One that does not exist is already deleted.
    fn delete(&self, id: EnvironmentId) -> BoxFuture<'_, Result<(), ProviderError>>;

    /// Every environment, ordered by id.
    fn list(&self) -> BoxFuture<'_, Result<Vec<Environment>, ProviderError>>;

    /// One environment.
    fn get(&self, id: EnvironmentId) -> BoxFuture<'_, Result<Environment, ProviderError>>;

    /// What happens to an environment: first what has happened since its last start, then everything new. It may be
    /// asked for before the environment exists, and lives until it is dropped.
    fn subscribe(&self, id: EnvironmentId) -> BoxStream<'static, Progress>;

    /// After this program was started: takes over what runs, starts again what should run, and removes what was
    /// being created when an earlier run was killed.
    fn adopt(&self) -> BoxFuture<'_, Result<Vec<Environment>, ProviderError>>;
}
