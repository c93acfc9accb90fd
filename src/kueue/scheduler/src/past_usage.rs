//! Admission fair sharing: how much a LocalQueue has used lately, as a function of a given time.
//!
//! Usage fades with a half-life and grows with what is admitted now. Whoever is admitted is charged at once, by a penalty that stands
//! beside the usage until the workload really begins; otherwise a LocalQueue could have much admitted between two samples. Follows
//! section 4.7 of the reference.

mod account;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use quantity::{Quantity, ResourceName};

pub use account::{Account, Ledger, Sample};

/// Exact amounts by resource.
pub type Quantities = BTreeMap<ResourceName, Quantity>;

/// How usage is remembered and weighed.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AdmissionFairSharing {
    /// After this time half of it is forgotten; zero: nothing is remembered.
    pub half_life: Duration,
    /// How often it is measured.
    pub sampling_interval: Duration,
    /// What a unit of a resource counts, one if it is not named.
    pub weights: BTreeMap<ResourceName, f64>,
}

impl AdmissionFairSharing {
    /// Which part of what was used before is forgotten after some time.
    #[must_use]
    pub fn forgotten_after(&self, elapsed: Duration) -> f64 {
        if self.half_life.is_zero() {
            0.0
        } else {
            1.0 - 0.5_f64.powf(elapsed.as_secs_f64() / self.half_life.as_secs_f64())
        }
    }

    /// What a workload with these requests is charged when it is admitted.
    #[must_use]
    pub fn penalty(&self, requests: &Quantities) -> Quantities {
        faded(requests, self.forgotten_after(self.sampling_interval))
    }

    /// What is remembered of `before` after some time in which `now` was used.
    #[must_use]
    pub fn decayed(&self, before: &Quantities, now: &Quantities, elapsed: Duration) -> Quantities {
        let forgotten = self.forgotten_after(elapsed);
        sum(&faded(before, 1.0 - forgotten), &faded(now, forgotten))
    }

    /// One number for it all: the smaller, the sooner it is the LocalQueue's turn. Without a weight its turn comes last.
    #[must_use]
    pub fn weighed(&self, consumed: &Quantities, penalty: &Quantities, weight: f64) -> f64 {
        if weight <= 0.0 {
            return f64::INFINITY;
        }
        let counts = |(resource, amount): (&ResourceName, &Quantity)| {
            self.weights.get(resource).copied().unwrap_or(1.0) * amount.approximate()
        };
        let total: f64 = sum(consumed, penalty).iter().map(counts).sum();
        total / weight
    }
}

fn faded(amounts: &Quantities, factor: f64) -> Quantities {
    let one =
        |(resource, amount): (&ResourceName, &Quantity)| (resource.clone(), amount.faded(factor));
    amounts.iter().map(one).collect()
}

/// Both together.
fn sum(one: &Quantities, other: &Quantities) -> Quantities {
    let mut sum = one.clone();
    for (resource, amount) in other {
        let own = sum.entry(resource.clone()).or_insert(Quantity::ZERO);
        *own = own.plus(*amount);
    }
    sum
}
