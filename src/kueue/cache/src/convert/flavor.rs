//! ResourceFlavors.

use kueue_api::v1beta2::ResourceFlavor;
use scheduler::Flavor;

use super::selectors::{taint, toleration};

pub(crate) fn flavor(object: &ResourceFlavor) -> Flavor {
    let spec = &object.spec;
    Flavor {
        node_labels: spec.node_labels.clone(),
        taints: spec.node_taints.iter().filter_map(taint).collect(),
        tolerations: spec.tolerations.iter().filter_map(toleration).collect(),
        topology: spec.topology_name.clone(),
    }
}
