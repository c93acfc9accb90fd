//! Watches one cluster and writes down what happens, append-only: into the store first, then into the [`Timeline`] that
//! verdicts and the board are made from. It decides nothing. Start at [`Recorder::start`]; `keeper` owns the sequence,
//! `watch` is one kind's list and watch.

mod connection;
mod keeper;
mod known;
mod steady;
#[cfg(test)]
mod tests;
mod watch;

use course::QuestionId;
use jiff::Timestamp;
use parking_lot::RwLock;
use std::{path::PathBuf, sync::Arc};
use store::Store;
use timeline::{Board, Timeline};
use tokio::sync::{mpsc, oneshot, watch as latest};
use tokio_util::sync::CancellationToken;

pub use steady::SteadyClock;

/// The present of a cluster as the page shows it.
pub type LiveView = Board;

/// What to record, and where to.
#[derive(Debug, Clone)]
pub struct RecorderOptions {
    pub store: Store,
    /// Names the record; the environment's id.
    pub environment: String,
    /// Read again whenever the connection is lost, for the API server may come back on another port.
    pub kubeconfig: PathBuf,
}

/// How the recording goes, for the page and the log.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Health {
    /// Not everything has been listed yet.
    Starting,
    Recording,
    /// The API server does not answer; what happens will be learned when it does.
    Disconnected {
        reason: String,
    },
    /// Nothing can be written down, say because the disk is full.
    NotWriting {
        reason: String,
    },
}

#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    #[error("read the record of {environment}: {source}")]
    Read {
        environment: String,
        source: store::StoreError,
    },
    #[error("read the kubeconfig {path}: {reason}")]
    Kubeconfig { path: PathBuf, reason: String },
    #[error("the recorder of {environment} has stopped")]
    Stopped { environment: String },
}

/// A running recorder. Clones are the same one; it stops when its token is cancelled.
#[derive(Clone, Debug)]
pub struct Recorder {
    environment: Arc<str>,
    timeline: Arc<RwLock<Timeline>>,
    orders: mpsc::Sender<keeper::Message>,
    changed: latest::Receiver<u64>,
    live: latest::Receiver<Arc<LiveView>>,
    health: latest::Receiver<Health>,
    clock: SteadyClock,
}

impl Recorder {
    /// Takes up the record where it ended, or begins it, and goes on until `cancel`.
    ///
    /// # Errors
    /// When the record or the kubeconfig cannot be read. A server that does not answer is no error: it is waited for.
    pub async fn start(
        options: RecorderOptions,
        cancel: CancellationToken,
    ) -> Result<Self, RecorderError> {
        let connection = connection::Connection::open(options.kubeconfig.clone()).await?;
        Self::start_with(options, connection, cancel).await
    }

    async fn start_with(
        options: RecorderOptions,
        connection: connection::Connection,
        cancel: CancellationToken,
    ) -> Result<Self, RecorderError> {
        let RecorderOptions {
            store,
            environment,
            kubeconfig: _,
        } = options;
        let entries =
            store
                .entries(&environment, 0)
                .await
                .map_err(|source| RecorderError::Read {
                    environment: environment.clone(),
                    source,
                })?;
        let history = Timeline::from_entries(&entries);
        let clock = SteadyClock::after(crate::clock::now(), history.last_at());
        let seq = history.last_seq();
        let known = known::Known::from_entries(&entries);
        drop(entries);

        let timeline = Arc::new(RwLock::new(history));
        let (changed_in, changed) = latest::channel(seq);
        let (health_in, health) = latest::channel(Health::Starting);
        let first = Arc::new(timeline::board(&timeline.read()));
        let (live_in, live) = latest::channel(first);
        let (orders, messages) = mpsc::channel(1024);
        let keeper = keeper::Keeper {
            store,
            environment: environment.clone(),
            timeline: Arc::clone(&timeline),
            clock: clock.clone(),
            known,
            seq,
            changed: changed_in,
            health: health_in,
        };
        keeper.start(messages, orders.clone(), connection, cancel.clone());
        tokio::spawn(draw(
            Arc::clone(&timeline),
            changed.clone(),
            live_in,
            cancel,
        ));
        Ok(Self {
            environment: environment.into(),
            timeline,
            orders,
            changed,
            live,
            health,
            clock,
        })
    }

    /// The history so far. Hold the lock briefly: the recorder waits for it.
    #[must_use]
    pub fn timeline(&self) -> Arc<RwLock<Timeline>> {
        Arc::clone(&self.timeline)
    }

    /// The sequence number of the latest entry, as it grows.
    #[must_use]
    pub fn changed(&self) -> latest::Receiver<u64> {
        self.changed.clone()
    }

    /// Queues, workloads and nodes, as they change.
    #[must_use]
    pub fn live(&self) -> latest::Receiver<Arc<LiveView>> {
        self.live.clone()
    }

    /// How the recording goes.
    #[must_use]
    pub fn health(&self) -> latest::Receiver<Health> {
        self.health.clone()
    }

    /// Now, on the clock of the entries.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// How long until the clock of the entries shows `at`.
    #[must_use]
    pub fn until(&self, at: Timestamp) -> std::time::Duration {
        self.clock.until(at)
    }

    #[must_use]
    pub fn environment(&self) -> &str {
        &self.environment
    }

    /// Writes down an answer and returns the number of its entry.
    ///
    /// # Errors
    /// When the recorder has stopped.
    pub async fn answer(
        &self,
        question: QuestionId,
        value: serde_json::Value,
    ) -> Result<u64, RecorderError> {
        let (reply, written) = oneshot::channel();
        self.order(keeper::Message::Answer {
            question,
            value,
            reply,
        })
        .await?;
        written.await.map_err(|_| self.stopped())
    }

    /// Writes down that time has passed while nothing happened, so that whoever reads the record later comes to the same verdict.
    ///
    /// # Errors
    /// When the recorder has stopped.
    pub async fn tick(&self) -> Result<(), RecorderError> {
        self.order(keeper::Message::Tick).await
    }

    async fn order(&self, message: keeper::Message) -> Result<(), RecorderError> {
        self.orders.send(message).await.map_err(|_| self.stopped())
    }

    fn stopped(&self) -> RecorderError {
        RecorderError::Stopped {
            environment: self.environment.to_string(),
        }
    }
}

/// Redraws the board after every change; changes that come while one is drawn make one more drawing.
async fn draw(
    timeline: Arc<RwLock<Timeline>>,
    mut changed: latest::Receiver<u64>,
    live: latest::Sender<Arc<LiveView>>,
    cancel: CancellationToken,
) {
    loop {
        let board = Arc::new(timeline::board(&timeline.read()));
        live.send_if_modified(|shown| {
            let differs = *shown != board;
            if differs {
                *shown = board;
            }
            differs
        });
        tokio::select! {
            () = cancel.cancelled() => return,
            more = changed.changed() => if more.is_err() { return },
        }
    }
}
