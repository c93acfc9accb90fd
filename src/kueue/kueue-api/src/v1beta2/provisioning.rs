//! `ProvisioningRequestConfig`: parameters of the admission check that asks a cluster autoscaler for nodes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::wire::{kind, wire_enum};

kind! {
    ProvisioningRequestConfig("provisioningrequestconfigs", ClusterResourceScope) {
        spec: ProvisioningRequestConfigSpec,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProvisioningRequestConfigSpec {
    pub provisioning_class_name: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub managed_resources: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_strategy: Option<ProvisioningRequestRetryStrategy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_set_updates: Option<ProvisioningRequestPodSetUpdates>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_set_merge_policy: Option<PodSetMergePolicy>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProvisioningRequestRetryStrategy {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff_limit_count: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff_base_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff_max_seconds: Option<i32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProvisioningRequestPodSetUpdates {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_selector: Vec<ProvisioningRequestNodeSelector>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProvisioningRequestNodeSelector {
    pub key: String,
    pub value_from_provisioning_class_detail: String,
}

wire_enum! {
    /// Which podsets are asked for as one.
    PodSetMergePolicy { IdenticalPodTemplates, IdenticalWorkloadSchedulingRequirements }
}
