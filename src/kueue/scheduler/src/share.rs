//! How much more than its own a node of the quota tree uses, as one number: the dominant resource share, and its precise comparison.
//!
//! Takes the tree as it stands, gives a [`Share`] for a ClusterQueue or cohort. It is the measure of fair sharing: whoever has the lower
//! share is served first and preempted last (reference section 4.6, KEP 1714).

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;

use quantity::{Amount, ResourceName, SmallMap};

use crate::names::FlavorResource;
use crate::objects::Usage;
use crate::quota::{NodeId, QuotaTree};

/// How much a ClusterQueue or cohort counts when the cohort above is shared. Never negative, never NaN.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Weight(f64);

impl Weight {
    /// A weight of so many thousand-millionths. What is negative counts as zero.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a weight is a ratio: the nearest float is what is meant"
    )]
    pub fn from_nano(nano: i128) -> Self {
        Self(nano.max(0) as f64 / 1e9)
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self(1.0)
    }
}

impl Eq for Weight {}

/// The dominant resource share of one node below its parent.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    weight: Weight,
    /// What is borrowed of the dominant resource, in thousandths of what the parent could lend.
    ratio: f64,
    dominant: Option<ResourceName>,
    borrowed: Vec<FlavorResource>,
}

impl Share {
    /// The share of a node that uses `more` than the tree says. A root shares with nobody and has none.
    #[must_use]
    pub fn of(tree: &QuotaTree, id: NodeId, more: &Usage) -> Self {
        let mut share = Self {
            weight: tree.weight(id),
            ratio: 0.0,
            dominant: None,
            borrowed: Vec::new(),
        };
        let Some(parent) = tree.parent(id) else {
            return share;
        };
        let mut borrowed: SmallMap<&ResourceName, Amount> = SmallMap::new();
        for (of, quota) in tree.subtree_quotas(id) {
            let more = more.get(of).copied().unwrap_or_default();
            let above = more + tree.used(id, of) - *quota;
            if above > Amount::ZERO {
                *borrowed.entry(&of.resource).or_default() += above;
                share.borrowed.push(of.clone());
            }
        }
        for (resource, amount) in borrowed {
            share.consider(resource, amount, tree.lendable(parent, resource));
        }
        share
    }

    /// A share from its parts, as it is written in a status or a log.
    #[must_use]
    pub fn from_parts(ratio: f64, weight: Weight) -> Self {
        Self {
            weight,
            ratio,
            dominant: None,
            borrowed: Vec::new(),
        }
    }

    /// The same share of a node that borrows these.
    #[must_use]
    pub fn borrowing(mut self, borrowed: Vec<FlavorResource>) -> Self {
        self.borrowed = borrowed;
        self
    }

    /// Resources come in the order of their names, so that the first of equals stays.
    #[expect(
        clippy::cast_precision_loss,
        reason = "shares are compared as the reference compares them: as floats"
    )]
    fn consider(&mut self, resource: &ResourceName, borrowed: Amount, lendable: Amount) {
        if lendable <= Amount::ZERO {
            return;
        }
        let ratio = borrowed.value() as f64 * 1000.0 / lendable.value() as f64;
        if ratio > self.ratio {
            self.ratio = ratio;
            self.dominant = Some(resource.clone());
        }
    }

    /// Whether the node uses more than its own of anything, even where nothing of it can be lent.
    #[must_use]
    pub fn is_borrowing(&self) -> bool {
        !self.borrowed.is_empty()
    }

    /// Whether it borrows anything that is asked for.
    #[must_use]
    pub fn is_borrowing_any(&self, asked: &Usage) -> bool {
        let asks = |of: &FlavorResource| asked.get(of).is_some_and(|amount| *amount > Amount::ZERO);
        self.borrowed.iter().any(asks)
    }

    /// The resource that decides, if anything is borrowed.
    #[must_use]
    pub fn dominant(&self) -> Option<&ResourceName> {
        self.dominant.as_ref()
    }

    /// The share divided by the weight; infinite for a borrower without weight.
    #[must_use]
    pub fn precise(&self) -> f64 {
        if self.ratio == 0.0 {
            0.0
        } else if self.weight.0 == 0.0 {
            f64::INFINITY
        } else {
            self.ratio / self.weight.0
        }
    }

    /// The share as a status shows it: rounded up, the largest number for infinity.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "casts from float saturate, which is what a status shows"
    )]
    pub fn rounded(&self) -> i64 {
        self.precise().ceil() as i64
    }

    /// Who has more: by weighted share, and among borrowers without weight by what they borrow.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }

    /// The same as a value that can be sorted by.
    pub(crate) fn rank(&self) -> (bool, i64) {
        let weightless = self.weight.0 == 0.0 && self.ratio != 0.0;
        let number = if weightless {
            self.ratio
        } else {
            self.precise()
        };
        // As `f64::total_cmp` does it: of what is negative the bits count backwards.
        let bits = number.to_bits().cast_signed();
        (
            weightless,
            bits ^ (bits >> 63).cast_unsigned().wrapping_shr(1).cast_signed(),
        )
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precise = self.precise();
        if precise.is_infinite() {
            f.write_str("+Inf")
        } else {
            write!(f, "{precise}")
        }
    }
}
