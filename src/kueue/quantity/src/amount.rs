//! What decisions are made with: thousandths for cpu, units for everything else, and "unlimited".

#[cfg(test)]
mod tests;

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use crate::{Format, Quantity, ResourceName};

/// A saturating amount of one resource. The largest value stands for "unlimited" and absorbs what is added or taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Amount(i64);

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// No limit: greater than every other amount.
    pub const UNLIMITED: Self = Self(i64::MAX);

    /// An amount in the unit of its resource (thousandths for cpu).
    #[must_use]
    pub const fn new(value: i64) -> Self {
        Self(value)
    }

    /// The amount a quantity of `resource` stands for, rounded up to its unit.
    #[must_use]
    pub fn of(resource: &ResourceName, quantity: Quantity) -> Self {
        Self(quantity.scaled_up(resource.decimals()))
    }

    /// The number behind it; "unlimited" is `i64::MAX`.
    #[must_use]
    pub const fn value(self) -> i64 {
        self.0
    }

    /// Whether it is the sentinel.
    #[must_use]
    pub fn is_unlimited(self) -> bool {
        self == Self::UNLIMITED
    }

    /// At least zero.
    #[must_use]
    pub fn floor_zero(self) -> Self {
        self.max(Self::ZERO)
    }

    /// This amount for each of `count` pods.
    #[must_use]
    pub fn times(self, count: i64) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// The share of one of `count` pods, rounded down; everything if there are none.
    #[must_use]
    pub fn per(self, count: i64) -> Self {
        if count <= 0 {
            self
        } else {
            Self(self.0 / count)
        }
    }

    /// About how much it is in natural units (cores, bytes, devices), for metrics and shares; infinite if unlimited.
    #[must_use]
    pub fn approximate(self, resource: &ResourceName) -> f64 {
        if self.is_unlimited() {
            f64::INFINITY
        } else {
            self.to_quantity(resource).approximate()
        }
    }

    /// As people read it in an object or a message.
    #[must_use]
    pub fn to_quantity(self, resource: &ResourceName) -> Quantity {
        if resource.decimals() == 3 {
            return Quantity::from_milli(self.0);
        }
        let format = if self.0 != 0 && self.0 % 1024 == 0 {
            Format::BinarySi
        } else {
            Format::DecimalSi
        };
        Quantity::from_units(self.0, format)
    }
}

impl Add for Amount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        if self.is_unlimited() || other.is_unlimited() {
            return Self::UNLIMITED;
        }
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Amount {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        match (self.is_unlimited(), other.is_unlimited()) {
            (true, true) => Self::ZERO,
            (true, false) => Self::UNLIMITED,
            (false, true) => Self(i64::MIN),
            (false, false) => Self(self.0.saturating_sub(other.0)),
        }
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Amount {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unlimited() {
            f.write_str("unlimited")
        } else {
            write!(f, "{}", self.0)
        }
    }
}
