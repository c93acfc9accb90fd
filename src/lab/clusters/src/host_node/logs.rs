//! Containers' output: written line by line with its time, read back as `kubectl logs` asks.
//!
//! A log is bounded (its older half goes when it is full), and readers that follow are woken by the writer.

mod lines;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use exec::Stream;
use jiff::Timestamp;
use tokio::sync::watch;

pub(super) use lines::Lines;
pub(super) use read::{Cursor, Query};

/// A log turns over at this size and keeps one older file, so it takes at most twice as much.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// One run's output.
#[derive(Debug, Clone)]
pub(super) struct Log {
    path: PathBuf,
    state: watch::Sender<LogState>,
}

/// What followers wait for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LogState {
    /// Bytes ever written.
    pub(super) written: u64,
    /// Bytes of them that were thrown away.
    pub(super) dropped: u64,
    pub(super) ended: bool,
}

/// Writes one run's output.
#[derive(Debug)]
pub(super) struct LogWriter {
    log: Log,
    file: Option<fs::File>,
    size: u64,
}

impl Log {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            state: watch::Sender::default(),
        }
    }

    /// The writer of this log.
    pub(super) fn writer(&self) -> LogWriter {
        LogWriter {
            log: self.clone(),
            file: None,
            size: 0,
        }
    }

    fn older(&self) -> PathBuf {
        self.path.with_extension("log.1")
    }
}

impl LogWriter {
    /// Appends one line. When the disk is full it is lost, and the container goes on.
    pub(super) fn line(&mut self, stream: Stream, text: &str, now: Timestamp) {
        let stream = match stream {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        };
        let line = format!("{now:.9} {stream} F {text}\n");
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if self.size.saturating_add(length) > MAX_BYTES {
            self.turn_over();
        }
        if self.file.is_none() {
            self.file = open(&self.log.path);
        }
        if let Some(file) = &mut self.file
            && file.write_all(line.as_bytes()).is_ok()
        {
            self.size += length;
            self.log.state.send_modify(|state| state.written += length);
        }
    }

    fn turn_over(&mut self) {
        self.file = None;
        let gone = fs::metadata(self.log.older()).map_or(0, |meta| meta.len());
        let _ = fs::rename(&self.log.path, self.log.older());
        self.log.state.send_modify(|state| state.dropped += gone);
        self.size = 0;
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        self.log.state.send_modify(|state| state.ended = true);
    }
}

fn open(path: &Path) -> Option<fs::File> {
    if let Some(parent) = path.parent() {
        let _ = fs::create_dir_all(parent);
    }
    fs::OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .ok()
}

/// Which container: namespace, pod, container.
pub(super) type ContainerKey = (String, String, String);

/// The logs of the containers that run here, for the kubelet endpoint: the current run and the one before.
#[derive(Debug, Default)]
pub(super) struct LogBooks(Mutex<BTreeMap<ContainerKey, Runs>>);

#[derive(Debug, Clone, Default)]
struct Runs {
    current: Option<Arc<Log>>,
    previous: Option<Arc<Log>>,
}

impl LogBooks {
    /// Begins the log of another run in `dir`; the log before the previous one is removed.
    pub(super) fn begin(&self, key: &ContainerKey, dir: &Path, run: i32) -> Arc<Log> {
        let log = Arc::new(Log::new(dir.join(format!("{run}.log"))));
        let mut books = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = books.entry(key.clone()).or_default();
        let gone = runs.previous.take();
        runs.previous = runs.current.replace(log.clone());
        if let Some(gone) = gone {
            let _ = fs::remove_file(&gone.path);
            let _ = fs::remove_file(gone.older());
        }
        log
    }

    /// Forgets a pod's container.
    pub(super) fn forget(&self, key: &ContainerKey) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(key);
    }

    /// Whether a container is known at all, and the log of its current or previous run.
    #[expect(
        clippy::option_option,
        reason = "a container that is not known and one without that run are answered differently"
    )]
    pub(super) fn find(&self, key: &ContainerKey, previous: bool) -> Option<Option<Arc<Log>>> {
        let books = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = books.get(key)?;
        Some(if previous {
            runs.previous.clone()
        } else {
            runs.current.clone()
        })
    }
}
