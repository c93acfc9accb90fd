//! What is said about a Workload's pods: not yet all ready, ready, one failed since. Reference section 4.13.

use jobs::GenericJob;
use kueue_api::conditions::{find, reasons, workload as types};
use kueue_api::v1beta2::Workload;

/// A state of the condition `PodsReady`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    WaitForStart,
    WaitForRecovery,
    Started,
    Recovered,
}

impl Readiness {
    /// What is to be said, if that is not what is said.
    #[must_use]
    pub fn news(job: &dyn GenericJob, workload: &Workload) -> Option<Self> {
        let told = find(workload.conditions(), types::PODS_READY);
        let now = Self::of(
            workload.is_admitted().then(|| job.pods_ready()),
            told.map(|c| (c.status == "True", c.reason.as_str())),
        );
        let same = |(status, reason)| status == now.is_ready() && reason == now.reason();
        let told = told.map(|c| (c.status == "True", c.reason.as_str()));
        (!told.is_some_and(same)).then_some(now)
    }

    /// From whether the pods are ready, none while there can be none, and what was said before.
    fn of(ready: Option<bool>, told: Option<(bool, &str)>) -> Self {
        let recovering =
            |reason: &str| reason == reasons::WAIT_FOR_RECOVERY || reason == reasons::RECOVERED;
        match (ready, told) {
            (None, _) => Self::WaitForStart,
            (Some(true), Some((_, reason))) if recovering(reason) => Self::Recovered,
            (Some(true), _) => Self::Started,
            (Some(false), Some((true, _))) => Self::WaitForRecovery,
            (Some(false), Some((_, reason))) if reason == reasons::WAIT_FOR_RECOVERY => {
                Self::WaitForRecovery
            }
            (Some(false), _) => Self::WaitForStart,
        }
    }

    /// The condition's status.
    #[must_use]
    pub fn is_ready(self) -> bool {
        matches!(self, Self::Started | Self::Recovered)
    }

    /// The condition's reason.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::WaitForStart => reasons::WAIT_FOR_START,
            Self::WaitForRecovery => reasons::WAIT_FOR_RECOVERY,
            Self::Started => reasons::STARTED,
            Self::Recovered => reasons::RECOVERED,
        }
    }

    /// The condition's message.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::WaitForStart => "Not all pods are ready or succeeded",
            Self::WaitForRecovery => "At least one pod has failed, waiting for recovery",
            Self::Started | Self::Recovered => {
                "All pods reached readiness and the workload is running"
            }
        }
    }
}
