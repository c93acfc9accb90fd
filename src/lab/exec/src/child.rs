//! Long-running children: output to a turning log, stopped politely and then firmly, always reaped.
//!
//! Who restarts a child, and when, is not decided here.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc;

use crate::process::{ProcessIdentity, Signal, signal_group, signal_process};
use crate::{Cmd, ExecError, RotatingLog, Stream, relay};

/// Pieces of output waiting to be written.
const PENDING_PIECES: usize = 64;

/// Which process group a child belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// The caller's: whoever kills the caller's group kills the child.
    Inherited,
    /// A new one that the child leads; signals go to all of it.
    Own,
}

/// A running child. Dropping it kills it.
#[derive(Debug)]
pub struct Child {
    line: String,
    pid: u32,
    grouping: Grouping,
    relay: Option<std::path::PathBuf>,
    process: tokio::process::Child,
    /// Completes when everything the child said is in its log.
    said: Option<tokio::task::JoinHandle<()>>,
}

/// How long the last words of an ended child are awaited: a grandchild may hold its output for ever.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Cmd {
    /// Starts the command and leaves it running; its output goes to `log`.
    ///
    /// Call it on a runtime's own thread, never in `spawn_blocking`: a sandbox dies with the *thread* that started it.
    pub fn spawn(&self, grouping: Grouping, log: Option<RotatingLog>) -> Result<Child, ExecError> {
        let Some(mut log) = log else {
            return self.spawn_with(grouping, Stdio::null);
        };
        let (pieces, mut to_write) = mpsc::channel(PENDING_PIECES);
        let mut child = self.spawn_pieces(grouping, pieces)?;
        child.said = Some(tokio::spawn(async move {
            while let Some((_, piece)) = to_write.recv().await {
                log.write(&piece);
            }
        }));
        Ok(child)
    }

    /// As [`Cmd::spawn`], with the output handed over in pieces as it comes, not cut at line ends. A receiver that
    /// does not keep up makes the command wait.
    pub fn spawn_pieces(
        &self,
        grouping: Grouping,
        to: mpsc::Sender<(Stream, Vec<u8>)>,
    ) -> Result<Child, ExecError> {
        let mut child = self.spawn_with(grouping, Stdio::piped)?;
        if let Some(stdout) = child.process.stdout.take() {
            tokio::spawn(pump(Stream::Stdout, stdout, to.clone()));
        }
        if let Some(stderr) = child.process.stderr.take() {
            tokio::spawn(pump(Stream::Stderr, stderr, to));
        }
        Ok(child)
    }

    fn spawn_with(&self, grouping: Grouping, output: fn() -> Stdio) -> Result<Child, ExecError> {
        let mut command = self.prepared();
        command
            .stdin(Stdio::null())
            .stdout(output())
            .stderr(output());
        if grouping == Grouping::Own {
            command.process_group(0);
        }
        let process = command.spawn().map_err(|source| ExecError::Start {
            line: self.to_string(),
            source,
        })?;
        let pid = process.id().unwrap_or_default();
        Ok(Child {
            line: self.to_string(),
            pid,
            grouping,
            relay: self.relay.clone(),
            process,
            said: None,
        })
    }

    /// Starts the command as the leader of its own group, to outlive this program; its output is appended to `log`.
    pub fn spawn_detached(&self, log: &Path) -> Result<Detached, ExecError> {
        let failed = |source| ExecError::Start {
            line: self.to_string(),
            source,
        };
        let open = || {
            OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(log)
        };
        let mut process = self
            .prepared()
            .kill_on_drop(false)
            .stdin(Stdio::null())
            .stdout(open().map_err(failed)?)
            .stderr(open().map_err(failed)?)
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let pid = process.id().unwrap_or_default();
        let identity = ProcessIdentity::of(pid).unwrap_or(ProcessIdentity { pid, started: 0 });
        let (ended, exit) = tokio::sync::watch::channel(None);
        tokio::spawn(async move {
            let status = process.wait().await.ok();
            ended.send_replace(status);
        });
        Ok(Detached { identity, exit })
    }
}

/// A child that is meant to outlive its parent. It is reaped if it ends first.
#[derive(Debug, Clone)]
pub struct Detached {
    identity: ProcessIdentity,
    exit: tokio::sync::watch::Receiver<Option<ExitStatus>>,
}

impl Detached {
    /// Which process it is.
    pub fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    /// Completes when it has ended. `None` when its status is not to be had.
    pub async fn ended(&mut self) -> Option<ExitStatus> {
        match self.exit.wait_for(Option::is_some).await {
            Ok(status) => *status,
            Err(_) => None,
        }
    }
}

impl Child {
    /// The process id, also after its end.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The command as a shell line.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Completes when the child has ended. May be dropped and called again.
    pub async fn wait(&mut self) -> Result<ExitStatus, ExecError> {
        let status = self.process.wait().await;
        if let Some(said) = &mut self.said {
            let _ = tokio::time::timeout(LAST_WORDS, said).await;
            self.said = None;
        }
        status.map_err(|source| ExecError::Contact {
            line: self.line.clone(),
            source,
        })
    }

    /// Sends a signal. For a child in a sandbox with an inbound relay, the signal goes to the command inside.
    pub async fn signal(&self, signal: Signal) {
        if signal != Signal::KILL
            && let Some(socket) = &self.relay
            && relay::signal(socket, signal).await.is_ok()
        {
            return;
        }
        self.signal_outside(signal);
    }

    fn signal_outside(&self, signal: Signal) {
        match self.grouping {
            Grouping::Own => signal_group(self.pid, signal),
            Grouping::Inherited => signal_process(self.pid, signal),
        };
    }

    /// Asks the child to end, kills it when it has not after `grace`, and reaps it.
    pub async fn stop(&mut self, grace: Duration) -> Result<ExitStatus, ExecError> {
        if let Ok(Some(status)) = self.process.try_wait() {
            return Ok(status);
        }
        self.signal(Signal::TERM).await;
        if let Ok(status) = tokio::time::timeout(grace, self.wait()).await {
            return status;
        }
        self.signal_outside(Signal::KILL);
        self.wait().await
    }
}

async fn pump(
    stream: Stream,
    mut from: impl AsyncRead + Unpin,
    to: mpsc::Sender<(Stream, Vec<u8>)>,
) {
    let mut chunk = vec![0_u8; 16 * 1024];
    while let Ok(count) = from.read(&mut chunk).await {
        if count == 0
            || to
                .send((stream, chunk.iter().take(count).copied().collect()))
                .await
                .is_err()
        {
            return;
        }
    }
}
