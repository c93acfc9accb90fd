//! Keeps one program running: starts it again when it dies, later and later if it does not last, and tells.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use exec::{Cmd, ExecError, Grouping, RotatingLog};
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::control::History;
use crate::provider::{ChildChange, ChildEvent, Progress};

const FIRST_DELAY: Duration = Duration::from_millis(500);
const LONGEST_DELAY: Duration = Duration::from_secs(30);
/// A program that ran this long is not one that cannot start.
const LASTED: Duration = Duration::from_secs(60);

/// What a kept program is made from.
pub(super) struct Kept {
    pub(super) name: &'static str,
    /// Asked before each start, for the port may have changed.
    pub(super) command: Arc<dyn Fn() -> Cmd + Send + Sync>,
    pub(super) log: std::path::PathBuf,
    /// How long it may take to end when asked.
    pub(super) grace: Duration,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A program being kept.
#[derive(Debug)]
pub(super) struct Keeper {
    name: &'static str,
    stop: CancellationToken,
    deaths: watch::Receiver<u32>,
    task: JoinHandle<()>,
}

impl Keeper {
    /// Starts it. That it cannot be started at all is an error; what happens later is an event.
    pub(super) fn start(
        kept: Kept,
        history: History,
        now: fn() -> Timestamp,
    ) -> Result<Self, ExecError> {
        let stop = CancellationToken::new();
        let (died, deaths) = watch::channel(0);
        let name = kept.name;
        let first = spawn(&kept)?;
        let keeping = Keeping {
            kept,
            history,
            now,
            stop: stop.clone(),
            died,
        };
        Ok(Self {
            name,
            stop,
            deaths,
            task: tokio::spawn(keeping.run(first)),
        })
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// How often it has died so far; changes are seen.
    pub(super) fn deaths(&self) -> watch::Receiver<u32> {
        self.deaths.clone()
    }

    /// Ends it for good; completes when it is reaped.
    pub(super) async fn stop(self) {
        self.stop.cancel();
        let _ = self.task.await;
    }
}

struct Keeping {
    kept: Kept,
    history: History,
    now: fn() -> Timestamp,
    stop: CancellationToken,
    died: watch::Sender<u32>,
}

impl Keeping {
    async fn run(self, first: exec::Child) {
        let mut child = Some(first);
        let mut attempt = 0;
        loop {
            let begun = tokio::time::Instant::now();
            let status = match &mut child {
                None => "it cannot be started".to_owned(),
                Some(child) => tokio::select! {
                    status = child.wait() => status.map_or_else(|error| error.to_string(), |status| status.to_string()),
                    () = self.stop.cancelled() => {
                        let _ = child.stop(self.kept.grace).await;
                        return;
                    }
                },
            };
            attempt = if begun.elapsed() >= LASTED {
                1
            } else {
                attempt + 1
            };
            let delay = delay(attempt);
            let next_try_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
            self.tell(
                ChildChange::Died {
                    status,
                    next_try_ms,
                },
                attempt,
            );
            self.died.send_modify(|deaths| *deaths += 1);
            tokio::select! {
                () = tokio::time::sleep(delay) => {}
                () = self.stop.cancelled() => return,
            }
            child = spawn(&self.kept).ok();
            if child.is_some() {
                self.tell(ChildChange::Restarted, attempt);
            }
        }
    }

    fn tell(&self, change: ChildChange, attempt: u32) {
        let child = self.kept.name.to_owned();
        self.history.add(Progress::Child(ChildEvent {
            child,
            change,
            attempt,
            at: (self.now)(),
        }));
    }
}

fn spawn(kept: &Kept) -> Result<exec::Child, ExecError> {
    (kept.command)().spawn(Grouping::Inherited, Some(RotatingLog::new(&kept.log)))
}

fn delay(attempt: u32) -> Duration {
    let doubled = FIRST_DELAY.saturating_mul(
        1_u32
            .checked_shl(attempt.saturating_sub(1))
            .unwrap_or(u32::MAX),
    );
    doubled.min(LONGEST_DELAY)
}
