//! The one clock of this binary, for the bench only.

use std::sync::OnceLock;
use std::time::Instant;

static BEGIN: OnceLock<Instant> = OnceLock::new();

/// Microseconds since the first call.
#[expect(
    clippy::disallowed_methods,
    reason = "the bench measures; nothing else in this binary asks for the time"
)]
pub(crate) fn microseconds() -> f64 {
    BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e6
}
