//! Looks at one head on its own: may it be tried at all, which flavors would it take, and whom would it preempt.

use std::sync::Arc;

use crate::admitted::Admitted;
use crate::assign::{Assigner, Assignment, LastAssignment, Mode, Nomination, largest_that};
use crate::objects::{ClusterQueue, Defect, Usage};
use crate::places::without_topology;
use crate::policy::Policy;
use crate::preemption::{Finder, Target};
use crate::quota::NodeId;
use crate::report::Refusal;
use crate::topology::TopologyUsage;

use super::{Head, Rules, Snapshot};

static NOTHING: Usage = Usage::new();

/// A head that may be tried.
pub(super) struct Nominated<'a> {
    pub(super) head: &'a Head,
    pub(super) cluster_queue: Arc<ClusterQueue>,
    pub(super) node: NodeId,
    pub(super) assigned: Assigned,
    /// Whether it fits only once those have left whom others of this cycle preempt.
    pub(super) deferred: bool,
}

/// What a head would take.
pub(super) struct Assigned {
    pub(super) assignment: Assignment,
    /// Whom it would preempt.
    pub(super) targets: Vec<Target>,
    /// The slice it would take the place of.
    pub(super) replaced: Option<Arc<Admitted>>,
}

impl Nominated<'_> {
    pub(super) fn mode(&self) -> Mode {
        self.assigned.assignment.mode()
    }

    /// The quota it would take on top of what it holds. A second pass takes none.
    pub(super) fn usage(&self) -> &Usage {
        if self.head.workload.reserved {
            &NOTHING
        } else {
            &self.assigned.assignment.usage
        }
    }

    /// The places it would take on top of those it has.
    pub(super) fn places(&self, snapshot: &Snapshot) -> TopologyUsage {
        let assignment = &self.assigned.assignment;
        assignment.new_places(&self.head.workload, &snapshot.topologies)
    }
}

impl Assigned {
    /// Everybody who has to leave for it.
    pub(super) fn leaving(&self) -> impl Iterator<Item = &Arc<Admitted>> {
        let targets = self.targets.iter().map(|target| &target.admitted);
        targets.chain(&self.replaced)
    }

    /// Where others have to leave first, the places that will be taken then; where nobody can, those it would take in an empty cluster, so
    /// that nobody who comes later takes them.
    fn reserve_places(&mut self, snapshot: &Snapshot) {
        let wanted = &self.assignment.wanted;
        let replaces = wanted.search.unhealthy.is_some();
        if wanted.is_empty() || replaces || self.assignment.mode() != Mode::Preempt {
            return;
        }
        let mut then = Snapshot {
            topologies: snapshot.topologies.clone(),
            ..Snapshot::default()
        };
        for gone in self.leaving() {
            then.give_back_places(&gone.places);
        }
        let empty = self.targets.is_empty();
        self.assignment.reserve_places(&then.topologies, empty);
    }
}

pub(super) fn nominate<'a>(
    finder: &Finder<'_>,
    snapshot: &Snapshot,
    head: &'a Head,
    rules: Rules<'_>,
) -> Result<Nominated<'a>, Refusal> {
    let (cluster_queue, node) = admissible(snapshot, head, rules.policy)?;
    let current = |last: &&Arc<LastAssignment>| {
        let shape = Some(head.workload.shape);
        !last.outdated(head.generation, rules.number, shape, rules.policy)
    };
    let task = Task {
        finder,
        snapshot,
        head,
        cluster_queue: &cluster_queue,
        node,
        last: head.last.as_ref().filter(current).map(Arc::as_ref),
        nominated: None,
        rules,
    };
    let assigned = task.assign();
    Ok(Nominated {
        head,
        cluster_queue,
        node,
        assigned,
        deferred: false,
    })
}

/// Whether a head may be tried at all, in the order in which people are told.
fn admissible(
    snapshot: &Snapshot,
    head: &Head,
    policy: &Policy,
) -> Result<(Arc<ClusterQueue>, NodeId), Refusal> {
    let defect = head.workload.defect.as_ref();
    if defect == Some(&Defect::FailedChecks) {
        return Err(Refusal::FailedChecks);
    }
    let name = &head.cluster_queue;
    let found = snapshot.cluster_queues.get(name);
    let found = found.zip(snapshot.tree.cluster_queue(name));
    let (cluster_queue, node) = found.ok_or(Refusal::ClusterQueueNotFound)?;
    let mut unknown = without_topology(cluster_queue, &snapshot.flavors, &snapshot.topologies);
    let unplaceable = policy.tas && unknown.next().is_some();
    if !cluster_queue.active || snapshot.tree.in_cycle(name) || unplaceable {
        return Err(Refusal::ClusterQueueInactive);
    }
    let namespace = head.namespace.as_ref().ok_or(Refusal::NamespaceUnknown)?;
    let selector = cluster_queue.namespaces.as_ref();
    if !selector.is_some_and(|selector| selector.matches(namespace)) {
        return Err(Refusal::NamespaceMismatch);
    }
    match defect.and_then(Defect::refusal) {
        Some(refusal) => Err(refusal),
        None => Ok((cluster_queue.clone(), node)),
    }
}

/// One search for flavors and targets.
pub(super) struct Task<'a, 'f> {
    pub(super) finder: &'a Finder<'f>,
    pub(super) snapshot: &'a Snapshot,
    pub(super) head: &'a Head,
    pub(super) cluster_queue: &'a ClusterQueue,
    pub(super) node: NodeId,
    /// Where it begins.
    pub(super) last: Option<&'a LastAssignment>,
    /// The flavors that it is bound to.
    pub(super) nominated: Option<&'a Nomination>,
    pub(super) rules: Rules<'a>,
}

impl Task<'_, '_> {
    /// The assignment of the full counts with its targets, or of fewer pods if only those could be admitted.
    pub(super) fn assign(&self) -> Assigned {
        let mut assigned = self.assign_quota();
        assigned.reserve_places(self.snapshot);
        assigned
    }

    fn assign_quota(&self) -> Assigned {
        let replaced = self.replaced();
        let attempt = |counts: Option<&[i64]>| self.attempt(replaced.as_ref(), counts);
        let usable = |assigned: &Assigned| {
            assigned.assignment.mode() == Mode::Fit || !assigned.targets.is_empty()
        };
        let full = attempt(None);
        if usable(&full) {
            return full;
        }
        let fewer = |counts: &[i64]| Some(attempt(Some(counts))).filter(usable);
        let pod_sets = &self.head.workload.pod_sets;
        let partial = self.rules.policy.partial_admission;
        let found = partial.then(|| largest_that(pod_sets, fewer)).flatten();
        found.unwrap_or(Assigned {
            replaced: None,
            ..full
        })
    }

    fn attempt(&self, replaced: Option<&Arc<Admitted>>, counts: Option<&[i64]>) -> Assigned {
        let (workload, policy) = (&self.head.workload, self.rules.policy);
        let name = &self.cluster_queue.name;
        let slice = replaced.and_then(|slice| slice.workload.reservation.as_ref());
        let assigner = Assigner {
            tree: &self.snapshot.tree,
            cluster_queue: self.cluster_queue,
            node: self.node,
            flavors: &self.snapshot.flavors,
            topologies: &self.snapshot.topologies,
            oracle: &self.finder.oracle(workload, name, self.node),
            policy,
            nominated: self.nominated,
            replaced: slice.map(|slice| slice.pod_sets.as_slice()),
        };
        let mut assignment = assigner.assign(workload, counts, self.last);
        assignment.last.continues(self.last, self.head.generation);
        assignment.last.cycle = self.rules.number;
        assignment.last.shape = Some(workload.shape);
        let targets = if assignment.mode() == Mode::Preempt {
            self.finder.targets(workload, name, &assignment)
        } else {
            Vec::new()
        };
        Assigned {
            assignment,
            targets,
            replaced: replaced.cloned(),
        }
    }

    /// The slice that a grown workload takes the place of, if it still holds quota of the same ClusterQueue.
    fn replaced(&self) -> Option<Arc<Admitted>> {
        let key = self.head.workload.replaces.as_ref()?;
        let same = key.namespace == self.head.workload.key.namespace;
        let mut holding = self.snapshot.admitted_in(&self.cluster_queue.name);
        let found = holding.find(|held| held.workload.key == *key).cloned();
        found.filter(|_| same && self.rules.policy.elastic_jobs)
    }
}
