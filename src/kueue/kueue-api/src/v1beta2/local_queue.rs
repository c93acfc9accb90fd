//! LocalQueue: the door of one namespace to a ClusterQueue.

use serde::{Deserialize, Serialize};

use super::{FairSharing, FairSharingStatus, StopPolicy};
use crate::wire::kind;
use crate::{Condition, Quantity};

kind! {
    LocalQueue("localqueues", NamespaceResourceScope) {
        spec: LocalQueueSpec,
        status: Option<LocalQueueStatus>,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LocalQueueSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_queue: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_policy: Option<StopPolicy>,
    /// Weight among the LocalQueues of a ClusterQueue with admission fair sharing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_sharing: Option<FairSharing>,
}

impl LocalQueueSpec {
    /// Name of the ClusterQueue, empty when none is named.
    #[must_use]
    pub fn cluster_queue(&self) -> &str {
        self.cluster_queue.as_deref().unwrap_or_default()
    }

    #[must_use]
    pub fn stop_policy(&self) -> StopPolicy {
        self.stop_policy.unwrap_or(StopPolicy::None)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LocalQueueStatus {
    #[serde(
        deserialize_with = "crate::conditions::lenient",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub conditions: Vec<Condition>,
    pub pending_workloads: i32,
    pub reserving_workloads: i32,
    pub admitted_workloads: i32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flavors_reservation: Vec<LocalQueueFlavorUsage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flavors_usage: Vec<LocalQueueFlavorUsage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_sharing: Option<FairSharingStatus>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LocalQueueFlavorUsage {
    pub name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<LocalQueueResourceUsage>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LocalQueueResourceUsage {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<Quantity>,
}
