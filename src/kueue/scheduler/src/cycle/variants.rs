//! Variants of one workload that compete for several flavors at once: whoever holds the better flavor wins, whoever holds the worse one has
//! to leave (kueue-reference.md, section 4.18).

use std::sync::Arc;

use crate::admitted::Admitted;
use crate::names::FlavorName;
use crate::objects::{ClusterQueue, Workload};

use super::Snapshot;
use super::nominate::Nominated;

/// The place of a variant's flavor among those of the ClusterQueue; the smaller the better.
fn rank(workload: &Workload, cluster_queue: &ClusterQueue) -> Option<usize> {
    let flavor = workload.allowed_flavors.as_ref()?.first()?;
    place(flavor, cluster_queue)
}

fn place(flavor: &FlavorName, cluster_queue: &ClusterQueue) -> Option<usize> {
    let group = cluster_queue.groups.first()?;
    group.flavors.iter().position(|other| other == flavor)
}

/// An admitted variant of the same workload whose flavor compares to that of the candidate as `accepts` says.
fn sibling(
    snapshot: &Snapshot,
    candidate: &Nominated<'_>,
    accepts: impl Fn(usize, usize) -> bool,
) -> Option<Arc<Admitted>> {
    let (own, cluster_queue) = (&candidate.head.workload, &candidate.cluster_queue);
    let parent = own.variant_of.as_ref()?;
    let own_rank = rank(own, cluster_queue)?;
    let fits = |other: &&Arc<Admitted>| {
        let same =
            other.workload.uid != own.uid && other.workload.variant_of.as_ref() == Some(parent);
        let accepted =
            || rank(&other.workload, cluster_queue).is_some_and(|rank| accepts(rank, own_rank));
        same && other.admitted && accepted()
    };
    snapshot
        .admitted_in(&cluster_queue.name)
        .find(fits)
        .cloned()
}

/// Whether a variant with a better flavor runs already.
pub(super) fn better_one_runs(snapshot: &Snapshot, candidate: &Nominated<'_>) -> bool {
    sibling(snapshot, candidate, |other, own| other < own).is_some()
}

/// A variant that runs with a worse flavor.
pub(super) fn worse_one(snapshot: &Snapshot, candidate: &Nominated<'_>) -> Option<Arc<Admitted>> {
    sibling(snapshot, candidate, |other, own| other > own)
}

/// Whether the candidate's flavor is good enough to move to it.
pub(super) fn may_migrate(candidate: &Nominated<'_>) -> bool {
    let cluster_queue = &candidate.cluster_queue;
    let Some(last) = &cluster_queue.last_acceptable_flavor else {
        return true;
    };
    let own = rank(&candidate.head.workload, cluster_queue);
    let limit = place(last, cluster_queue);
    own.zip(limit).is_some_and(|(own, limit)| own <= limit)
}
