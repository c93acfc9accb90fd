//! Topology: the levels of a data centre, from the widest to the narrowest, as node labels.

use serde::{Deserialize, Serialize};

use crate::wire::kind;

kind! {
    Topology("topologies", ClusterResourceScope) {
        spec: TopologySpec,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologySpec {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<TopologyLevel>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologyLevel {
    pub node_label: String,
}
