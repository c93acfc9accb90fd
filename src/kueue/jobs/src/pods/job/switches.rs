//! Feature gates that the rules about pods depend on, taken once out of all the gates, so that the rules are functions
//! of what concerns them.

use kueue_api::features::{Features, gate};

/// Gates that the rules about pods depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switches {
    /// `WorkloadIdentifierAnnotations`: groups and prebuilt Workloads may be named by annotations.
    pub annotated: bool,
    /// `TopologyAwareScheduling`.
    pub topology: bool,
    /// `FastQuotaReleaseInPodIntegration`: a pod that is being deleted holds nothing.
    pub fast_release: bool,
    /// `PodIntegrationValidateGroupOwner`: only Workloads made for groups are taken for a group's.
    pub checks_owner: bool,
    /// `AdmissionGatedBy`.
    pub admission_gates: bool,
    /// `TASMultiLayerTopology`.
    pub layers: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            annotated: true,
            topology: true,
            fast_release: false,
            checks_owner: true,
            admission_gates: true,
            layers: true,
        }
    }
}

impl From<&Features> for Switches {
    fn from(features: &Features) -> Self {
        Self {
            annotated: features.on(gate::WORKLOAD_IDENTIFIER_ANNOTATIONS),
            topology: features.on(gate::TOPOLOGY_AWARE_SCHEDULING),
            fast_release: features.on(gate::FAST_QUOTA_RELEASE_IN_PODS),
            checks_owner: features.on(gate::POD_INTEGRATION_VALIDATE_GROUP_OWNER),
            admission_gates: features.on(gate::ADMISSION_GATED_BY),
            layers: features.on(gate::TAS_MULTI_LAYER_TOPOLOGY),
        }
    }
}
