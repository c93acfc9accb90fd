//! What the reference offers and this scheduler does not do yet. A typed value, so that nobody has to guess from silence.

use crate::objects::{Preemption, PreemptionPolicy};

/// Something a ClusterQueue asks for and does not get yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unsupported {
    /// Preempting workloads of its own.
    PreemptionWithinClusterQueue,
    /// Preempting workloads that borrow from it.
    ReclaimWithinCohort,
    /// Preempting in order to borrow.
    BorrowWithinCohort,
    /// Admission checks, by name: its workloads wait until somebody else has answered them.
    AdmissionChecks(Vec<String>),
    /// Trying several flavors at once.
    ConcurrentAdmission,
}

impl Unsupported {
    /// The preemption policies that are set and have no effect yet.
    #[must_use]
    pub fn in_preemption(preemption: &Preemption) -> Vec<Self> {
        let policies = [
            (
                preemption.within_cluster_queue,
                Self::PreemptionWithinClusterQueue,
            ),
            (preemption.reclaim_within_cohort, Self::ReclaimWithinCohort),
            (preemption.borrow_within_cohort, Self::BorrowWithinCohort),
        ];
        let set = policies
            .into_iter()
            .filter(|(policy, _)| *policy != PreemptionPolicy::Never);
        set.map(|(_, unsupported)| unsupported).collect()
    }
}
