//! Small worlds for the tests of this crate: `queue("a").cohort("x").gives("red", "cpu", 5)` and a compact text of what came out.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use quantity::{Amount, Requests, ResourceName};

use crate::topology::TopologyRequest;
use crate::{
    Admitted, ClusterQueue, CohortName, CohortQuotas, Flavor, FlavorName, FlavorResource, Head,
    Holder, Labels, LocalQueueKey, Member, NodeAffinity, Outcome, PodSet, PodSetAdditions,
    PodSetName, Policy, Quota, QuotaTree, ResourceGroup, Selector, Snapshot, Usage, Weight,
    Workload, WorkloadKey, check_tree, messages, run,
};

/// A ClusterQueue that everybody may use.
pub(crate) fn queue(name: &str) -> ClusterQueue {
    ClusterQueue {
        namespaces: Some(Selector::default()),
        active: true,
        ..ClusterQueue::named(name)
    }
}

impl ClusterQueue {
    pub(crate) fn cohort(mut self, name: &str) -> Self {
        self.cohort = Some(CohortName::from(name));
        self
    }

    /// One more flavor with these nominal quotas; all flavors of a queue share one group.
    pub(crate) fn gives(self, flavor: &str, quotas: &[(&str, i64)]) -> Self {
        let limited: Vec<_> = quotas
            .iter()
            .map(|(resource, nominal)| (*resource, nominal_quota(*nominal)))
            .collect();
        self.limited(flavor, &limited)
    }

    pub(crate) fn limited(mut self, flavor: &str, quotas: &[(&str, Quota)]) -> Self {
        if self.groups.is_empty() {
            self.groups.push(ResourceGroup::default());
        }
        self.groups[0].covered = quotas
            .iter()
            .map(|(resource, _)| ResourceName::from(*resource))
            .collect();
        self.groups[0].flavors.push(FlavorName::from(flavor));
        self.quotas.extend(
            quotas
                .iter()
                .map(|(resource, quota)| (FlavorResource::new(flavor, *resource), *quota)),
        );
        self
    }
}

pub(crate) fn nominal_quota(nominal: i64) -> Quota {
    Quota {
        nominal: Amount::new(nominal),
        ..Quota::default()
    }
}

pub(crate) fn limits(nominal: i64, borrowing: Option<i64>, lending: Option<i64>) -> Quota {
    Quota {
        nominal: Amount::new(nominal),
        borrowing_limit: borrowing.map(Amount::new),
        lending_limit: lending.map(Amount::new),
    }
}

pub(crate) fn usage(list: &[(&str, &str, i64)]) -> Usage {
    list.iter()
        .map(|(flavor, resource, amount)| {
            (
                FlavorResource::new(*flavor, *resource),
                Amount::new(*amount),
            )
        })
        .collect()
}

/// A workload with one pod of nothing, created at second zero.
pub(crate) fn workload(name: &str) -> Workload {
    Workload {
        key: WorkloadKey::new("ns", name),
        uid: name.into(),
        local_queue: LocalQueueKey::new("ns", "lq"),
        job_uid: None,
        priority: 0,
        boost: 0,
        created: Timestamp::UNIX_EPOCH,
        queued: Timestamp::UNIX_EPOCH,
        waiting_since: Timestamp::UNIX_EPOCH,
        pod_sets: vec![pod_set("main", 1, &[])],
        allowed_flavors: None,
        variant_of: None,
        replaces: None,
        preemption_gated: false,
        reserved: false,
        reservation: None,
        elastic: false,
        single_pod: false,
        defect: None,
        shape: 0,
    }
}

pub(crate) fn pod_set(name: &str, count: i64, per_pod: &[(&str, i64)]) -> PodSet {
    PodSet {
        name: PodSetName::from(name),
        count,
        min_count: None,
        per_pod: per_pod
            .iter()
            .map(|(resource, amount)| (ResourceName::from(*resource), Amount::new(*amount)))
            .collect::<Requests>(),
        affinity: NodeAffinity::default(),
        tolerations: Vec::new(),
        topology: TopologyRequest::default(),
        template: Requests::default(),
        preferred_nodes: Vec::new(),
        added: PodSetAdditions::default(),
    }
}

impl Workload {
    pub(crate) fn pods(mut self, pod_sets: &[PodSet]) -> Self {
        self.pod_sets = pod_sets.to_vec();
        self
    }

    pub(crate) fn asks(self, count: i64, per_pod: &[(&str, i64)]) -> Self {
        self.pods(&[pod_set("main", count, per_pod)])
    }

    pub(crate) fn priority(mut self, priority: i64) -> Self {
        self.priority = priority;
        self
    }

    pub(crate) fn at(mut self, second: i64) -> Self {
        self.queued = Timestamp::from_second(second).unwrap();
        self
    }
}

/// ClusterQueues, cohorts, flavors and what is used, waiting for heads.
#[derive(Default, Debug)]
pub(crate) struct World {
    pub(crate) queues: Vec<ClusterQueue>,
    pub(crate) cohorts: BTreeMap<CohortName, CohortQuotas>,
    pub(crate) flavors: BTreeMap<FlavorName, Arc<Flavor>>,
    pub(crate) used: BTreeMap<crate::ClusterQueueName, Usage>,
    pub(crate) policy: Policy,
    pub(crate) running: Vec<Arc<Admitted>>,
    pub(crate) pods_not_ready: bool,
}

impl World {
    pub(crate) fn of(queues: &[ClusterQueue]) -> Self {
        let flavors = queues
            .iter()
            .flat_map(|queue| &queue.groups)
            .flat_map(|group| &group.flavors);
        let flavors = flavors.map(|name| (name.clone(), Arc::default())).collect();
        Self {
            queues: queues.to_vec(),
            flavors,
            ..Self::default()
        }
    }

    pub(crate) fn cohort(
        mut self,
        name: &str,
        parent: Option<&str>,
        quotas: &[(&str, &str, Quota)],
    ) -> Self {
        let quotas = quotas
            .iter()
            .map(|(flavor, resource, quota)| (FlavorResource::new(*flavor, *resource), *quota))
            .collect();
        self.cohorts.insert(
            CohortName::from(name),
            CohortQuotas {
                parent: parent.map(CohortName::from),
                quotas,
                weight: Weight::default(),
            },
        );
        self
    }

    pub(crate) fn flavor(mut self, name: &str, flavor: Flavor) -> Self {
        self.flavors
            .insert(FlavorName::from(name), Arc::new(flavor));
        self
    }

    pub(crate) fn uses(mut self, queue: &str, list: &[(&str, &str, i64)]) -> Self {
        self.used.insert(queue.into(), usage(list));
        self
    }

    /// One more workload that holds quota, since the second that it was queued at.
    pub(crate) fn runs(
        mut self,
        queue: &str,
        workload: Workload,
        list: &[(&str, &str, i64)],
    ) -> Self {
        self.running.push(Arc::new(Admitted {
            cluster_queue: queue.into(),
            usage: usage(list),
            places: BTreeMap::default(),
            reserved: Some(workload.queued),
            admitted: true,
            evicted: false,
            workload: Arc::new(workload),
        }));
        self
    }

    pub(crate) fn tree(&self) -> QuotaTree {
        let members = self.queues.iter().map(|queue| Member {
            name: &queue.name,
            cohort: queue.cohort.as_ref(),
            quotas: &queue.quotas,
            weight: queue.weight,
        });
        QuotaTree::build(members, &self.cohorts, &self.used)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let queues = self
            .queues
            .iter()
            .map(|queue| (queue.name.clone(), Arc::new(queue.clone())));
        let mut snapshot = Snapshot {
            tree: self.tree(),
            cluster_queues: Arc::new(queues.collect()),
            flavors: Arc::new(self.flavors.clone()),
            pods_not_ready: self.pods_not_ready,
            ..Snapshot::default()
        };
        for running in &self.running {
            snapshot.add(running);
        }
        snapshot
    }

    /// Runs one cycle and says what became of every head, in the order of the decisions.
    pub(crate) fn cycle(&self, heads: &[(&str, Workload)]) -> String {
        let head = |(queue, workload): &(&str, Workload)| Head {
            workload: Arc::new(workload.clone()),
            cluster_queue: (*queue).into(),
            generation: 0,
            namespace: Some(Arc::new(Labels::new())),
            last: None,
            preemptor: crate::Preemptor::No,
        };
        let heads: Vec<_> = heads.iter().map(head).collect();
        let snapshot = self.snapshot();
        let (plan, report) = run(
            snapshot.clone(),
            &heads,
            &self.policy,
            1,
            Timestamp::UNIX_EPOCH,
        );
        let mut tree = snapshot.tree;
        for admission in &plan.admissions {
            tree.add(&admission.cluster_queue, &admission.usage);
        }
        assert_eq!(check_tree(&tree), []);
        let entries = report.entries.iter();
        let told = entries.map(|entry| format!("{}\n", described(entry)));
        let leaving = plan.preemptions.iter().map(|one| {
            let (target, preemptor) = (&one.target.workload.key, &one.preemptor.key);
            format!("{} leaves for {}\n", target.name, preemptor.name)
        });
        let evicted = plan.evictions.iter().map(|one| {
            let evicted = &one.evicted().workload.key.name;
            format!("{evicted} is evicted\n")
        });
        told.chain(leaving).chain(evicted).collect()
    }
}

fn described(entry: &crate::Entry) -> String {
    let name = &entry.workload.name;
    match &entry.outcome {
        Outcome::Admitted(assignment) => {
            let used = assignment
                .usage
                .iter()
                .map(|(of, amount)| format!("{of}={amount:?}"));
            let borrowed = if assignment.borrowing > 0 {
                format!(" borrowing at level {}", assignment.borrowing)
            } else {
                String::new()
            };
            format!(
                "{name}: admitted {}{borrowed}",
                used.collect::<Vec<_>>().join(" ")
            )
        }
        _ => {
            let reason = entry.pending_reason().map_or("", messages::pending_reason);
            format!(
                "{name}: {reason}, {:?}: {}",
                entry.requeue_reason().unwrap(),
                messages::pending(entry).unwrap_or_default()
            )
        }
    }
}

/// The whole tree, one line a node and resource: `cq a red/cpu: uses 3 of 5, available 7, at most 10`.
pub(crate) fn shown(tree: &QuotaTree) -> String {
    let mut lines = Vec::new();
    for (id, holder) in tree.nodes() {
        let name = match holder {
            Holder::ClusterQueue(name) => format!("cq {name}"),
            Holder::Cohort(name) => format!("cohort {name}"),
        };
        for (of, quota) in tree.subtree_quotas(id) {
            let (used, available, potential) = (
                tree.used(id, of),
                tree.available(id, of),
                tree.potential(id, of),
            );
            lines.push(format!("{name} {of}: uses {used:?} of {quota:?}, available {available:?}, at most {potential:?}\n"));
        }
    }
    lines.concat()
}
