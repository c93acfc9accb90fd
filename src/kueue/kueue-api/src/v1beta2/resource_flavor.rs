//! ResourceFlavor: a variety of nodes, by their labels and taints.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::wire::kind;
use crate::{Taint, Toleration};

kind! {
    ResourceFlavor("resourceflavors", ClusterResourceScope) {
        spec: ResourceFlavorSpec,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceFlavorSpec {
    /// Labels of the nodes; they become node selectors of admitted pods.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub node_labels: BTreeMap<String, String>,
    /// Taints of the nodes; a workload must tolerate them to get this flavor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_taints: Vec<Taint>,
    /// Tolerations added to admitted pods.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<Toleration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_name: Option<String>,
}
