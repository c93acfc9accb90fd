//! How long a container that ended waits before it is started again: at once the first time, then 10 s, doubled up to
//! five minutes, and forgotten after ten minutes of good behaviour, as kubelets do.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(300);
const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Backoff {
    next: Option<Duration>,
}

impl Backoff {
    /// The wait before the next start, for a container that ended after `ran`.
    pub(super) fn wait_after(&mut self, ran: Duration) -> Duration {
        if ran >= FORGOTTEN_AFTER {
            self.next = None;
        }
        let wait = self.next.unwrap_or_default();
        self.next = Some(if wait.is_zero() {
            FIRST
        } else {
            (wait * 2).min(LONGEST)
        });
        wait
    }
}
