//! Why a reconciliation has to be tried again.

use jobs::ancestors::Astray;

use crate::job::effects::EffectError;
use crate::multikueue::decide::Trouble;
use crate::write::WriteError;

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError {
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Job(#[from] jobs::JobError),
    #[error("object cannot be written as JSON: {0}")]
    Json(serde_json::Error),
    #[error(transparent)]
    Effect(#[from] EffectError),
    #[error(transparent)]
    Astray(#[from] Astray),
    /// Pods and their Workload do not go together yet.
    #[error("{0}")]
    Pods(String),
    /// A worker cluster did not do what it was asked.
    #[error("cluster {cluster}: {source}")]
    Cluster { cluster: String, source: WriteError },
    /// A Workload cannot be handed over further for now.
    #[error(transparent)]
    HandOver(#[from] Trouble),
    /// A check does not say what it needs to say.
    #[error("{0}")]
    Check(String),
    #[error("cohort has a cycle")]
    CohortCycle,
}

impl ReconcileError {
    /// Whether the API server understood and said no for good.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Write(error) => error.is_refusal(),
            Self::Job(_) => true,
            Self::Effect(error) => matches!(error, EffectError::Job(_)),
            Self::Json(_)
            | Self::Astray(_)
            | Self::Pods(_)
            | Self::Cluster { .. }
            | Self::HandOver(_)
            | Self::Check(_)
            | Self::CohortCycle => false,
        }
    }

    /// Whether it only means that something changed meanwhile, which is nothing to worry about.
    #[must_use]
    pub fn is_race(&self) -> bool {
        matches!(
            self,
            Self::Write(WriteError::Outdated { .. } | WriteError::Gone { .. })
        )
    }
}
