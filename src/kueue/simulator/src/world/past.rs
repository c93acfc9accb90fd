//! Who was tried when, and where somebody was admitted when: what the checks have to know of the cycles that were.

use std::collections::{BTreeMap, BTreeSet};

use cache::{ClusterQueueName, Plan, Report, WorkloadKey};

/// What cycles did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    cycles: u64,
    tried: BTreeMap<WorkloadKey, u64>,
    grown: BTreeMap<ClusterQueueName, u64>,
    /// How often a workload preempted another one.
    fights: BTreeMap<(WorkloadKey, WorkloadKey), u64>,
}

/// So often one workload preempts another before it is called a war.
const WAR: u64 = 10;

impl Past {
    pub(super) fn remember(&mut self, plan: &Plan, report: &Report) {
        self.cycles += 1;
        for entry in &report.entries {
            self.tried.insert(entry.workload.clone(), self.cycles);
        }
        for one in &plan.preemptions {
            let fight = (one.preemptor.key.clone(), one.target.workload.key.clone());
            *self.fights.entry(fight).or_default() += 1;
        }
        for admission in &plan.admissions {
            self.grown
                .insert(admission.cluster_queue.clone(), self.cycles);
        }
    }

    /// Whether workloads take each other's place again and again, each by right: two, or more in a circle.
    pub(crate) fn at_war(&self) -> bool {
        let often = self.fights.iter().filter(|(_, times)| **times >= WAR);
        let mut fights: Vec<_> = often.map(|(fight, _)| fight).collect();
        loop {
            // Whoever is preempted and preempts nobody is in no circle.
            let fighters: BTreeSet<_> = fights.iter().map(|(one, _)| one).collect();
            let left = fights.iter().copied();
            let left: Vec<_> = left.filter(|(_, other)| fighters.contains(other)).collect();
            if left.len() == fights.len() {
                return !left.is_empty();
            }
            fights = left;
        }
    }

    /// Whether somebody was admitted in a ClusterQueue in the cycle in which a workload was last tried, or later.
    pub(crate) fn grew_since(&self, queue: &ClusterQueueName, workload: &WorkloadKey) -> bool {
        let grown = self.grown.get(queue);
        grown.is_some_and(|grown| self.tried.get(workload).is_some_and(|tried| tried <= grown))
    }
}
