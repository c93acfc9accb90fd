//! What a job's pod templates get from its Workload: what the admission adds to them, and what they were before. Takes
//! the Workload and the flavors by name. Reference section 5.1, "Reconcile order".

use std::collections::BTreeMap;

use jobs::{InfoError, Marks, PodSetInfo};
use kueue_api::v1beta2::{PodSet, ResourceFlavorSpec, Workload};

/// What the admission adds to each podset.
pub(crate) fn infos(
    workload: &Workload,
    flavors: &BTreeMap<String, ResourceFlavorSpec>,
    marks: Marks,
) -> Result<Vec<PodSetInfo>, InfoError> {
    let admission = workload.status.as_ref().and_then(|s| s.admission.as_ref());
    let assignments = admission.iter().flat_map(|a| &a.pod_set_assignments);
    assignments
        .map(|assignment| PodSetInfo::of_assignment(workload, assignment, flavors, marks))
        .collect()
}

/// The Workload's podsets as its admission changed them; none if it has none, or what it says cannot be done.
pub(crate) fn running_pod_sets(
    workload: &Workload,
    flavors: &BTreeMap<String, ResourceFlavorSpec>,
    marks: Marks,
) -> Option<Vec<PodSet>> {
    if !workload.has_quota_reservation() {
        return None;
    }
    let infos = infos(workload, flavors, marks).ok()?;
    let of_set = |set: &PodSet| {
        let info: &PodSetInfo = infos.iter().find(|info| info.name == set.name)?;
        let mut set = set.clone();
        if set.min_count.is_some() {
            set.count = info.count;
        }
        info.merge_into(&mut set.template).ok()?;
        Some(set)
    };
    workload.spec.pod_sets.iter().map(of_set).collect()
}

pub(super) fn originals(workload: &Workload) -> Vec<PodSetInfo> {
    workload
        .spec
        .pod_sets
        .iter()
        .map(PodSetInfo::of_pod_set)
        .collect()
}
