//! A workload that has to leave so that another one fits, and by which right (kueue-reference.md, sections 4.5 and 4.6).

use std::sync::Arc;

use crate::admitted::Admitted;

/// By which right a workload is preempted. Named like the reasons of the condition `Preempted`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PreemptionReason {
    /// It is in the same ClusterQueue and matters less.
    InClusterQueue,
    /// It holds quota that was only lent.
    InCohortReclamation,
    /// Its ClusterQueue has the larger share.
    InCohortFairSharing,
    /// It matters less than a workload that borrows itself.
    InCohortReclaimWhileBorrowing,
}

/// A workload that has to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Which one, with what it holds.
    pub admitted: Arc<Admitted>,
    /// By which right.
    pub reason: PreemptionReason,
}
