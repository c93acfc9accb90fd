//! Why a reconciliation has to be tried again.

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
    /// The API server keeps something of the podsets back, so that they never equal those of the job.
    #[error(
        "Workload {0} cannot be made equal to its job: is its CustomResourceDefinition the one of this controller?"
    )]
    NeverEquivalent(String),
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
            Self::Json(_) | Self::NeverEquivalent(_) | Self::CohortCycle => false,
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
