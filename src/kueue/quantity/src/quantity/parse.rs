//! Reads a quantity: sign, digits with an optional point, and a suffix or a decimal exponent.

use std::str::FromStr;

use super::{Format, Quantity};

/// Significant digits that are kept exactly; what follows is rounded away from zero.
const EXACT_DIGITS: usize = 36;

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// There are no digits, or more than one point.
    #[error(
        "{text:?} is not a quantity: expected digits such as 2, 0.5 or 1500, then a suffix such as m, k, Mi or e3"
    )]
    Number {
        /// The text as given.
        text: String,
    },
    /// The digits are followed by something unknown.
    #[error(
        "{text:?} is not a quantity: unknown suffix {suffix:?} (known: n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3)"
    )]
    Suffix {
        /// The text as given.
        text: String,
        /// What follows the digits.
        suffix: String,
    },
}

/// What multiplies the digits.
#[derive(Clone, Copy)]
struct Scale {
    ten: i32,
    binary: u32,
    format: Format,
}

impl FromStr for Quantity {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let number = || ParseError::Number {
            text: text.to_owned(),
        };
        let (negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (digits, suffix) = rest.split_at(end);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.len() + fraction.len() == 0 || fraction.contains('.') {
            return Err(number());
        }
        let scale = scale_of(suffix).ok_or_else(|| ParseError::Suffix {
            text: text.to_owned(),
            suffix: suffix.to_owned(),
        })?;
        let magnitude = magnitude(whole, fraction, scale);
        Ok(Self {
            nano: if negative { -magnitude } else { magnitude },
            format: scale.format,
        })
    }
}

fn scale_of(suffix: &str) -> Option<Scale> {
    let decimal = |ten| {
        Some(Scale {
            ten,
            binary: 0,
            format: Format::DecimalSi,
        })
    };
    let binary = |binary| {
        Some(Scale {
            ten: 0,
            binary,
            format: Format::BinarySi,
        })
    };
    match suffix {
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "" => decimal(0),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(10),
        "Mi" => binary(20),
        "Gi" => binary(30),
        "Ti" => binary(40),
        "Pi" => binary(50),
        "Ei" => binary(60),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            let ten = exponent.parse::<i32>().ok()?.clamp(-1000, 1000);
            Some(Scale {
                ten,
                binary: 0,
                format: Format::DecimalExponent,
            })
        }
    }
}

/// The absolute value in thousand-millionths, rounded up and stopped at the largest one.
fn magnitude(whole: &str, fraction: &str, scale: Scale) -> i128 {
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let kept = &digits[..digits.len().min(EXACT_DIGITS)];
    let dropped = &digits[kept.len()..];
    let sticky = dropped.bytes().any(|digit| digit != b'0');
    let Ok(value) = (if kept.is_empty() { "0" } else { kept }).parse::<i128>() else {
        return i128::MAX;
    };
    let length = |text: &str| i32::try_from(text.len()).unwrap_or(i32::MAX);
    let ten = scale
        .ten
        .saturating_sub(length(fraction))
        .saturating_add(length(dropped));
    if value == 0 {
        return 0;
    }
    scaled(value, ten.saturating_add(9), 1_i128 << scale.binary, sticky)
}

/// `value · 10^ten · factor`, rounded up.
fn scaled(value: i128, ten: i32, factor: i128, sticky: bool) -> i128 {
    let power = 10_i128.checked_pow(ten.unsigned_abs());
    if ten >= 0 {
        let product = power
            .and_then(|power| value.checked_mul(power))
            .and_then(|value| value.checked_mul(factor));
        return product
            .unwrap_or(i128::MAX)
            .saturating_add(i128::from(sticky));
    }
    // Below any power that fits, whatever is not zero is the smallest step.
    let Some(power) = power else { return 1 };
    match value.checked_mul(factor) {
        Some(product) => product / power + i128::from(product % power != 0 || sticky),
        None => (value / power + i128::from(value % power != 0 || sticky)).saturating_mul(factor),
    }
    .max(1)
}
