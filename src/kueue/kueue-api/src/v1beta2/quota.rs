//! What ClusterQueues, Cohorts and LocalQueues share: quota declarations, usage reports, weights, stop policies.

use serde::{Deserialize, Serialize};

use crate::Quantity;
use crate::wire::wire_enum;

/// Resources that are given out together, and the flavors they can come from, in order of preference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceGroup {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub covered_resources: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flavors: Vec<FlavorQuotas>,
}

/// Quotas of one flavor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FlavorQuotas {
    pub name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceQuota>,
}

/// Quota of one resource of one flavor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceQuota {
    pub name: String,
    #[serde(default = "zero")]
    pub nominal_quota: Quantity,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub borrowing_limit: Option<Quantity>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lending_limit: Option<Quantity>,
}

impl Default for ResourceQuota {
    fn default() -> Self {
        Self {
            name: String::new(),
            nominal_quota: zero(),
            borrowing_limit: None,
            lending_limit: None,
        }
    }
}

fn zero() -> Quantity {
    Quantity("0".to_owned())
}

wire_enum! {
    /// Whether a queue takes new workloads, and what becomes of those it has.
    StopPolicy { None, Hold, HoldAndDrain }
}

/// Share of a queue or cohort in fair sharing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FairSharing {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<Quantity>,
}

/// What fair sharing computed last for a ClusterQueue or Cohort.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FairSharingStatus {
    pub weighted_share: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admission_fair_sharing_status: Option<AdmissionFairSharingStatus>,
}

/// Decayed usage of a LocalQueue; present only there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionFairSharingStatus {
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub consumed_resources: std::collections::BTreeMap<String, Quantity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_update: Option<crate::Time>,
}
