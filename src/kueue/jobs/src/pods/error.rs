//! Why no Workload can be made of a group of pods, or found for it, with the words of the reference.

use kueue_api::names::POD_GROUP_NAME;
use kueue_api::names::annotations::POD_GROUP_TOTAL_COUNT as TOTAL;

use super::IndexError;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// The pod names no group.
    #[error("pod doesn't have a '{POD_GROUP_NAME}' {}", if *.annotated { "annotation/label" } else { "label" })]
    NoGroup {
        /// Whether an annotation would do, too.
        annotated: bool,
    },
    #[error("failed to extract '{TOTAL}' annotation")]
    NoTotal,
    #[error("strconv.Atoi: parsing {0:?}: invalid syntax")]
    TotalNotANumber(String),
    #[error(
        "incorrect annotation value '{TOTAL}={0}': group total count should be greater than zero"
    )]
    TotalTooSmall(String),
    #[error("failed to extract '{TOTAL}' annotation from the pod '{pod}'")]
    NoTotalOf { pod: String },
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error("failed to find a runnable pod in the group")]
    NoneRuns,
    #[error("'{0}' group has fewer runnable pods than expected")]
    TooFew(String),
    #[error("pods '{one}' and '{other}' has different queue names: {ones}!={others}")]
    Queues {
        one: String,
        other: String,
        ones: String,
        others: String,
    },
    #[error("pods '{one}' and '{other}' has different '{TOTAL}' values: {ones}!={others}")]
    Totals {
        one: String,
        other: String,
        ones: i32,
        others: i32,
    },
    #[error("pod group can't include more than {0} roles")]
    TooManyRoles(usize),
    #[error("constructing workload: pods have different label values")]
    Labels,
    #[error("constructing workload: pods have different annotation values")]
    Annotations,
}

impl GroupError {
    /// Whether trying again helps only once somebody has changed the pods.
    #[must_use]
    pub fn waits_for_a_change(&self) -> bool {
        matches!(
            self,
            Self::TooFew(_) | Self::Queues { .. } | Self::Totals { .. } | Self::TooManyRoles(_)
        )
    }
}
