//! What the configuration says, as far as the cache depends on it.

use std::collections::BTreeMap;

use quantity::Quantity;
use scheduler::{AdmissionFairSharing, FairSharing};

macro_rules! features {
    ($($field:ident: $gate:literal = $default:literal,)*) => {
        /// Feature gates that change decisions, named like the reference's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Features {
            $(
                #[doc = concat!("`", $gate, "`.")]
                pub $field: bool,
            )*
        }

        impl Default for Features {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl Features {
            /// Asks for every gate by its name.
            pub fn read(on: impl Fn(&str) -> bool) -> Self {
                Self { $($field: on($gate),)* }
            }
        }
    };
}

features! {
    admission_fair_sharing: "AdmissionFairSharing" = true,
    admission_gated_by: "AdmissionGatedBy" = true,
    concurrent_admission: "ConcurrentAdmission" = false,
    elastic_jobs: "ElasticJobsViaWorkloadSlices" = true,
    elastic_jobs_with_tas: "ElasticJobsViaWorkloadSlicesWithTAS" = false,
    fair_sharing_preempt_within_nominal: "FairSharingPreemptWithinNominal" = true,
    fair_sharing_prioritize_non_borrowing: "FairSharingPrioritizeNonBorrowing" = true,
    flavor_fungibility: "FlavorFungibility" = true,
    multikueue_orchestrated_preemption: "MultiKueueOrchestratedPreemption" = false,
    partial_admission: "PartialAdmission" = true,
    preserve_scan_progress: "FlavorFungibilityPreserveScanProgress" = true,
    prioritize_preemptors: "PrioritizePreemptorWorkloads" = false,
    priority_boost: "PriorityBoost" = false,
    priority_sorting_within_cohort: "PrioritySortingWithinCohort" = true,
    quota_check_strategy: "QuotaCheckStrategy" = true,
    reclaimable_pods: "ReclaimablePods" = true,
    recompute_upon_overlap: "RecomputeAssignmentUponPreemptionTargetsOverlap" = true,
    scheduling_equivalence_hashing: "SchedulingEquivalenceHashing" = true,
    tas: "TopologyAwareScheduling" = true,
    tas_balanced_placement: "TASBalancedPlacement" = false,
    tas_failed_node_replacement: "TASFailedNodeReplacement" = true,
    tas_failed_node_replacement_fail_fast: "TASFailedNodeReplacementFailFast" = true,
    tas_handle_overlapping_flavors: "TASHandleOverlappingFlavors" = true,
    tas_multi_layer_topology: "TASMultiLayerTopology" = true,
    tas_profile_mixed: "TASProfileMixed" = true,
    tas_recompute_within_cycle: "TASRecomputeAssignmentWithinSchedulingCycle" = true,
    tas_replace_on_pod_termination: "TASReplaceNodeOnPodTermination" = true,
    tas_replace_on_taints: "TASReplaceNodeOnNodeTaints" = true,
    tas_replace_when_not_ready: "TASReplaceNodeDueToNotReadyOverFixedTime" = false,
    tas_respect_preferred_affinity: "TASRespectNodeAffinityPreferred" = false,
    skip_reassignment_of_pods: "SkipReassignmentForPodOwnedWorkloads" = true,
    tas_encode_by_prefix: "TASAssignmentsEncodingByHostnamePrefix" = true,
    unadmitted_workloads_observability: "UnadmittedWorkloadsObservability" = true,
}

/// Which time orders workloads whose pods were not ready in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PodsReadyTimestamp {
    /// That of their eviction.
    #[default]
    Eviction,
    /// That of their creation.
    Creation,
}

/// What to do with resources that a ClusterQueue does not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum QuotaCheck {
    /// The workload does not fit.
    #[default]
    BlockUndeclared,
    /// They need no quota.
    IgnoreUndeclared,
}

/// Makes other resources of one that pods ask for.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Transformation {
    /// Whether the resource itself is asked for, too.
    pub retain: bool,
    /// What comes out is multiplied by what is asked of this resource, if anything is.
    pub multiply_by: Option<String>,
    /// How much of each resource comes out for one.
    pub outputs: BTreeMap<String, Quantity>,
}

/// A label of workloads by which metrics are told apart.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TrackedLabel {
    /// The key of the label, or of the annotation.
    pub key: String,
    /// Whether it is an annotation.
    pub annotation: bool,
    /// The values that are told apart; if there are none, all are.
    pub values: Vec<String>,
}

impl TrackedLabel {
    /// What metrics say for all values that are not told apart.
    pub const UNTRACKED: &str = "kueue.x-k8s.io/_UNTRACKED_VALUE_";
}

/// The configuration of a cache.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Options {
    /// Feature gates.
    pub features: Features,
    /// Resources whose names begin with one of these are not counted.
    pub exclude_resource_prefixes: Vec<String>,
    /// Resources that are turned into others, by name.
    pub transformations: BTreeMap<String, Transformation>,
    /// The order of workloads whose pods were not ready in time.
    pub pods_ready_timestamp: PodsReadyTimestamp,
    /// Resources that nobody declared.
    pub quota_check: QuotaCheck,
    /// Admit nobody while the pods of somebody are not ready.
    pub block_admission: bool,
    /// Share by dominant resource.
    pub fair_sharing: Option<FairSharing>,
    /// Serve LocalQueues by their past usage.
    pub admission_fair_sharing: Option<AdmissionFairSharing>,
    /// Labels of workloads by which metrics are told apart.
    pub tracked_labels: Vec<TrackedLabel>,
}

impl Options {
    /// What of it the scheduler has to know.
    #[must_use]
    pub fn policy(&self) -> scheduler::Policy {
        let gates = &self.features;
        scheduler::Policy {
            partial_admission: gates.partial_admission,
            flavor_fungibility: gates.flavor_fungibility,
            preserve_scan_progress: gates.preserve_scan_progress,
            priority_sorting_within_cohort: gates.priority_sorting_within_cohort,
            prioritize_preemptors: gates.prioritize_preemptors,
            fair_sharing: self.fair_sharing,
            fair_sharing_prioritize_non_borrowing: gates.fair_sharing_prioritize_non_borrowing,
            fair_sharing_preempt_within_nominal: gates.fair_sharing_preempt_within_nominal,
            admission_fair_sharing: self.shares().is_some(),
            recompute_upon_overlap: gates.recompute_upon_overlap,
            concurrent_admission: gates.concurrent_admission,
            multikueue_orchestrated_preemption: gates.multikueue_orchestrated_preemption,
            block_admission: self.block_admission,
            elastic_jobs: gates.elastic_jobs,
            ignore_undeclared: gates.quota_check_strategy
                && self.quota_check == QuotaCheck::IgnoreUndeclared,
            tas: gates.tas,
            tas_profile_mixed: gates.tas_profile_mixed,
            tas_balanced_placement: gates.tas_balanced_placement,
            tas_respect_preferred_affinity: gates.tas_respect_preferred_affinity,
            tas_handle_overlapping_flavors: gates.tas_handle_overlapping_flavors,
            tas_recompute_within_cycle: gates.tas_recompute_within_cycle,
            tas_fail_fast: gates.tas_failed_node_replacement_fail_fast,
            elastic_jobs_with_tas: gates.elastic_jobs_with_tas,
            skip_reassignment_of_pods: gates.skip_reassignment_of_pods,
        }
    }
}
