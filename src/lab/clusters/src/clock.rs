//! The only place of this crate that reads the clock; everything else is told what time it is.

use jiff::Timestamp;

/// What time it is.
#[must_use]
pub fn now() -> Timestamp {
    #[expect(
        clippy::disallowed_methods,
        reason = "the adapter that others are given"
    )]
    Timestamp::now()
}
