//! One admission cycle: look at every head, put those that could be admitted in order, and admit one after the other as long as each
//! still fits what the earlier ones left. Start reading at [`run`].
//!
//! Preemption, fair sharing and topology have their places in this sequence and are not built yet.

mod nominate;
mod order;
mod reserve;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::admitted::AdmittedByQueue;
use crate::assign::{Assignment, LastAssignment, Mode};
use crate::labels::Labels;
use crate::names::{ClusterQueueName, FlavorName, LocalQueueKey};
use crate::objects::{ClusterQueue, Flavor, PreemptionPolicy, Workload};
use crate::plan::{Admission, Plan};
use crate::policy::Policy;
use crate::quota::{NodeId, QuotaTree};
use crate::report::{Entry, Outcome, Report};
use crate::topology;

use nominate::Nominated;

/// The world as a cycle sees it. Cloning it is cheap.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Quotas and usage.
    pub tree: QuotaTree,
    /// All ClusterQueues.
    pub cluster_queues: Arc<BTreeMap<ClusterQueueName, Arc<ClusterQueue>>>,
    /// All flavors.
    pub flavors: Arc<BTreeMap<FlavorName, Arc<Flavor>>>,
    /// What is free in the topologies of flavors that have one.
    pub topologies: Arc<BTreeMap<FlavorName, Arc<topology::Snapshot>>>,
    /// All workloads that hold quota.
    pub admitted: Arc<AdmittedByQueue>,
    /// What LocalQueues used in the past, of ClusterQueues that are shared by it.
    pub past_usage: Arc<BTreeMap<LocalQueueKey, f64>>,
}

/// A workload whose turn it is.
#[derive(Clone, Debug)]
pub struct Head {
    /// The workload.
    pub workload: Arc<Workload>,
    /// The ClusterQueue it is tried in.
    pub cluster_queue: ClusterQueueName,
    /// That ClusterQueue's generation.
    pub generation: u64,
    /// The labels of the workload's namespace, if it is known.
    pub namespace: Option<Arc<Labels>>,
    /// Where its last search stopped.
    pub last: Option<Arc<LastAssignment>>,
}

/// Decides about all heads. `number` counts the cycles.
#[must_use]
pub fn run(mut snapshot: Snapshot, heads: &[Head], policy: &Policy, number: u64) -> (Plan, Report) {
    let mut nominated: Vec<Nominated<'_>> = Vec::new();
    let mut report = Report::default();
    for head in heads {
        match nominate::nominate(&snapshot, head, policy, number) {
            Ok(candidate) => nominated.push(candidate),
            Err(refusal) => report
                .entries
                .push(entry(head, Outcome::Refused(refusal), None)),
        }
    }
    order::sort(&mut nominated, policy);
    let mut plan = Plan::default();
    for candidate in nominated {
        let decided = decide(&mut snapshot, candidate, policy, &mut plan);
        report.entries.push(decided);
    }
    (plan, report)
}

fn decide(
    snapshot: &mut Snapshot,
    candidate: Nominated<'_>,
    policy: &Policy,
    plan: &mut Plan,
) -> Entry {
    let Nominated {
        head,
        cluster_queue,
        node,
        assignment,
    } = candidate;
    let last = assignment.last.clone();
    let outcome = match assignment.mode() {
        Mode::NoFit => Outcome::NoFit(assignment),
        Mode::Preempt => {
            // Whoever can always reclaim does not have to keep others from borrowing meanwhile.
            if cluster_queue.preemption.reclaim_within_cohort != PreemptionPolicy::Any {
                let reserved = reserve::reserved(
                    &snapshot.tree,
                    node,
                    &cluster_queue,
                    &assignment.usage,
                    assignment.borrowing > 0,
                );
                snapshot.tree.add(&cluster_queue.name, &reserved);
            }
            Outcome::NoCandidates(assignment)
        }
        Mode::Fit if !fits(snapshot, node, head, &assignment) => Outcome::NoLongerFits(assignment),
        Mode::Fit => {
            if head.workload.reservation.is_none() {
                snapshot.tree.add(&cluster_queue.name, &assignment.usage);
            }
            let new = assignment.new_places(&head.workload, &snapshot.topologies);
            snapshot.take_places(&new);
            plan.admissions.push(Admission::of(
                &head.workload,
                &cluster_queue.name,
                &assignment,
                &snapshot.topologies,
            ));
            Outcome::Admitted(assignment)
        }
    };
    let kept = match outcome {
        Outcome::NoLongerFits(_) if !policy.preserve_scan_progress => None,
        _ => Some(last),
    };
    entry(head, outcome, kept)
}

/// Whether an assignment still fits: its quota, unless that is held already, and its places.
fn fits(snapshot: &Snapshot, node: NodeId, head: &Head, assignment: &Assignment) -> bool {
    let reserved = head.workload.reservation.is_some();
    let new = assignment.new_places(&head.workload, &snapshot.topologies);
    (reserved || snapshot.tree.fits(node, &assignment.usage)) && snapshot.has_places(&new)
}

fn entry(head: &Head, outcome: Outcome, last: Option<LastAssignment>) -> Entry {
    let requests = head
        .workload
        .pod_sets
        .iter()
        .map(|pod_set| (pod_set.name.clone(), pod_set.per_pod.times(pod_set.count)));
    Entry {
        workload: head.workload.key.clone(),
        cluster_queue: head.cluster_queue.clone(),
        outcome,
        last,
        requests: requests.collect(),
    }
}
