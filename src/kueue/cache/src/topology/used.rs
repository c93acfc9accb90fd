//! The nodes an admitted Workload was placed on, for whoever watches nodes fail (kueue-reference.md, section 4.14).

use std::collections::BTreeSet;

use kueue_api::v1beta2::Workload;
use scheduler::topology::TopologyAssignment;

use super::decode;

/// The nodes of an admitted Workload whose places are nodes.
#[must_use]
pub fn nodes_used(workload: &Workload) -> BTreeSet<String> {
    let admitted = workload.status.iter().filter(|_| workload.is_admitted());
    let admissions = admitted.flat_map(|status| &status.admission);
    let sets = admissions.flat_map(|admission| &admission.pod_set_assignments);
    let places = sets.filter_map(|set| set.topology_assignment.as_ref().and_then(decode));
    let by_node = places.filter(TopologyAssignment::names_nodes);
    let used = by_node
        .flat_map(|places| places.domains)
        .filter(|domain| domain.count > 0);
    used.filter_map(|mut domain| domain.values.pop()).collect()
}
