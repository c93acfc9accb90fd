//! Pods of a Workload by number: of each set, given back, or fewer than before. Reference 4.3 and 5.1.

use k8s_openapi::api::core::v1::Pod;

use crate::names::annotations;
use std::collections::BTreeMap;

use crate::v1beta2::{PodSet, ReclaimablePod, Workload};

/// How many pods each set has.
#[must_use]
pub fn counts(sets: &[PodSet]) -> BTreeMap<String, i32> {
    sets.iter()
        .map(|set| (set.name.clone(), set.count))
        .collect()
}

/// Sets the number of pods of the sets that are named.
pub fn resize(workload: &mut Workload, counts: &BTreeMap<String, i32>) {
    for set in &mut workload.spec.pod_sets {
        if let Some(count) = counts.get(&set.name) {
            set.count = *count;
        }
    }
}

/// Whether some set has fewer pods than it has in `other`.
#[must_use]
pub fn fewer(counts: &BTreeMap<String, i32>, other: &BTreeMap<String, i32>) -> bool {
    counts
        .iter()
        .any(|(name, count)| other.get(name).is_some_and(|other| count < other))
}

/// Pods to give back, at most as many of a set as it has: a job may count pods that finished before the set shrank.
#[must_use]
pub fn at_most(given_back: &[ReclaimablePod], sets: &[PodSet]) -> Vec<ReclaimablePod> {
    let sizes = counts(sets);
    let limited = given_back.iter().map(|pods| ReclaimablePod {
        name: pods.name.clone(),
        count: sizes
            .get(&pods.name)
            .map_or(pods.count, |size| pods.count.min(*size)),
    });
    limited.collect()
}

/// Whether two lists give back the same, in whatever order.
#[must_use]
pub fn same_given_back(one: &[ReclaimablePod], other: &[ReclaimablePod]) -> bool {
    let by_name = |list: &[ReclaimablePod]| -> BTreeMap<String, i32> {
        let pairs = list.iter().map(|pods| (pods.name.clone(), pods.count));
        pairs.collect()
    };
    one.len() == other.len() && by_name(one) == by_name(other)
}

/// Whether a pod has ended and holds nothing any more.
#[must_use]
pub fn is_over(pod: &Pod) -> bool {
    let status = pod.status.as_ref();
    let phase = status.and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed"))
}

/// The name of the Workload that a pod says it is of.
#[must_use]
pub fn workload_of(pod: &Pod) -> Option<&str> {
    let notes = pod.metadata.annotations.as_ref()?;
    notes.get(annotations::WORKLOAD).map(String::as_str)
}
