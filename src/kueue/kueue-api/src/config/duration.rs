//! Durations as Go writes them: `1h30m`, `100ms`, `2.5s`.

use std::time::Duration;

const NANOS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads a duration that is not negative.
///
/// # Errors
/// Says what a duration looks like.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || "must be a duration such as 500ms, 30s or 1h30m".to_owned();
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest.starts_with('-') {
        return Err("must not be negative".to_owned());
    }
    let mut total = Duration::ZERO;
    let mut parts = 0;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(wrong)?;
        let (number, after) = rest.split_at(digits);
        let letters = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let scale = NANOS
            .iter()
            .find(|(name, _)| *name == unit)
            .map(|(_, scale)| *scale)
            .ok_or_else(wrong)?;
        total = total
            .checked_add(amount(number, scale).ok_or_else(wrong)?)
            .ok_or_else(wrong)?;
        parts += 1;
        rest = after;
    }
    if parts == 0 { Err(wrong()) } else { Ok(total) }
}

fn amount(number: &str, scale: u64) -> Option<Duration> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let mut nanos = whole.checked_mul(scale)?;
    let mut scale = scale;
    for digit in fraction.chars() {
        scale /= 10;
        nanos = nanos.checked_add(u64::from(digit.to_digit(10)?) * scale)?;
    }
    Some(Duration::from_nanos(nanos))
}
