//! The platform's only clock. Everything below takes "now" as a value; only the edges ask here.

use jiff::Timestamp;

/// The present moment.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the one place of this binary that reads the clock"
)]
pub fn now() -> Timestamp {
    Timestamp::now()
}
