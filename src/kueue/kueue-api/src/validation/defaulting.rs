//! What the webhooks fill in on creation.

use crate::ObjectMeta;
use crate::features::{Features, gate};
use crate::names::RESOURCE_IN_USE_FINALIZER;
use crate::v1beta2::Workload;

/// Keeps the object until nobody needs it. Returns whether the finalizer was missing.
pub fn add_finalizer(meta: &mut ObjectMeta) -> bool {
    let finalizers = meta.finalizers.get_or_insert_default();
    let missing = !finalizers
        .iter()
        .any(|name| name == RESOURCE_IN_USE_FINALIZER);
    if missing {
        finalizers.push(RESOURCE_IN_USE_FINALIZER.to_owned());
    }
    missing
}

/// Drops the smaller counts where partial admission is switched off. Returns whether there were any.
pub fn default_workload(workload: &mut Workload, features: &Features) -> bool {
    if features.on(gate::PARTIAL_ADMISSION) {
        return false;
    }
    let sets = &mut workload.spec.pod_sets;
    let changed = sets.iter().any(|set| set.min_count.is_some());
    for set in sets {
        set.min_count = None;
    }
    changed
}
