//! Terminals that belong to the server: a shell goes on whatever happens to the pages that show it.
//!
//! [`session`] owns a shell and its history, [`attach`] is one page's view of it, [`socket`] carries that over a
//! WebSocket, [`registry`] knows which terminals there are. What a shell may see is decided by whoever implements
//! [`Shells`], not here.

pub mod attach;
pub mod doors;
pub mod history;
pub mod protocol;
pub mod registry;
pub mod screen;
pub mod session;
pub mod socket;

use std::fmt;

use course::LabId;
use futures::future::BoxFuture;

use crate::environments::shell::ShellCommand;

/// Where shells come from.
pub trait Shells: fmt::Debug + Send + Sync {
    /// The command of a new shell, where shells of the trainee's environment run and with the files of a lab.
    fn shell(&self, lab: &LabId) -> BoxFuture<'_, Result<ShellCommand, ShellRefusal>>;
}

/// Why no shell can be started now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShellRefusal {
    #[error("there is no running environment")]
    NoEnvironment,
    #[error("bubblewrap is not installed")]
    NoSandbox,
    #[error("{0}")]
    Failed(String),
}

impl ShellRefusal {
    /// The stable name that pages translate.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::NoEnvironment => "no-environment",
            Self::NoSandbox => "no-sandbox",
            Self::Failed(_) => "shell-failed",
        }
    }
}
