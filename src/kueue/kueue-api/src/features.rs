//! Feature gates: their defaults and dependencies, and which of them this controller can honour.
//! A gate that asks for a behaviour which is not built is refused at start, never ignored.

mod table;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use table::{Built, GATES, Gate};

use crate::field::{FieldError, Path};

/// Name of a gate as a compile-time constant for callers: `features.on(gate::PRIORITY_BOOST)`.
pub mod gate {
    pub const ADMISSION_GATED_BY: &str = "AdmissionGatedBy";
    pub const ASSIGN_QUEUE_LABELS_FOR_PODS: &str = "AssignQueueLabelsForPods";
    pub const METRIC_FOR_CREATION_LATENCY: &str = "MetricForWorkloadCreationLatency";
    pub const CONCURRENT_ADMISSION: &str = "ConcurrentAdmission";
    pub const ADMISSION_FAIR_SHARING: &str = "AdmissionFairSharing";
    pub const DISABLE_WAIT_FOR_PODS_READY: &str = "DisableWaitForPodsReady";
    pub const DRA: &str = "KueueDRAIntegration";
    pub const DRA_REJECT_WHEN_DISABLED: &str = "KueueDRARejectWorkloadsWhenDRADisabled";
    pub const ELASTIC_JOBS: &str = "ElasticJobsViaWorkloadSlices";
    pub const CUSTOM_METRIC_LABELS: &str = "CustomMetricLabels";
    pub const FAILURE_RECOVERY: &str = "FailureRecoveryPolicy";
    pub const FAST_QUOTA_RELEASE_IN_PODS: &str = "FastQuotaReleaseInPodIntegration";
    pub const FINISH_ORPHANED_WORKLOADS: &str = "FinishOrphanedWorkloads";
    pub const FLAVOR_FUNGIBILITY: &str = "FlavorFungibility";
    pub const LOCAL_QUEUE_METRICS: &str = "LocalQueueMetrics";
    pub const LWS_IMMUTABLE_GROUP_SIZE: &str = "LWSImmutableGroupSize";
    pub const MULTIKUEUE: &str = "MultiKueue";
    pub const MULTIKUEUE_DISPATCHER_CONFIG: &str = "MultiKueueIncrementalDispatcherConfig";
    pub const MULTIKUEUE_DISPATCHER_ORDER: &str =
        "MultiKueueIncrementalDispatcherRespectConfigOrder";
    pub const MULTIKUEUE_PATHS: &str = "MultiKueueKubeConfigPathValidation";
    pub const METRICS_FOR_COHORTS: &str = "MetricsForCohorts";
    pub const MULTIKUEUE_ORCHESTRATED_PREEMPTION: &str = "MultiKueueOrchestratedPreemption";
    pub const PROVISIONING_CLEANUP: &str = "CleanupProvisioningRequestsOnEviction";
    pub const PARTIAL_ADMISSION: &str = "PartialAdmission";
    pub const POD_INTEGRATION_VALIDATE_GROUP_OWNER: &str = "PodIntegrationValidateGroupOwner";
    pub const PRIORITY_BOOST: &str = "PriorityBoost";
    pub const PRIORITY_SORTING_WITHIN_COHORT: &str = "PrioritySortingWithinCohort";
    pub const QUOTA_CHECK_STRATEGY: &str = "QuotaCheckStrategy";
    pub const RECLAIMABLE_PODS: &str = "ReclaimablePods";
    pub const REJECT_INVALID_ON_FLAVORS: &str = "RejectUpdatesToCQWithInvalidOnFlavors";
    pub const SCHEDULING_EQUIVALENCE_HASHING: &str = "SchedulingEquivalenceHashing";
    pub const SHORT_WORKLOAD_NAMES: &str = "ShortWorkloadNames";
    pub const SKIP_REASSIGNMENT_FOR_PODS: &str = "SkipReassignmentForPodOwnedWorkloads";
    pub const SPARK_APPLICATION: &str = "SparkApplicationIntegration";
    pub const TAS_MULTI_LAYER_TOPOLOGY: &str = "TASMultiLayerTopology";
    pub const TAS_VALIDATE_SLICE_SIZE: &str = "TASValidateWorkloadSliceSize";
    pub const TOPOLOGY_AWARE_SCHEDULING: &str = "TopologyAwareScheduling";
    pub const UNADMITTED_EXPLICIT_STATUS: &str = "UnadmittedWorkloadsExplicitStatus";
    pub const UNADMITTED_OBSERVABILITY: &str = "UnadmittedWorkloadsObservability";
    pub const VALIDATE_NON_NEGATIVE: &str = "WorkloadValidateResourcesAreNonNegative";
    pub const VISIBILITY_ON_DEMAND: &str = "VisibilityOnDemand";
    pub const VALIDATE_RAY_UPDATES: &str = "ValidateRayAndSparkJobUpdates";
    pub const VALIDATE_POD_SET_METADATA: &str = "WorkloadValidationForPodSetMetadata";
    pub const WORKLOAD_IDENTIFIER_ANNOTATIONS: &str = "WorkloadIdentifierAnnotations";
    pub const WORKLOAD_PRIORITY_CLASS_DEFAULTING: &str = "WorkloadPriorityClassDefaulting";
}

/// The gates of a running controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    set: BTreeMap<String, bool>,
}

impl Features {
    /// The given gates over the defaults of the reference, whether their behaviour is built or not. For rules and tests that
    /// are stated in terms of gates; a controller starts with [`Features::start`].
    #[must_use]
    pub fn with(set: BTreeMap<String, bool>) -> Self {
        Self { set }
    }

    /// The gates of a controller, or everything that is wrong with what was asked.
    ///
    /// # Errors
    /// Names every unknown gate, missing dependency, locked gate and behaviour that is not built.
    pub fn start(set: &BTreeMap<String, bool>) -> Result<Self, Vec<FieldError>> {
        let mut errors: Vec<_> = set
            .iter()
            .filter_map(|(name, value)| refused(name, *value))
            .collect();
        if errors.is_empty() {
            errors = missing_dependencies(set);
        }
        if errors.is_empty() {
            Ok(Self { set: set.clone() })
        } else {
            Err(errors)
        }
    }

    /// Those that were asked for.
    #[must_use]
    pub fn asked(&self) -> &BTreeMap<String, bool> {
        &self.set
    }

    /// Whether the gate is on.
    #[must_use]
    pub fn on(&self, name: &str) -> bool {
        self.set.get(name).copied().unwrap_or_else(|| {
            find(name).is_some_and(|gate| gate.default || gate.built == Built::Always)
        })
    }

    /// Whether the gate is on and its behaviour is built.
    #[must_use]
    pub fn active(&self, name: &str) -> bool {
        self.on(name) && find(name).is_some_and(|gate| gate.built != Built::No)
    }
}

/// The gates that are asked for: on the command line or in the file, not in both.
///
/// # Errors
/// When both speak, or the flag cannot be read.
pub fn asked(
    flag: Option<&str>,
    file: Option<&BTreeMap<String, bool>>,
) -> Result<BTreeMap<String, bool>, Vec<FieldError>> {
    let (flag, file) = (flag.filter(|text| !text.is_empty()), file.cloned());
    match (flag, file) {
        (Some(_), Some(file)) => {
            let value = serde_json::to_value(file).unwrap_or_default();
            let detail = "feature gates for CLI and configuration cannot both specified";
            Err(vec![FieldError::invalid(&path(), value, detail)])
        }
        (Some(text), None) => {
            parse_flag(text).map_err(|detail| vec![FieldError::invalid(&path(), text, &detail)])
        }
        (None, file) => Ok(file.unwrap_or_default()),
    }
}

/// Reads `A=true,B=false`.
///
/// # Errors
/// Says which part is not `NAME=true|false`.
pub fn parse_flag(text: &str) -> Result<BTreeMap<String, bool>, String> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let read = |part: &str| {
        let pair = part
            .split_once('=')
            .and_then(|(name, value)| Some((name.trim().to_owned(), value.trim().parse().ok()?)));
        pair.ok_or_else(|| {
            format!("feature gate {part:?} should be written NAME=true or NAME=false")
        })
    };
    parts.map(read).collect()
}

fn find(name: &str) -> Option<&'static Gate> {
    GATES.iter().find(|gate| gate.name == name)
}

fn path() -> Path {
    Path::new("featureGates")
}

fn refused(name: &str, value: bool) -> Option<FieldError> {
    let path = path().key(name);
    let Some(gate) = find(name) else {
        return Some(FieldError::invalid(
            &path,
            value,
            "unrecognized feature gate",
        ));
    };
    match (gate.built, value) {
        (Built::No, true) => Some(FieldError::invalid(
            &path,
            value,
            "this controller does not have this feature yet; remove the gate or set it to false",
        )),
        (Built::Always, false) => Some(FieldError::invalid(
            &path,
            value,
            "cannot be switched off in this controller",
        )),
        (Built::No | Built::Both, false) | (Built::Always | Built::Both, true) => None,
    }
}

/// Gates that are on while something they need is off, judged by the defaults of the reference.
#[must_use]
pub fn missing_dependencies(set: &BTreeMap<String, bool>) -> Vec<FieldError> {
    let features = Features::with(set.clone());
    let mut errors = Vec::new();
    for gate in GATES
        .iter()
        .filter(|gate| features.on(gate.name) && relevant(gate, set))
    {
        let off: Vec<_> = gate
            .requires
            .iter()
            .copied()
            .filter(|name| !features.on(name))
            .collect();
        if !off.is_empty() {
            let detail = format!(
                "{} is enabled, but depends on features that are disabled: [{}]",
                gate.name,
                off.join(" ")
            );
            errors.push(FieldError::invalid(&path(), true, &detail));
        }
    }
    errors
}

/// A gate that is on by default without being built here cannot be in need of anything.
fn relevant(gate: &Gate, set: &BTreeMap<String, bool>) -> bool {
    set.contains_key(gate.name) || gate.built != Built::No
}
