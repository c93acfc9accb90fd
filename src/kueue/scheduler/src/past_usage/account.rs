//! The books: what each LocalQueue has consumed, and the penalties of workloads that were admitted and have not begun.
//!
//! Every booking is exact and can be repeated: a penalty is kept by workload, so that it is charged once, and taken back as it was charged.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::{AdmissionFairSharing, Quantities, sum};
use crate::names::{LocalQueueKey, WorkloadKey};

/// What one LocalQueue has used.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Account {
    consumed: Quantities,
    /// The sum of `penalties`.
    pending: Quantities,
    penalties: BTreeMap<WorkloadKey, Quantities>,
    /// When `consumed` was true.
    at: Timestamp,
    /// Whether what was written down by an earlier process was taken over.
    recalled: bool,
}

impl Account {
    /// What is remembered of its usage.
    #[must_use]
    pub fn consumed(&self) -> &Quantities {
        &self.consumed
    }

    /// What its workloads are charged that have not begun.
    #[must_use]
    pub fn pending(&self) -> &Quantities {
        &self.pending
    }

    /// When its usage was last brought up to date.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// Whether anything but zero is charged.
    #[must_use]
    pub fn has_pending(&self) -> bool {
        self.pending.values().any(|amount| !amount.is_zero())
    }

    /// What one workload is charged.
    #[must_use]
    pub fn penalty_of(&self, workload: &WorkloadKey) -> Option<&Quantities> {
        self.penalties.get(workload)
    }

    fn charge(&mut self, workload: &WorkloadKey, penalty: Quantities) {
        self.refund(workload);
        self.pending = sum(&self.pending, &penalty);
        self.penalties.insert(workload.clone(), penalty);
    }

    fn refund(&mut self, workload: &WorkloadKey) -> Option<Quantities> {
        let charged = self.penalties.remove(workload)?;
        for (resource, amount) in &charged {
            if let Some(pending) = self.pending.get_mut(resource) {
                *pending = pending.minus(*amount);
            }
        }
        self.pending.retain(|_, amount| !amount.is_zero());
        Some(charged)
    }

    /// Lets time pass, never backwards.
    fn pass(&mut self, used: &Quantities, now: Timestamp, rules: &AdmissionFairSharing) {
        let elapsed = Duration::try_from(now.duration_since(self.at)).unwrap_or_default();
        self.consumed = rules.decayed(&self.consumed, used, elapsed);
        self.at = self.at.max(now);
    }
}

/// What came of measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Whether it was time.
    pub taken: bool,
    /// After how long it is time again.
    pub again: Duration,
}

/// The accounts of all LocalQueues.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Ledger(BTreeMap<LocalQueueKey, Account>);

impl Ledger {
    /// The account of a LocalQueue, if anything was ever booked.
    #[must_use]
    pub fn account(&self, queue: &LocalQueueKey) -> Option<&Account> {
        self.0.get(queue)
    }

    /// How soon it is the turn of a LocalQueue with this weight: the smaller, the sooner.
    #[must_use]
    pub fn weighed(&self, queue: &LocalQueueKey, weight: f64, rules: &AdmissionFairSharing) -> f64 {
        let nothing = Account::default();
        let account = self.0.get(queue).unwrap_or(&nothing);
        rules.weighed(&account.consumed, &account.pending, weight)
    }

    /// Takes over what was written down about a LocalQueue, once a process. It is as of now, however old it is: nobody knows what was
    /// used meanwhile.
    pub fn recall(&mut self, queue: &LocalQueueKey, written: &Quantities, now: Timestamp) {
        let account = self.open(queue, now);
        if !account.recalled {
            account.consumed = sum(&account.consumed, written);
            account.recalled = true;
        }
    }

    /// Replaces what is known about a LocalQueue.
    pub fn set(&mut self, queue: &LocalQueueKey, consumed: Quantities, now: Timestamp) {
        let account = Account {
            consumed,
            at: now,
            ..Account::default()
        };
        self.0.insert(queue.clone(), account);
    }

    /// Charges a workload that was admitted. Charging it again replaces what it was charged before.
    pub fn charge(
        &mut self,
        queue: &LocalQueueKey,
        workload: &WorkloadKey,
        penalty: Quantities,
        now: Timestamp,
    ) {
        self.open(queue, now).charge(workload, penalty);
    }

    /// Takes back what a workload was charged that never begins. Does nothing if it was not charged.
    pub fn refund(&mut self, queue: &LocalQueueKey, workload: &WorkloadKey) {
        if let Some(account) = self.0.get_mut(queue) {
            account.refund(workload);
        }
    }

    /// A workload begins: from now on it counts as usage. `used` is what the LocalQueue uses with it.
    pub fn settle(
        &mut self,
        queue: &LocalQueueKey,
        workload: &WorkloadKey,
        used: &Quantities,
        now: Timestamp,
        rules: &AdmissionFairSharing,
    ) {
        let account = self.open(queue, now);
        account.pass(used, now, rules);
        if let Some(penalty) = account.refund(workload) {
            account.consumed = sum(&account.consumed, &penalty);
        }
    }

    /// Measures what a LocalQueue uses, if it is time.
    pub fn sample(
        &mut self,
        queue: &LocalQueueKey,
        used: &Quantities,
        now: Timestamp,
        rules: &AdmissionFairSharing,
    ) -> Sample {
        let is_new = !self.0.contains_key(queue);
        let account = self.open(queue, now);
        let since = Duration::try_from(now.duration_since(account.at)).unwrap_or_default();
        let early = rules.sampling_interval.saturating_sub(since);
        if !is_new && !early.is_zero() && !account.has_pending() {
            return Sample {
                taken: false,
                again: early,
            };
        }
        account.pass(used, now, rules);
        if rules.half_life.is_zero() {
            account.consumed = Quantities::new();
        }
        Sample {
            taken: true,
            again: rules.sampling_interval,
        }
    }

    /// A LocalQueue is gone, and with it all that is known about it.
    pub fn close(&mut self, queue: &LocalQueueKey) {
        self.0.remove(queue);
    }

    fn open(&mut self, queue: &LocalQueueKey, now: Timestamp) -> &mut Account {
        self.0.entry(queue.clone()).or_insert_with(|| Account {
            at: now,
            ..Account::default()
        })
    }
}
