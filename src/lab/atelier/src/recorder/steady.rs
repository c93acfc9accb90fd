//! The recorder's clock: begins at the machine's time, or after the last entry if that is later, and then runs with the
//! machine's monotonic clock. So durations between entries are true even when somebody sets the time.

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

#[derive(Debug, Clone)]
pub struct SteadyClock {
    origin: Timestamp,
    started: Instant,
}

impl SteadyClock {
    /// A clock that shows `now`, or just after `last` when that would be going back.
    #[must_use]
    pub fn after(now: Timestamp, last: Option<Timestamp>) -> Self {
        let next = last.and_then(|last| last.checked_add(SignedDuration::from_micros(1)).ok());
        Self {
            origin: next.map_or(now, |next| next.max(now)),
            started: Instant::now(),
        }
    }

    /// Microseconds are all that the store keeps.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.shown(self.started.elapsed())
    }

    /// What the clock shows so long after it was started.
    pub(super) fn shown(&self, elapsed: std::time::Duration) -> Timestamp {
        let micros = i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX);
        let origin =
            Timestamp::from_microsecond(self.origin.as_microsecond()).unwrap_or(self.origin);
        origin
            .checked_add(SignedDuration::from_micros(micros))
            .unwrap_or(Timestamp::MAX)
    }

    /// How long until the clock shows `at`.
    #[must_use]
    pub fn until(&self, at: Timestamp) -> std::time::Duration {
        std::time::Duration::try_from(at.duration_since(self.now())).unwrap_or_default()
    }
}
