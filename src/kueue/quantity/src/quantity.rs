//! The quantity of the Kubernetes API: an exact decimal number of thousand-millionths, and the notation it was written in.
//!
//! Parsing is in `parse.rs`, canonical printing in `print.rs`. This type does not know resources; `amount.rs` does.

mod factor;
mod parse;
mod print;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

pub use parse::ParseError;

/// One whole unit, in the thousand-millionths that a quantity counts.
const UNIT: i128 = 1_000_000_000;

/// The notation a quantity is printed in. It never changes the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `k`, `M`, … and `m`, `u`, `n`: powers of 1000.
    DecimalSi,
    /// `Ki`, `Mi`, …: powers of 1024.
    BinarySi,
    /// `e3`, `e-6`: powers of ten whose exponent is a multiple of three.
    DecimalExponent,
}

/// An exact quantity. Two quantities are equal when their values are, whatever their notation.
///
/// Values finer than 10⁻⁹ are rounded away from zero, as the API server does; values beyond ±1.7·10²⁹ stop there.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nano: i128,
    format: Format,
}

impl Quantity {
    /// Nothing, in decimal notation.
    pub const ZERO: Self = Self {
        nano: 0,
        format: Format::DecimalSi,
    };

    /// A whole number of units.
    #[must_use]
    pub fn from_units(units: i64, format: Format) -> Self {
        Self {
            nano: i128::from(units) * UNIT,
            format,
        }
    }

    /// A whole number of thousandths.
    #[must_use]
    pub fn from_milli(milli: i64) -> Self {
        Self {
            nano: i128::from(milli) * (UNIT / 1000),
            format: Format::DecimalSi,
        }
    }

    /// The notation it is printed in.
    #[must_use]
    pub fn format(self) -> Format {
        self.format
    }

    /// The value in units of 10^-`decimals`, rounded up, and clamped to `i64`.
    #[must_use]
    pub fn scaled_up(self, decimals: u32) -> i64 {
        let step = UNIT / 10_i128.pow(decimals.min(9));
        let whole = self.nano.div_euclid(step) + i128::from(self.nano.rem_euclid(step) != 0);
        i64::try_from(whole).unwrap_or(if whole < 0 { i64::MIN } else { i64::MAX })
    }

    /// Whether it is below zero.
    #[must_use]
    pub fn is_negative(self) -> bool {
        self.nano < 0
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.nano == 0
    }

    /// The number of thousand-millionths, which is the whole truth about the value.
    #[must_use]
    pub fn nano(self) -> i128 {
        self.nano
    }

    /// About how much it is, for metrics and weighted sums.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "the nearest float is what is asked for"
    )]
    pub fn approximate(self) -> f64 {
        if self.nano % UNIT == 0 {
            (self.nano / UNIT) as f64
        } else {
            self.nano as f64 / UNIT as f64
        }
    }

    /// The sum, in the notation of `self` (of `other` if `self` is zero). Stops at the limits of the type.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let format = if self.is_zero() {
            other.format
        } else {
            self.format
        };
        Self {
            nano: self.nano.saturating_add(other.nano),
            format,
        }
    }

    /// The difference, in the notation of `self` (of `other` if `self` is zero). Stops at the limits of the type.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.plus(Self {
            nano: other.nano.saturating_neg(),
            ..other
        })
    }

    /// The product with a factor given as a quantity, rounded away from zero below 10⁻⁹.
    #[must_use]
    pub fn times(self, factor: Self) -> Self {
        let nano = match self.nano.checked_mul(factor.nano) {
            Some(product) => away_from_zero(product, UNIT),
            None => (self.nano / UNIT).saturating_mul(factor.nano),
        };
        Self {
            nano,
            format: self.format,
        }
    }
}

/// Division that rounds away from zero.
fn away_from_zero(value: i128, by: i128) -> i128 {
    let rest = value % by;
    value / by + if rest == 0 { 0 } else { rest.signum() }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nano.cmp(&other.nano)
    }
}
