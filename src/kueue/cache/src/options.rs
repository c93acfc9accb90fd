//! What the configuration says, as far as the cache depends on it.

/// Feature gates that change decisions, named like the reference's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// `PartialAdmission`.
    pub partial_admission: bool,
    /// `FlavorFungibility`.
    pub flavor_fungibility: bool,
    /// `FlavorFungibilityPreserveScanProgress`.
    pub preserve_scan_progress: bool,
    /// `PrioritySortingWithinCohort`.
    pub priority_sorting_within_cohort: bool,
    /// `SchedulingEquivalenceHashing`.
    pub scheduling_equivalence_hashing: bool,
    /// `ReclaimablePods`.
    pub reclaimable_pods: bool,
    /// `UnadmittedWorkloadsObservability`.
    pub unadmitted_workloads_observability: bool,
    /// `AdmissionGatedBy`.
    pub admission_gated_by: bool,
    /// `PriorityBoost`.
    pub priority_boost: bool,
    /// `ConcurrentAdmission`, of which only the list of allowed flavors exists yet.
    pub concurrent_admission: bool,
}

impl Default for Features {
    fn default() -> Self {
        Self {
            partial_admission: true,
            flavor_fungibility: true,
            preserve_scan_progress: true,
            priority_sorting_within_cohort: true,
            scheduling_equivalence_hashing: true,
            reclaimable_pods: true,
            unadmitted_workloads_observability: true,
            admission_gated_by: true,
            priority_boost: false,
            concurrent_admission: false,
        }
    }
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

/// The configuration of a cache.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// Feature gates.
    pub features: Features,
    /// Resources whose names begin with one of these are not counted.
    pub exclude_resource_prefixes: Vec<String>,
    /// The order of workloads whose pods were not ready in time.
    pub pods_ready_timestamp: PodsReadyTimestamp,
    /// Resources that nobody declared.
    pub quota_check: QuotaCheck,
}

impl Options {
    pub(crate) fn policy(&self) -> scheduler::Policy {
        scheduler::Policy {
            partial_admission: self.features.partial_admission,
            flavor_fungibility: self.features.flavor_fungibility,
            preserve_scan_progress: self.features.preserve_scan_progress,
            priority_sorting_within_cohort: self.features.priority_sorting_within_cohort,
            fair_sharing: false,
            ignore_undeclared: self.quota_check == QuotaCheck::IgnoreUndeclared,
        }
    }
}
