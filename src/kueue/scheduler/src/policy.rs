//! What the operator of the controller chose, as far as decisions depend on it: feature gates and configuration, named as the
//! reference names them (kueue-reference.md, sections 2 and 3).

/// The switches of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a feature gate of its own"
)]
pub struct Policy {
    /// Admit fewer pods than asked for where a pod set allows it.
    pub partial_admission: bool,
    /// Honour the fungibility of ClusterQueues and remember where a search stopped.
    pub flavor_fungibility: bool,
    /// Keep that memory for one cycle although quota has changed.
    pub preserve_scan_progress: bool,
    /// Within a cycle, higher priority before longer waiting.
    pub priority_sorting_within_cohort: bool,
    /// Within a cycle, those that wait for their own preemptions before all others.
    pub prioritize_preemptors: bool,
    /// Share by dominant resource instead of by arrival, preempting by these strategies.
    pub fair_sharing: Option<FairSharing>,
    /// In the tournament of fair sharing, who does not borrow comes before who does.
    pub fair_sharing_prioritize_non_borrowing: bool,
    /// With fair sharing, who stays within its nominal quota may preempt whoever borrows it, whatever the shares.
    pub fair_sharing_preempt_within_nominal: bool,
    /// Serve the LocalQueues of a ClusterQueue by their past usage where it asks for that.
    pub admission_fair_sharing: bool,
    /// Look for other targets when those of a workload are taken by an earlier one of the same cycle.
    pub recompute_upon_overlap: bool,
    /// Variants of one workload compete for several flavors at once.
    pub concurrent_admission: bool,
    /// A manager cluster says when a workload may preempt.
    pub multikueue_orchestrated_preemption: bool,
    /// Admit nobody while the pods of somebody are not ready (`waitForPodsReady.blockAdmission`).
    pub block_admission: bool,
    /// A grown workload takes the place of the slice it replaces.
    pub elastic_jobs: bool,
    /// Ignore requests for resources a ClusterQueue does not cover.
    pub ignore_undeclared: bool,
    /// Give pods places in topologies.
    pub tas: bool,
    /// Unconstrained pods fill the fullest domains first.
    pub tas_profile_mixed: bool,
    /// Preferred placement spreads evenly over as few domains as possible.
    pub tas_balanced_placement: bool,
    /// Preferred node affinity comes before a good fit.
    pub tas_respect_preferred_affinity: bool,
    /// Flavors on the same nodes see what is placed in each other.
    pub tas_handle_overlapping_flavors: bool,
    /// Look for another place when an earlier workload of the cycle took it.
    pub tas_recompute_within_cycle: bool,
    /// Evict a workload at once when its failed node cannot be replaced.
    pub tas_fail_fast: bool,
    /// Growing workloads keep the places of their pods.
    pub elastic_jobs_with_tas: bool,
    /// A single pod keeps its place although its node failed.
    pub skip_reassignment_of_pods: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            partial_admission: true,
            flavor_fungibility: true,
            preserve_scan_progress: true,
            priority_sorting_within_cohort: true,
            prioritize_preemptors: false,
            fair_sharing: None,
            fair_sharing_prioritize_non_borrowing: true,
            fair_sharing_preempt_within_nominal: true,
            admission_fair_sharing: false,
            recompute_upon_overlap: true,
            concurrent_admission: false,
            multikueue_orchestrated_preemption: false,
            block_admission: false,
            elastic_jobs: true,
            ignore_undeclared: false,
            tas: true,
            tas_profile_mixed: true,
            tas_balanced_placement: false,
            tas_respect_preferred_affinity: false,
            tas_handle_overlapping_flavors: true,
            tas_recompute_within_cycle: true,
            tas_fail_fast: true,
            elastic_jobs_with_tas: false,
            skip_reassignment_of_pods: true,
        }
    }
}

/// How fair sharing preempts: by one rule, or by a second one for those whom the first one spared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairSharing {
    /// The rule that is tried first.
    pub first: FairStrategy,
    /// The one after it.
    pub second: Option<FairStrategy>,
}

impl Default for FairSharing {
    fn default() -> Self {
        Self {
            first: FairStrategy::LessThanOrEqualToFinalShare,
            second: Some(FairStrategy::LessThanInitialShare),
        }
    }
}

/// A rule that compares the share of the preemptor, its workload included, with that of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FairStrategy {
    /// Not above the target's share without the preempted workload.
    LessThanOrEqualToFinalShare,
    /// Below the target's share with it.
    LessThanInitialShare,
}
