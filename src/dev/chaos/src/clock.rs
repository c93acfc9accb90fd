//! The wall clock, read here only.

use jiff::Timestamp;

#[expect(clippy::disallowed_methods, reason = "the clock of this binary")]
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}
