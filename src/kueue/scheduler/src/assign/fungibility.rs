//! Compares flavors that could be taken, and decides when to stop looking for a better one.

use std::cmp::Reverse;

use super::{Assigner, Mode};
use crate::objects::{Preference, WhenPossible};
use crate::preemption::Possibility;

/// How well a flavor fits, finely enough to compare two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granular {
    /// The mode; `Preempt` covers three cases.
    pub mode: Mode,
    /// Which of them.
    pub possibility: Option<Possibility>,
    /// From how far up it is borrowed.
    pub borrow: usize,
}

impl Granular {
    /// Fits without borrowing: nothing is better.
    pub(super) const BEST: Self = Self {
        mode: Mode::Fit,
        possibility: None,
        borrow: 0,
    };

    /// Nothing is worse.
    pub(super) const WORST: Self = Self {
        mode: Mode::NoFit,
        possibility: None,
        borrow: usize::MAX,
    };

    pub(super) fn fits(self) -> bool {
        self.mode == Mode::Fit
    }

    pub(super) fn usable(self) -> bool {
        self.mode != Mode::NoFit
    }

    /// No fit, no candidates, preempt, reclaim, fit.
    fn rank(self) -> (Mode, Option<Possibility>) {
        (self.mode, self.possibility)
    }

    fn viable(self) -> bool {
        self.usable() && self.possibility != Some(Possibility::NoCandidates)
    }

    /// Whether it is the better one.
    #[must_use]
    pub fn preferred_over(self, other: Self, preference: Preference) -> bool {
        if !self.viable() || !other.viable() {
            let order = |granular: Self| (granular.rank(), Reverse(granular.borrow));
            return if self.rank() == other.rank() {
                order(self) > order(other)
            } else {
                self.rank() > other.rank()
            };
        }
        match preference {
            Preference::BorrowingOverPreemption => {
                (self.rank(), Reverse(self.borrow)) > (other.rank(), Reverse(other.borrow))
            }
            Preference::PreemptionOverBorrowing => {
                (Reverse(self.borrow), self.rank()) > (Reverse(other.borrow), other.rank())
            }
        }
    }
}

impl Assigner<'_> {
    pub(super) fn prefers(&self, a: Granular, b: Granular) -> bool {
        if self.policy.flavor_fungibility {
            a.preferred_over(b, self.cluster_queue.fungibility.preference)
        } else {
            a.rank() > b.rank()
        }
    }

    /// Whether a flavor is so good that the rest need not be looked at.
    pub(super) fn stops_at(&self, granular: Granular) -> bool {
        if !self.policy.flavor_fungibility {
            return granular.fits();
        }
        if !granular.viable() {
            return false;
        }
        let fungibility = &self.cluster_queue.fungibility;
        let next_if_preempting = fungibility.when_can_preempt == WhenPossible::TryNextFlavor;
        let next_if_borrowing = fungibility.when_can_borrow == WhenPossible::TryNextFlavor;
        !(granular.mode == Mode::Preempt && next_if_preempting
            || granular.borrow > 0 && next_if_borrowing)
    }
}
