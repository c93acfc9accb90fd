//! The process that owns one environment: it starts every program in order, starts again what dies, and ends all.
//!
//! It outlives the platform, which reaches it over its control socket. It leads the process group of everything it
//! starts, so that what it leaves behind when killed can be found.

mod containers;
mod furnish;
mod journal;
mod keeper;
mod ready;
mod relay;
mod start;

use std::fs::{self, File};
use std::path::PathBuf;

use exec::process::ProcessIdentity;
use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::level_filters::LevelFilter;

use super::layout::Layout;
use super::record::{Record, RecordError, Runtime};
use crate::control::{self, History, Requests};
use crate::provider::{EnvironmentState, Progress};

use start::Running;

/// Why a supervisor could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum SupervisorError {
    #[error("{act} {}: {source}", path.display())]
    Path {
        act: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("another supervisor runs {}", .0.display())]
    Taken(PathBuf),
    #[error("{0}")]
    Record(String),
    #[error("receive signals: {0}")]
    Signals(std::io::Error),
    #[error("{0}")]
    Start(String),
}

impl From<RecordError> for SupervisorError {
    fn from(error: RecordError) -> Self {
        Self::Record(error.to_string())
    }
}

/// What all parts of a supervisor share.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) layout: Layout,
    pub(crate) record: Record,
    pub(crate) history: History,
    pub(crate) port: watch::Sender<Option<u16>>,
    /// Cancelled when the environment can only go on by starting anew.
    pub(crate) lost: CancellationToken,
    pub(crate) now: fn() -> Timestamp,
}

/// Runs the environment in `dir` until it is asked to stop.
pub(crate) async fn run(
    dir: PathBuf,
    level: LevelFilter,
    now: fn() -> Timestamp,
) -> Result<(), SupervisorError> {
    let layout = Layout::new(dir);
    let record = Record::read(&layout)?;
    for folder in layout.folders() {
        fs::create_dir_all(&folder).map_err(|source| path_error("create", folder, source))?;
    }
    let _lock = lock(&layout)?;
    journal::begin(layout.log("supervisor-journal"), level);
    std::env::set_current_dir(layout.run())
        .map_err(|source| path_error("enter", layout.run(), source))?;

    let history = History::new(EnvironmentState::Starting);
    let (port, port_seen) = watch::channel(None);
    let stop = CancellationToken::new();
    let requests = Requests {
        history: history.clone(),
        port: port_seen,
        stop: stop.clone(),
    };
    control::serve(&layout.control_socket(), requests)
        .map_err(|source| path_error("listen on", layout.control_socket(), source))?;
    stop_on_signals(&stop)?;
    let context = Context {
        layout,
        record,
        history,
        port,
        lost: CancellationToken::new(),
        now,
    };
    note_runtime(&context, None)?;

    let mut running = Running::default();
    let started = tokio::select! {
        started = start::start(&context, &mut running) => Some(started),
        () = stop.cancelled() => None,
    };
    if matches!(started, Some(Ok(()))) {
        context
            .history
            .add(Progress::State(EnvironmentState::Running));
        tokio::select! {
            () = stop.cancelled() => {}
            () = context.lost.cancelled() => {}
        }
    }
    let end = if context.lost.is_cancelled() && !stop.is_cancelled() {
        // Not the end that somebody asked for: whoever listens starts it again. Its containers may well be fine.
        running.cluster = None;
        let reason = "it lost the place of its API server".to_owned();
        EnvironmentState::Broken { reason }
    } else {
        EnvironmentState::Stopping
    };
    context.history.add(Progress::State(end));
    running.stop().await;
    let _ = fs::remove_file(context.layout.control_socket());
    let _ = fs::remove_file(context.layout.runtime());
    match started {
        Some(Err(reason)) => Err(SupervisorError::Start(reason)),
        Some(Ok(())) | None => Ok(()),
    }
}

/// The four servers alone, until the default service account exists, and then ended: what an environment is measured
/// against.
pub(crate) async fn bare(
    layout: Layout,
    record: Record,
    now: fn() -> Timestamp,
) -> Result<(), String> {
    let history = History::new(EnvironmentState::Starting);
    let context = Context {
        layout,
        record,
        history,
        port: watch::channel(None).0,
        lost: CancellationToken::new(),
        now,
    };
    let mut running = Running::default();
    let started = start::bare(&context, &mut running).await;
    running.stop().await;
    started
}

/// Whoever finds this file knows whom to stop.
pub(crate) fn note_runtime(context: &Context, port: Option<u16>) -> Result<(), RecordError> {
    let own = ProcessIdentity::own();
    let (pid, started) = own.map_or((std::process::id(), 0), |own| (own.pid, own.started));
    Runtime { pid, started, port }.write(&context.layout)
}

/// Held for as long as this process lives, however it ends.
fn lock(layout: &Layout) -> Result<File, SupervisorError> {
    let path = layout.run().join("lock");
    let file = File::create(&path).map_err(|source| path_error("create", path, source))?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| SupervisorError::Taken(layout.dir().to_owned()))?;
    Ok(file)
}

fn stop_on_signals(stop: &CancellationToken) -> Result<(), SupervisorError> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut received = signal(kind).map_err(SupervisorError::Signals)?;
        let stop = stop.clone();
        tokio::spawn(async move {
            received.recv().await;
            stop.cancel();
        });
    }
    // A terminal that closes must not take the environments along.
    let mut ignored = signal(SignalKind::hangup()).map_err(SupervisorError::Signals)?;
    tokio::spawn(async move { while ignored.recv().await.is_some() {} });
    Ok(())
}

fn path_error(act: &'static str, path: PathBuf, source: std::io::Error) -> SupervisorError {
    SupervisorError::Path { act, path, source }
}
