//! Multiplies a quantity by a float as if both were decimal numbers, so that usage which fades away reaches zero and not a fixed point above it.

use super::{Format, Quantity};

/// Where a long number is cut in two, so that each half times the digits of a float fits.
const HALF: i128 = 1_000_000_000_000_000_000;
const HALF_DIGITS: usize = 18;

impl Quantity {
    /// The product with a factor, rounded towards zero below 10⁻⁹, in decimal notation. A factor that is not finite counts as zero.
    #[must_use]
    pub fn faded(self, factor: f64) -> Self {
        let (digits, decimals) = decimal(factor);
        let magnitude = product(self.nano.saturating_abs(), digits, decimals);
        let negative = (self.nano < 0) != factor.is_sign_negative();
        Self {
            nano: if negative { -magnitude } else { magnitude },
            format: Format::DecimalSi,
        }
    }
}

/// The shortest decimal number that reads back as this float: its digits, and how many of them stand behind the point.
fn decimal(factor: f64) -> (i128, usize) {
    let text = factor.abs().to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = format!("{whole}{fraction}").parse().unwrap_or(0);
    (digits, fraction.len())
}

/// `value · digits / 10^decimals`, rounded down.
fn product(value: i128, digits: i128, decimals: usize) -> i128 {
    let power = |exponent: usize| 10_i128.checked_pow(u32::try_from(exponent).unwrap_or(u32::MAX));
    let (high, low) = (value / HALF, value % HALF);
    let (high, low) = (high.saturating_mul(digits), low.saturating_mul(digits));
    if decimals < HALF_DIGITS {
        let shift = power(HALF_DIGITS - decimals).unwrap_or(HALF);
        let low = low / power(decimals).unwrap_or(1);
        return high.saturating_mul(shift).saturating_add(low);
    }
    let sum = high.saturating_add(low / HALF);
    power(decimals - HALF_DIGITS).map_or(0, |power| sum / power)
}
