//! Prints a quantity in the canonical form: no fraction, no exponent but the suffix, the largest suffix that keeps it whole.

use std::fmt;

use super::{Format, Quantity, UNIT, away_from_zero};

/// Suffixes for 10^-9, 10^-6, … 10^18.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
/// Suffixes for 1024^0, 1024^1, … 1024^6.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let small = self.nano.abs() < 1024 * UNIT;
        match self.format {
            Format::BinarySi if !small => binary(self.nano, f),
            Format::BinarySi | Format::DecimalSi => decimal(self.nano, f),
            Format::DecimalExponent => exponent(self.nano, f),
        }
    }
}

fn binary(nano: i128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut number = away_from_zero(nano, UNIT);
    let mut power = 0;
    while power + 1 < BINARY.len() && number % 1024 == 0 {
        number /= 1024;
        power += 1;
    }
    write!(f, "{number}{}", BINARY[power])
}

fn decimal(nano: i128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (number, steps) = thousands(nano, DECIMAL.len() - 1);
    write!(f, "{number}{}", DECIMAL[steps])
}

fn exponent(nano: i128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (number, steps) = thousands(nano, usize::MAX);
    if steps == 3 {
        return write!(f, "{number}");
    }
    let exponent = i128::try_from(steps).unwrap_or(0) * 3 - 9;
    write!(f, "{number}e{exponent}")
}

/// The number without its factors of a thousand, and how many of them were taken out.
fn thousands(nano: i128, most: usize) -> (i128, usize) {
    if nano == 0 {
        return (0, 3);
    }
    let (mut number, mut steps) = (nano, 0);
    while steps < most && number % 1000 == 0 {
        number /= 1000;
        steps += 1;
    }
    (number, steps)
}
