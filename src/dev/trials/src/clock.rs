//! The one place of this room where the time comes from.

use jiff::Timestamp;

/// The time now.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the clock of this room")]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// The time now as objects have it, in seconds.
#[must_use]
pub fn stamp() -> String {
    now().strftime("%FT%TZ").to_string()
}
