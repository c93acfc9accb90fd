//! What the workloads of one queue hold together: quota that is reserved, and the part of it whose workloads were admitted.

use std::sync::Arc;

use kueue_api::conditions::{self, workload as types};
use quantity::Amount;
use scheduler::topology::TopologyUsage;
use scheduler::{Admitted, ClusterQueueName, LocalQueueKey, Usage};

use crate::Cache;
use crate::workloads::WorkloadState;

/// The quota that one workload holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holding {
    pub(crate) cluster_queue: ClusterQueueName,
    pub(crate) local_queue: LocalQueueKey,
    pub(crate) usage: Usage,
    /// What it takes from the domains of topologies.
    pub(crate) places: TopologyUsage,
    pub(crate) admitted: bool,
}

/// The sum of what several workloads hold.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Holdings {
    pub(crate) reserving: i32,
    pub(crate) admitted: i32,
    pub(crate) reserved: Usage,
    pub(crate) used: Usage,
}

impl Holdings {
    pub(crate) fn add(&mut self, holding: &Holding) {
        self.reserving += 1;
        sum(&mut self.reserved, &holding.usage, |own, amount| {
            own + amount
        });
        if holding.admitted {
            self.admitted += 1;
            sum(&mut self.used, &holding.usage, |own, amount| own + amount);
        }
    }

    pub(crate) fn remove(&mut self, holding: &Holding) {
        self.reserving -= 1;
        sum(&mut self.reserved, &holding.usage, |own, amount| {
            own - amount
        });
        if holding.admitted {
            self.admitted -= 1;
            sum(&mut self.used, &holding.usage, |own, amount| own - amount);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.reserving == 0
    }
}

impl Cache {
    /// Lists a workload that holds quota among those that may be preempted, as it is now.
    pub(crate) fn show_to_preemptors(&mut self, state: &WorkloadState) {
        let Some(holding) = &state.holding else {
            return;
        };
        let stated = &state.status.conditions;
        let holds = |type_: &str| {
            conditions::find(stated, type_).filter(|condition| condition.status == "True")
        };
        let shown = Admitted {
            workload: state.info.clone(),
            cluster_queue: holding.cluster_queue.clone(),
            usage: holding.usage.clone(),
            places: holding.places.clone(),
            reserved: holds(types::QUOTA_RESERVED).map(|found| found.last_transition_time.0),
            admitted: holding.admitted,
            evicted: holds(types::EVICTED).is_some(),
        };
        scheduler::remember(&mut self.admitted, Arc::new(shown));
    }
}

fn sum(to: &mut Usage, other: &Usage, with: impl Fn(Amount, Amount) -> Amount) {
    for (of, amount) in other {
        match to.get_mut(of) {
            Some(own) => *own = with(*own, *amount),
            None => {
                to.insert(of.clone(), with(Amount::ZERO, *amount));
            }
        }
    }
}
