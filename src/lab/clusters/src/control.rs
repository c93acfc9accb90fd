//! How the platform speaks to a supervisor: JSON lines over a unix socket that only the owner may open.
//!
//! A connection carries one request. Progress is answered line by line until the supervisor ends; the rest is one line.

mod client;
mod history;
mod server;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::provider::{EnvironmentState, Progress};

pub(crate) use client::{request, subscribe};
pub(crate) use history::History;
pub(crate) use server::{Requests, serve};

/// What can be asked of a supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub(crate) enum Request {
    /// How is it?
    Status,
    /// What happened so far and what happens from now on.
    Subscribe,
    /// End every program and then itself. Answered when that has begun.
    Stop,
}

/// One line of answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
    Status(Status),
    Progress(Progress),
    Stopping,
    Refused { reason: String },
}

/// A supervisor as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Status {
    pub(crate) pid: u32,
    pub(crate) state: EnvironmentState,
    pub(crate) port: Option<u16>,
}
