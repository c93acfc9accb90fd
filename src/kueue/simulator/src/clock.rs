//! The one clock of this binary, for the bench only: processor time of this thread where Linux tells it, time of day otherwise.

use std::sync::OnceLock;
use std::time::Instant;

static BEGIN: OnceLock<Instant> = OnceLock::new();

/// Microseconds since some moment.
#[expect(
    clippy::disallowed_methods,
    reason = "the bench measures; nothing else in this binary asks for the time"
)]
pub(crate) fn microseconds() -> f64 {
    let read = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = read.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    match nanoseconds {
        Some(nanoseconds) if nanoseconds > 0.0 => nanoseconds / 1_000.0,
        _ => BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e6,
    }
}
