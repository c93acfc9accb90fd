//! The table of gates. `built` says what this controller can do with a gate: whoever builds a behaviour changes its line here.

/// What this controller can do with a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Built {
    /// The behaviour does not exist here: the gate may be off, and is refused when it is set to true.
    No,
    /// The behaviour is always there: the gate is refused when it is set to false.
    Always,
    /// The gate switches the behaviour.
    Both,
}

/// A feature gate of the reference.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    pub name: &'static str,
    /// Value in the reference when nobody says anything.
    pub default: bool,
    pub built: Built,
    /// Gates that must be on for this one to be on.
    pub requires: &'static [&'static str],
}

const fn gate(
    name: &'static str,
    default: bool,
    built: Built,
    requires: &'static [&'static str],
) -> Gate {
    Gate {
        name,
        default,
        built,
        requires,
    }
}

/// All gates of the reference, by name.
pub const GATES: &[Gate] = &[
    gate("AdmissionFairSharing", true, Built::Both, &[]),
    gate("AdmissionGatedBy", true, Built::Both, &[]),
    gate("AssignQueueLabelsForPods", true, Built::Always, &[]),
    gate(
        "CleanupProvisioningRequestsOnEviction",
        true,
        Built::Both,
        &[],
    ),
    gate("ConcurrentAdmission", false, Built::No, &[]),
    gate("CustomMetricLabels", false, Built::Both, &[]),
    gate(
        "DeferRayServiceFinalizationForRedisCleanup",
        true,
        Built::Always,
        &[],
    ),
    gate("DisableWaitForPodsReady", false, Built::Both, &[]),
    gate("ElasticJobsViaWorkloadSlices", true, Built::Both, &[]),
    gate(
        "ElasticJobsViaWorkloadSlicesWithTAS",
        false,
        Built::No,
        &["ElasticJobsViaWorkloadSlices", "TopologyAwareScheduling"],
    ),
    gate("FailureRecoveryPolicy", false, Built::Both, &[]),
    gate("FairSharingPreemptWithinNominal", true, Built::Both, &[]),
    gate("FairSharingPrioritizeNonBorrowing", true, Built::Both, &[]),
    gate("FastQuotaReleaseInPodIntegration", false, Built::Both, &[]),
    gate("FinishOrphanedWorkloads", true, Built::Both, &[]),
    gate("FlavorFungibility", true, Built::Both, &[]),
    gate(
        "FlavorFungibilityPreserveScanProgress",
        true,
        Built::Both,
        &["FlavorFungibility"],
    ),
    gate("KueueDRAIntegration", true, Built::No, &[]),
    gate(
        "KueueDRAIntegrationConsumableCapacity",
        false,
        Built::No,
        &["KueueDRAIntegration"],
    ),
    gate(
        "KueueDRAIntegrationExtendedResource",
        true,
        Built::No,
        &["KueueDRAIntegration"],
    ),
    gate(
        "KueueDRAIntegrationPartitionableDevices",
        true,
        Built::No,
        &["KueueDRAIntegration"],
    ),
    gate(
        "KueueDRARejectWorkloadsWhenDRADisabled",
        true,
        Built::Both,
        &[],
    ),
    gate("LWSImmutableGroupSize", true, Built::Both, &[]),
    gate("LocalQueueMetrics", true, Built::Both, &[]),
    gate(
        "ManagedJobsNamespaceSelectorAlwaysRespected",
        true,
        Built::Always,
        &[],
    ),
    gate("MetricForWorkloadCreationLatency", true, Built::Both, &[]),
    gate("MetricsForCohorts", true, Built::Both, &[]),
    gate("MultiKueue", true, Built::Both, &[]),
    gate("MultiKueueAdaptersForCustomJobs", true, Built::No, &[]),
    gate("MultiKueueClusterProfile", false, Built::No, &[]),
    gate(
        "MultiKueueIncrementalDispatcherConfig",
        true,
        Built::Both,
        &[],
    ),
    gate(
        "MultiKueueIncrementalDispatcherRespectConfigOrder",
        true,
        Built::Both,
        &[],
    ),
    gate("MultiKueueKubeConfigPathValidation", true, Built::Both, &[]),
    gate("MultiKueueManagerQuotaAutomation", false, Built::No, &[]),
    gate("MultiKueueOrchestratedPreemption", false, Built::Both, &[]),
    gate("MultiKueueRemoteSpecSync", true, Built::Always, &[]),
    gate("PartialAdmission", true, Built::Both, &[]),
    gate("PodIntegrationValidateGroupOwner", true, Built::Both, &[]),
    gate("PrioritizePreemptorWorkloads", false, Built::Both, &[]),
    gate("PriorityBoost", false, Built::Both, &[]),
    gate("PrioritySortingWithinCohort", true, Built::Both, &[]),
    gate("QuotaCheckStrategy", true, Built::Both, &[]),
    gate("ReclaimablePods", true, Built::Both, &[]),
    gate(
        "RecomputeAssignmentUponPreemptionTargetsOverlap",
        true,
        Built::Both,
        &[],
    ),
    gate(
        "RejectUpdatesToCQWithInvalidOnFlavors",
        false,
        Built::Both,
        &[],
    ),
    gate("RemoveFinalizersWithStrictPatch", true, Built::Always, &[]),
    gate("SchedulerLibraryIntegration", false, Built::No, &[]),
    gate("SchedulingEquivalenceHashing", true, Built::Both, &[]),
    gate("ShortWorkloadNames", false, Built::Both, &[]),
    gate("SkipAncestorCheckForDeletedWorkloads", true, Built::No, &[]),
    gate(
        "SkipReassignmentForPodOwnedWorkloads",
        true,
        Built::Both,
        &[],
    ),
    gate("SparkApplicationIntegration", false, Built::Both, &[]),
    gate(
        "TASAssignmentsEncodingByHostnamePrefix",
        true,
        Built::Both,
        &[],
    ),
    gate(
        "TASBalancedPlacement",
        false,
        Built::Both,
        &["TopologyAwareScheduling"],
    ),
    gate("TASCacheNodeMatchResults", true, Built::Always, &[]),
    gate("TASCacheTopologyTree", true, Built::Always, &[]),
    gate("TASCachingRemainingResources", true, Built::Always, &[]),
    gate(
        "TASFailedNodeReplacement",
        true,
        Built::Both,
        &["TopologyAwareScheduling"],
    ),
    gate(
        "TASFailedNodeReplacementFailFast",
        true,
        Built::Both,
        &["TASFailedNodeReplacement", "TopologyAwareScheduling"],
    ),
    gate(
        "TASHandleOverlappingFlavors",
        true,
        Built::Both,
        &["TopologyAwareScheduling"],
    ),
    gate(
        "TASMultiLayerTopology",
        true,
        Built::Both,
        &["TopologyAwareScheduling"],
    ),
    gate(
        "TASProfileMixed",
        true,
        Built::Both,
        &["TopologyAwareScheduling"],
    ),
    gate(
        "TASRecomputeAssignmentWithinSchedulingCycle",
        true,
        Built::Both,
        &["TopologyAwareScheduling"],
    ),
    gate(
        "TASReplaceNodeDueToNotReadyOverFixedTime",
        false,
        Built::Both,
        &["TASFailedNodeReplacement", "TopologyAwareScheduling"],
    ),
    gate(
        "TASReplaceNodeOnNodeTaints",
        true,
        Built::Both,
        &["TopologyAwareScheduling"],
    ),
    gate(
        "TASReplaceNodeOnPodTermination",
        true,
        Built::Both,
        &["TASFailedNodeReplacement", "TopologyAwareScheduling"],
    ),
    gate(
        "TASRespectNodeAffinityPreferred",
        false,
        Built::Both,
        &["TopologyAwareScheduling"],
    ),
    gate("TASValidateWorkloadSliceSize", true, Built::Both, &[]),
    gate("TLSOptions", true, Built::Always, &[]),
    gate("TopologyAwareScheduling", true, Built::Both, &[]),
    gate(
        "UnadmittedWorkloadsExplicitStatus",
        false,
        Built::Both,
        &["UnadmittedWorkloadsObservability"],
    ),
    gate("UnadmittedWorkloadsObservability", true, Built::Both, &[]),
    gate("ValidateRayAndSparkJobUpdates", true, Built::Both, &[]),
    gate("VectorizedResourceRequests", true, Built::Always, &[]),
    gate("VisibilityOnDemand", true, Built::Both, &[]),
    gate("WorkloadIdentifierAnnotations", true, Built::Always, &[]),
    gate("WorkloadPriorityClassDefaulting", true, Built::Both, &[]),
    gate("WorkloadRequestUseMergePatch", false, Built::No, &[]),
    gate(
        "WorkloadValidateResourcesAreNonNegative",
        true,
        Built::Both,
        &[],
    ),
    gate(
        "WorkloadValidationForPodSetMetadata",
        true,
        Built::Both,
        &[],
    ),
];
