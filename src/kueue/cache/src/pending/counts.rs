//! How many wait, how much they ask for together, and how many different shapes that is: for statuses and metrics.

use std::collections::{BTreeMap, BTreeSet};

use quantity::{Amount, Requests, ResourceName};
use scheduler::LocalQueueKey;

use super::{PendingQueue, Waiting};

/// Numbers for those whose turn may come, and for those that are set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Pending {
    /// Those whose turn may come, the one being tried included.
    pub active: usize,
    /// Those that are set aside.
    pub parked: usize,
}

/// What workloads ask for together. Sums are exact where amounts would saturate.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals(BTreeMap<ResourceName, i128>);

impl Totals {
    pub(super) fn add(&mut self, waiting: &Waiting) {
        self.change(waiting, 1);
    }

    pub(super) fn subtract(&mut self, waiting: &Waiting) {
        self.change(waiting, -1);
    }

    fn change(&mut self, waiting: &Waiting, by: i128) {
        for pod_set in &waiting.workload.pod_sets {
            for (resource, amount) in &pod_set.per_pod {
                let total = i128::from(amount.times(pod_set.count).value());
                *self.0.entry(resource.clone()).or_default() += by * total;
            }
        }
    }

    /// Whether both say the same of every resource; zero and absent are the same.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        let there = |totals: &Self| -> Vec<(ResourceName, i128)> {
            let entries = totals.0.clone().into_iter();
            entries.filter(|(_, total)| *total != 0).collect()
        };
        there(self) == there(other)
    }
}

impl PendingQueue {
    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        let pending = self.pending();
        pending.active + pending.parked
    }

    /// Whether nobody waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many wait in which state.
    #[must_use]
    pub fn pending(&self) -> Pending {
        Pending {
            active: self.active.len() + usize::from(self.in_flight.is_some()),
            parked: self.parked.len(),
        }
    }

    /// How many of one LocalQueue wait in which state.
    #[must_use]
    pub fn pending_of(&self, door: &LocalQueueKey) -> Pending {
        let flying = self
            .in_flight
            .as_ref()
            .is_some_and(|flying| flying.door() == door);
        Pending {
            active: self.active.of_door(door) + usize::from(flying),
            parked: self.parked.of_door(door),
        }
    }

    /// How many wait in which state, by the values that metrics tell apart.
    #[must_use]
    pub fn breakdown(&self) -> BTreeMap<Vec<String>, Pending> {
        let mut counts: BTreeMap<Vec<String>, Pending> = BTreeMap::new();
        let mut count = |waiting: &Waiting, add: fn(&mut Pending)| {
            let values = waiting.tracked.as_deref().cloned().unwrap_or_default();
            add(counts.entry(values).or_default());
        };
        for waiting in self.active.iter().chain(&self.in_flight) {
            count(waiting, |pending| pending.active += 1);
        }
        for waiting in self.parked.iter() {
            count(waiting, |pending| pending.parked += 1);
        }
        counts
    }

    /// How many different shapes wait in which state.
    #[must_use]
    pub fn shapes(&self) -> Pending {
        let flying = self.in_flight.as_ref().and_then(|flying| flying.shape);
        let another = flying.is_some_and(|shape| !self.active.has_shape(shape));
        Pending {
            active: self.active.shapes().count() + usize::from(another),
            parked: self.parked.shapes().count(),
        }
    }

    /// How many different shapes wait at all.
    #[must_use]
    pub fn all_shapes(&self) -> usize {
        let flying = self.in_flight.as_ref().and_then(|flying| flying.shape);
        let waiting = self.active.shapes().chain(self.parked.shapes());
        waiting.chain(&flying).collect::<BTreeSet<_>>().len()
    }

    /// What all of them ask for together.
    #[must_use]
    pub fn resources(&self) -> Requests {
        let mut totals = self.totals.clone();
        if let Some(flying) = &self.in_flight {
            totals.add(flying);
        }
        let amount = |total: i128| {
            let clamped = total.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
            Amount::new(i64::try_from(clamped).unwrap_or(i64::MAX))
        };
        let there = totals.0.into_iter().filter(|(_, total)| *total != 0);
        there.map(|(name, total)| (name, amount(total))).collect()
    }
}
