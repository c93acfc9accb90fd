//! Cohort: a node of the tree in which ClusterQueues share quota.

use serde::{Deserialize, Serialize};

use super::{FairSharing, FairSharingStatus, ResourceGroup};
use crate::wire::kind;

kind! {
    Cohort("cohorts", ClusterResourceScope) {
        spec: CohortSpec,
        status: Option<CohortStatus>,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CohortSpec {
    /// The cohort above; it need not exist as an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_name: Option<String>,
    /// Quota shared by the members on top of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_groups: Vec<ResourceGroup>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_sharing: Option<FairSharing>,
}

impl CohortSpec {
    /// Name of the parent, unless this is a root.
    #[must_use]
    pub fn parent(&self) -> Option<&str> {
        self.parent_name.as_deref().filter(|name| !name.is_empty())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CohortStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_sharing: Option<FairSharingStatus>,
}
