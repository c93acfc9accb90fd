//! `MultiKueueConfig` and `MultiKueueCluster`: which clusters a manager cluster hands workloads to, and how it reaches them.

use serde::{Deserialize, Serialize};

use crate::Condition;
use crate::wire::{kind, wire_enum};

kind! {
    MultiKueueConfig("multikueueconfigs", ClusterResourceScope) {
        spec: MultiKueueConfigSpec,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MultiKueueConfigSpec {
    /// Worker clusters; their order matters to some dispatchers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_management: Option<QuotaManagement>,
}

/// A configuration without a cluster to send anything to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no active clusters")]
pub struct NoClusters;

impl MultiKueueConfigSpec {
    /// The clusters that Workloads may be sent to.
    ///
    /// # Errors
    /// When there is none.
    pub fn active_clusters(&self) -> Result<&[String], NoClusters> {
        match self.clusters.as_slice() {
            [] => Err(NoClusters),
            clusters => Ok(clusters),
        }
    }
}

wire_enum! {
    /// Who writes the quotas of the manager's ClusterQueues.
    QuotaManagement { Manual, Automated }
}

kind! {
    MultiKueueCluster("multikueueclusters", ClusterResourceScope) {
        spec: MultiKueueClusterSpec,
        status: Option<MultiKueueClusterStatus>,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MultiKueueClusterSpec {
    pub cluster_source: ClusterSource,
}

/// Exactly one of the two is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterSource {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kube_config: Option<KubeConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_profile_ref: Option<ClusterProfileReference>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KubeConfig {
    pub location: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location_type: Option<LocationType>,
}

wire_enum! {
    /// What `location` names.
    LocationType { Secret, Path }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterProfileReference {
    pub name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MultiKueueClusterStatus {
    #[serde(
        deserialize_with = "crate::conditions::lenient",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub conditions: Vec<Condition>,
}
