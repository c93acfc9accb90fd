//! What the operator of the controller chose, as far as decisions depend on it.

/// The switches of a cycle. Named like the reference's feature gates and configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Admit fewer pods than asked for where a pod set allows it.
    pub partial_admission: bool,
    /// Honour the fungibility of ClusterQueues and remember where a search stopped.
    pub flavor_fungibility: bool,
    /// Keep that memory for one cycle although quota has changed.
    pub preserve_scan_progress: bool,
    /// Within a cycle, higher priority before longer waiting.
    pub priority_sorting_within_cohort: bool,
    /// Share by dominant resource instead of by arrival.
    pub fair_sharing: bool,
    /// Ignore requests for resources a ClusterQueue does not cover.
    pub ignore_undeclared: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            partial_admission: true,
            flavor_fungibility: true,
            preserve_scan_progress: true,
            priority_sorting_within_cohort: true,
            fair_sharing: false,
            ignore_undeclared: false,
        }
    }
}
