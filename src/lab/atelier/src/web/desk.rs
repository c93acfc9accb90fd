//! What pages need of the trainee's environment and of the judge, as values and one trait.
//!
//! The values hold no sentences; pages put them into words.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use clusters::provider::Phase;
use course::{Args, Lab, LabId};
use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::watch;

use super::terminal::Shells;

/// Where the environment is in its life.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum EnvironmentIs {
    #[default]
    Absent,
    Starting,
    Running,
    Stopping,
    Stopped,
    Deleting,
    /// It should run and does not.
    Broken {
        reason: String,
    },
}

impl EnvironmentIs {
    /// The stable name that pages translate.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Deleting => "deleting",
            Self::Broken { .. } => "broken",
        }
    }
}

/// How far a phase of a start is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseIs {
    Ahead,
    Started(Timestamp),
    Done { seconds: u64 },
    Failed,
}

/// A program of the environment that died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildTrouble {
    pub child: String,
    pub attempt: u32,
    pub running_again: bool,
    pub at: Timestamp,
}

/// The environment as pages show it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EnvironmentView {
    pub is: EnvironmentIs,
    /// The profile of its nodes.
    pub profile: Option<String>,
    /// The phases of the last start, all of them, in order.
    pub phases: Vec<(Phase, PhaseIs)>,
    pub trouble: Vec<ChildTrouble>,
    pub created: Option<Timestamp>,
    /// Why the last act failed.
    pub failure: Option<String>,
}

/// What a trainee may do to the environment. Each returns at once; the view tells how it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Create,
    Start,
    Stop,
    Reset,
    Delete,
}

impl Act {
    pub const ALL: [Self; 5] = [
        Self::Create,
        Self::Start,
        Self::Stop,
        Self::Reset,
        Self::Delete,
    ];

    /// The name in URLs and messages.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Reset => "reset",
            Self::Delete => "delete",
        }
    }

    /// Whether it destroys something, so that it is asked for twice.
    #[must_use]
    pub const fn destroys(self) -> bool {
        matches!(self, Self::Reset | Self::Delete)
    }

    /// Whether the act makes sense for an environment in this state.
    #[must_use]
    pub const fn fits(self, is: &EnvironmentIs) -> bool {
        use EnvironmentIs as Is;
        match self {
            Self::Create => matches!(is, Is::Absent),
            Self::Start => matches!(is, Is::Stopped | Is::Broken { .. }),
            Self::Stop => matches!(is, Is::Running | Is::Starting),
            Self::Reset | Self::Delete => {
                matches!(is, Is::Running | Is::Stopped | Is::Broken { .. })
            }
        }
    }
}

/// How a criterion stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Standing {
    Passed,
    Failed,
    #[default]
    Waiting,
    NotJudged,
}

impl Standing {
    /// The stable name, also the family of the lab's messages.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Waiting => "waiting",
            Self::NotJudged => "not-judged",
        }
    }
}

/// A fact that a verdict rests on, in the words of the record: pages show what `atelier grade` writes.
pub use timeline::Evidence;

/// A criterion's verdict.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VerdictView {
    pub standing: Standing,
    /// The engine's reason.
    pub reason: String,
    /// The typical mistake that was recognised.
    pub say: Option<String>,
    pub args: Args,
    pub evidence: Vec<Evidence>,
}

/// Verdicts of a lab by criterion. A criterion that is not in it waits.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verdicts(pub std::collections::BTreeMap<String, VerdictView>);

impl Verdicts {
    /// A criterion's standing.
    #[must_use]
    pub fn standing(&self, criterion: &str) -> Standing {
        self.0
            .get(criterion)
            .map_or(Standing::Waiting, |verdict| verdict.standing)
    }
}

/// Queues, Workloads and GPU nodes as they are now.
#[derive(Debug, Clone, Default)]
pub struct BoardView {
    /// Nothing is known while no environment runs.
    pub board: Option<timeline::Board>,
}

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerRefusal {
    #[error("there is no running environment to answer about")]
    NoEnvironment,
    #[error("expected {0}")]
    Unfit(String),
    #[error("{0}")]
    Failed(String),
}

/// A trainee's environment, its judge and its shells.
pub trait Desk: fmt::Debug + Send + Sync {
    /// The environment, as it changes.
    fn environment(&self) -> watch::Receiver<EnvironmentView>;

    /// Does something to the environment, for the sake of a lab; returns at once.
    fn act(&self, act: Act, lab: Option<Arc<Lab>>);

    /// Logs of the environment's programs: names and files.
    fn logs(&self) -> Vec<(String, PathBuf)>;

    /// The trainee's kubeconfig as a text for use on this machine, when there is one. Never the administrator's.
    fn kubeconfig(&self) -> Option<String>;

    /// The verdicts of a lab, as they change.
    fn verdicts(&self, lab: &LabId) -> watch::Receiver<Arc<Verdicts>>;

    /// The live table, as it changes.
    fn board(&self) -> watch::Receiver<Arc<BoardView>>;

    /// The trainee's answers so far, by question.
    fn answers(&self, lab: &LabId) -> std::collections::BTreeMap<String, serde_json::Value>;

    /// Takes an answer.
    fn answer(
        &self,
        lab: &LabId,
        question: &str,
        value: serde_json::Value,
    ) -> BoxFuture<'_, Result<(), AnswerRefusal>>;

    /// Where shells come from.
    fn shells(&self) -> Arc<dyn Shells>;
}
