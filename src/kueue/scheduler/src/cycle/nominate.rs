//! Looks at one head on its own: may it be tried at all, and which flavors would it take.

use std::sync::Arc;

use crate::assign::{Assigner, Assignment, Mode, largest_that};
use crate::objects::{ClusterQueue, Defect, Workload};
use crate::places::without_topology;
use crate::policy::Policy;
use crate::preemption::NoPreemption;
use crate::quota::NodeId;
use crate::report::Refusal;

use super::{Head, Snapshot};

/// A head that may be tried.
pub(super) struct Nominated<'a> {
    pub(super) head: &'a Head,
    pub(super) cluster_queue: Arc<ClusterQueue>,
    pub(super) node: NodeId,
    pub(super) assignment: Assignment,
}

pub(super) fn nominate<'a>(
    snapshot: &Snapshot,
    head: &'a Head,
    policy: &Policy,
    number: u64,
) -> Result<Nominated<'a>, Refusal> {
    let defect = head.workload.defect.as_ref();
    if defect == Some(&Defect::FailedChecks) {
        return Err(Refusal::FailedChecks);
    }
    let cluster_queue = snapshot
        .cluster_queues
        .get(&head.cluster_queue)
        .ok_or(Refusal::ClusterQueueNotFound)?;
    let node = snapshot
        .tree
        .cluster_queue(&head.cluster_queue)
        .ok_or(Refusal::ClusterQueueNotFound)?;
    if !cluster_queue.active || snapshot.tree.in_cycle(&head.cluster_queue) {
        return Err(Refusal::ClusterQueueInactive);
    }
    let mut unknown = without_topology(cluster_queue, &snapshot.flavors, &snapshot.topologies);
    if policy.tas && unknown.next().is_some() {
        return Err(Refusal::ClusterQueueInactive);
    }
    let namespace = head.namespace.as_ref().ok_or(Refusal::NamespaceUnknown)?;
    if !cluster_queue
        .namespaces
        .as_ref()
        .is_some_and(|selector| selector.matches(namespace))
    {
        return Err(Refusal::NamespaceMismatch);
    }
    match defect {
        Some(Defect::RequestsAboveLimits(found)) => {
            return Err(Refusal::RequestsAboveLimits(found.clone()));
        }
        Some(Defect::OutsideLimitRange(found)) => {
            return Err(Refusal::OutsideLimitRange(found.clone()));
        }
        Some(Defect::Malformed(what)) => return Err(Refusal::Malformed(what.clone())),
        Some(Defect::FailedChecks) | None => {}
    }
    let flavors = &snapshot.flavors;
    let assigner = Assigner {
        tree: &snapshot.tree,
        cluster_queue,
        node,
        flavors,
        oracle: &NoPreemption,
        nominated: None,
        replaced: None,
        topologies: &snapshot.topologies,
        policy,
    };
    let mut assignment = best_assignment(&assigner, head, policy, number);
    assignment.last.generation = head.generation;
    assignment.last.cycle = number;
    assignment.last.shape = Some(head.workload.shape);
    Ok(Nominated {
        head,
        cluster_queue: cluster_queue.clone(),
        node,
        assignment,
    })
}

/// The assignment of the full counts, or of fewer pods if only those fit.
fn best_assignment(
    assigner: &Assigner<'_>,
    head: &Head,
    policy: &Policy,
    number: u64,
) -> Assignment {
    let workload: &Workload = &head.workload;
    let current = |last: &&Arc<_>| {
        !crate::LastAssignment::outdated(
            last,
            head.generation,
            number,
            Some(workload.shape),
            policy,
        )
    };
    let last = head.last.as_ref().filter(current).map(Arc::as_ref);
    let full = assigner.assign(workload, None, last);
    if full.mode() == Mode::Fit || !policy.partial_admission {
        return full;
    }
    let fitting = |counts: &[i64]| {
        Some(assigner.assign(workload, Some(counts), last))
            .filter(|reduced| reduced.mode() == Mode::Fit)
    };
    largest_that(&workload.pod_sets, fitting).unwrap_or(full)
}
