//! Admission fair sharing in the cache: who has used how much, what workloads are charged when they are admitted, and the order that
//! follows for ClusterQueues that ask for it. Takes objects and times, keeps the books of `scheduler::Ledger`. Section 4.7 of the reference.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use kueue_api::conditions::{self, workload as types};
use kueue_api::v1beta2::{self as api, AdmissionMode};
use quantity::{Amount, Quantity, ResourceName};
use scheduler::{
    Admission, AdmissionFairSharing, ClusterQueueName, Ledger, LocalQueueKey, Quantities, Sample,
    WorkloadKey,
};

use crate::cache::{LocalQueueState, QueueState};
use crate::pending::{Order, PendingQueue};
use crate::workloads::WorkloadState;
use crate::{Cache, Options};

impl Options {
    /// The rules of admission fair sharing, if it is configured and its gate is on.
    pub(crate) fn shares(&self) -> Option<&AdmissionFairSharing> {
        let gate = self.features.admission_fair_sharing;
        self.admission_fair_sharing.as_ref().filter(|_| gate)
    }
}

/// Where a workload stood before something changed.
pub(crate) struct Stood {
    door: LocalQueueKey,
    began: bool,
}

impl Cache {
    /// How much a LocalQueue has used lately, weighed: the smaller, the sooner it is its turn. `None` without admission fair sharing.
    #[must_use]
    pub fn past_usage(&self, door: &LocalQueueKey) -> Option<f64> {
        let rules = self.options.shares()?;
        Some(weighed(rules, &self.ledger, &self.local_queues, door))
    }

    /// The past usage of every LocalQueue of a ClusterQueue that goes by it.
    pub(crate) fn all_past_usage(&self) -> Arc<BTreeMap<LocalQueueKey, f64>> {
        let Some(rules) = self.options.shares() else {
            return Arc::default();
        };
        let fair = |name: &ClusterQueueName| self.queues.get(name).is_some_and(|queue| queue.fair);
        let doors = self.by_local_queue.keys().chain(self.held_locally.keys());
        let leads = |door: &&LocalQueueKey| {
            let state = self.local_queues.get(*door);
            let target = state.and_then(|state| state.cluster_queue.as_ref());
            target.is_none_or(fair)
        };
        let usage = |door: &LocalQueueKey| {
            let usage = weighed(rules, &self.ledger, &self.local_queues, door);
            (door.clone(), usage)
        };
        Arc::new(doors.filter(leads).map(usage).collect())
    }

    /// What is known about the usage of a LocalQueue is replaced.
    pub fn set_past_usage(
        &mut self,
        door: &LocalQueueKey,
        consumed: &BTreeMap<String, kueue_api::Quantity>,
        now: Timestamp,
    ) {
        self.ledger.set(door, quantities(consumed), now);
    }

    /// Measures the usage of a LocalQueue if it is time; `None` without admission fair sharing.
    pub fn sample_usage(&mut self, door: &LocalQueueKey, now: Timestamp) -> Option<Sample> {
        let rules = self.options.shares()?.clone();
        let used = self.used_by(door);
        Some(self.ledger.sample(door, &used, now, &rules))
    }

    /// What the status of a LocalQueue says about its usage.
    #[must_use]
    pub fn written_usage(&self, door: &LocalQueueKey) -> Option<api::FairSharingStatus> {
        self.options.shares()?;
        let account = self.ledger.account(door)?;
        let written = account.consumed().iter().map(|(resource, amount)| {
            let text = kueue_api::Quantity(amount.to_string());
            (resource.to_string(), text)
        });
        Some(api::FairSharingStatus {
            weighted_share: 0,
            admission_fair_sharing_status: Some(api::AdmissionFairSharingStatus {
                consumed_resources: written.collect(),
                last_update: Some(kueue_api::Time(account.at())),
            }),
        })
    }

    /// A LocalQueue was shown: what an earlier process wrote down about it is taken over once.
    pub(crate) fn recall_usage(&mut self, object: &api::LocalQueue, now: Timestamp) {
        if self.options.shares().is_none() {
            return;
        }
        let status = object.status.as_ref();
        let fair = status.and_then(|status| status.fair_sharing.as_ref());
        let written = fair.and_then(|fair| fair.admission_fair_sharing_status.as_ref());
        let written = written.map(|written| quantities(&written.consumed_resources));
        let namespace = object.metadata.namespace.as_deref().unwrap_or_default();
        let door = LocalQueueKey::new(namespace, object.name());
        self.ledger.recall(&door, &written.unwrap_or_default(), now);
    }

    /// A workload is admitted: its LocalQueue pays at once.
    pub(crate) fn charge(&mut self, admission: &Admission) {
        let rules = self.options.shares();
        let Some(rules) = rules.filter(|_| admission.entry_penalty) else {
            return;
        };
        let Some(state) = self.workloads.get(&admission.workload) else {
            return;
        };
        let held: Vec<&ResourceName> = admission.usage.keys().map(|of| &of.resource).collect();
        let mut requests = Quantities::new();
        for pod_set in &state.info.pod_sets {
            for (resource, amount) in &pod_set.per_pod.times(pod_set.count) {
                if held.contains(&resource) {
                    book(&mut requests, resource, *amount);
                }
            }
        }
        let penalty = rules.penalty(&requests);
        let (door, at) = (&admission.local_queue, self.began);
        self.ledger.charge(door, &admission.workload, penalty, at);
    }

    /// A workload will not begin after all.
    pub(crate) fn refund(&mut self, door: &LocalQueueKey, workload: &WorkloadKey) {
        self.ledger.refund(door, workload);
    }

    /// Where a workload stands, as far as the books are concerned; `None` without admission fair sharing.
    pub(crate) fn stood(&self, key: &WorkloadKey) -> Option<Stood> {
        self.options.shares()?;
        let state = self.workloads.get(key)?;
        Some(Stood {
            door: state.info.local_queue.clone(),
            began: began(state),
        })
    }

    /// Books what follows from a change of a workload: it began, or it never will.
    pub(crate) fn keep_books(&mut self, key: &WorkloadKey, before: Option<&Stood>, now: Timestamp) {
        let (Some(rules), Some(state)) = (self.options.shares(), self.workloads.get(key)) else {
            return;
        };
        let door = state.info.local_queue.clone();
        let fair = |holding: &crate::holdings::Holding| {
            let queue = self.queues.get(&holding.cluster_queue);
            queue.is_some_and(|queue| queue.fair)
        };
        let begins = began(state) && !before.is_some_and(|before| before.began);
        let settles = begins && state.active && state.holding.as_ref().is_some_and(fair);
        let never = state.finished || (!state.active && state.holding.is_none());
        if settles {
            let (rules, used) = (rules.clone(), self.used_by(&door));
            self.ledger.settle(&door, key, &used, now, &rules);
        }
        if let Some(before) = before.filter(|before| before.door != door) {
            self.ledger.refund(&before.door, key);
        }
        if never {
            self.ledger.refund(&door, key);
        }
    }

    /// What the admitted workloads of a LocalQueue use together.
    fn used_by(&self, door: &LocalQueueKey) -> Quantities {
        let mut used = Quantities::new();
        let held = self.held_locally.get(door);
        for (of, amount) in held.into_iter().flat_map(|held| &held.used) {
            book(&mut used, &of.resource, *amount);
        }
        used
    }

    /// Does something with the pending workloads of a ClusterQueue and the order they are in.
    pub(crate) fn with_order<T>(
        &self,
        name: &ClusterQueueName,
        ask: impl FnOnce(&PendingQueue, Order<'_>) -> T,
    ) -> Option<T> {
        let queue = self.queues.get(name)?;
        let Some(rules) = self.options.shares().filter(|_| queue.fair) else {
            return Some(ask(&queue.pending, Order::Plain));
        };
        let usage = |door: &LocalQueueKey| weighed(rules, &self.ledger, &self.local_queues, door);
        Some(ask(&queue.pending, Order::ByUsage(&usage)))
    }
}

/// Takes the first workload of a ClusterQueue to try it.
pub(crate) fn pop(
    queue: &mut QueueState,
    shares: Option<&AdmissionFairSharing>,
    ledger: &Ledger,
    doors: &BTreeMap<LocalQueueKey, LocalQueueState>,
) -> Option<WorkloadKey> {
    if !queue.pending.has_head() {
        return None;
    }
    let head = match shares.filter(|_| queue.fair) {
        None => queue.pending.pop(Order::Plain),
        Some(rules) => {
            let usage = |door: &LocalQueueKey| weighed(rules, ledger, doors, door);
            queue.pending.pop(Order::ByUsage(&usage))
        }
    };
    head.map(|head| head.key().clone())
}

/// Whether a ClusterQueue serves its LocalQueues by their past usage.
pub(crate) fn is_fair(spec: &api::ClusterQueueSpec) -> bool {
    let mode = spec
        .admission_scope
        .as_ref()
        .map(|scope| scope.admission_mode);
    mode == Some(AdmissionMode::UsageBasedAdmissionFairSharing)
}

/// The weight of a LocalQueue, one if it says nothing.
pub(crate) fn weight(object: &api::LocalQueue) -> f64 {
    let weight = object.spec.fair_sharing.as_ref();
    let weight = weight.and_then(|fair| fair.weight.as_ref());
    let weight = weight.and_then(|weight| weight.0.parse::<Quantity>().ok());
    weight.map_or(1.0, Quantity::approximate)
}

fn weighed(
    rules: &AdmissionFairSharing,
    ledger: &Ledger,
    doors: &BTreeMap<LocalQueueKey, LocalQueueState>,
    door: &LocalQueueKey,
) -> f64 {
    let weight = doors.get(door).map_or(1.0, |state| state.weight);
    ledger.weighed(door, weight, rules)
}

fn began(state: &WorkloadState) -> bool {
    !state.finished
        && state.holding.is_some()
        && conditions::is_true(&state.status.conditions, types::ADMITTED)
}

fn book(to: &mut Quantities, resource: &ResourceName, amount: Amount) {
    let own = to.entry(resource.clone()).or_insert(Quantity::ZERO);
    *own = own.plus(amount.to_quantity(resource));
}

/// What can be read of it.
fn quantities(written: &BTreeMap<String, kueue_api::Quantity>) -> Quantities {
    let read = |(resource, text): (&String, &kueue_api::Quantity)| {
        let amount = text.0.parse().ok()?;
        Some((ResourceName::from(resource.as_str()), amount))
    };
    written.iter().filter_map(read).collect()
}
