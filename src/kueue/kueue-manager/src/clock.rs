//! The one place of this binary where the time comes from.

use jiff::Timestamp;

/// The time now.
#[expect(clippy::disallowed_methods, reason = "the clock of this binary")]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}
