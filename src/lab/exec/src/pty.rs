//! A command with a terminal of its own, read and written without blocking the runtime.
//!
//! It keeps no screen and no history; whoever reads the output does. Reading, writing and waiting block in the
//! operating system, so each has a thread.

use std::io::{Read, Write};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};

use portable_pty::{CommandBuilder, MasterPty, native_pty_system};
use tokio::sync::{mpsc, watch};

use crate::process::{Signal, signal_group, signal_process};
use crate::{Cmd, ExecError};

/// Pieces of output waiting for a slow reader; then the terminal itself is made to wait.
const PENDING_PIECES: usize = 64;

/// Rows and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtySize {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub cols: u16,
}

impl From<PtySize> for portable_pty::PtySize {
    fn from(size: PtySize) -> Self {
        Self {
            rows: size.rows.max(1),
            cols: size.cols.max(1),
            pixel_width: 0,
            pixel_height: 0,
        }
    }
}

/// The near end of a terminal: write, resize, kill, wait. Clones are the same terminal; when the last is dropped,
/// the command is killed.
#[derive(Clone)]
pub struct Pty {
    shared: Arc<Shared>,
}

struct Shared {
    line: String,
    pid: u32,
    master: Mutex<Box<dyn MasterPty + Send>>,
    input: mpsc::Sender<Vec<u8>>,
    exit: watch::Receiver<Option<Ended>>,
}

/// Why a watch value and not the status itself: a status exists only after the end.
#[derive(Debug, Clone, Copy)]
struct Ended(ExitStatus);

impl std::fmt::Debug for Pty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pty")
            .field("line", &self.shared.line)
            .field("pid", &self.shared.pid)
            .finish_non_exhaustive()
    }
}

/// What the terminal prints.
#[derive(Debug)]
pub struct PtyOutput {
    pieces: mpsc::Receiver<Vec<u8>>,
}

impl PtyOutput {
    /// The next piece; `None` when the terminal is closed.
    pub async fn read(&mut self) -> Option<Vec<u8>> {
        self.pieces.recv().await
    }
}

impl Pty {
    /// Starts a command as the leader of a session whose terminal this is. Deadline and input of `cmd` are not used.
    ///
    /// Call it on a runtime's own thread, never in `spawn_blocking`: a sandbox dies with the *thread* that started it.
    pub fn spawn(cmd: &Cmd, size: PtySize) -> Result<(Self, PtyOutput), ExecError> {
        let line = cmd.to_string();
        let failed = |act| {
            let line = line.clone();
            move |reason: String| ExecError::Terminal { act, line, reason }
        };
        let pair = native_pty_system()
            .openpty(size.into())
            .map_err(|e| failed("open")(e.to_string()))?;
        let reader = pair
            .master
            .try_clone_reader()
            .map_err(|e| failed("read from")(e.to_string()))?;
        let writer = pair
            .master
            .take_writer()
            .map_err(|e| failed("write to")(e.to_string()))?;
        let child = pair
            .slave
            .spawn_command(builder(cmd))
            .map_err(|e| failed("start")(e.to_string()))?;
        let pid = child.process_id().unwrap_or_default();
        drop(pair.slave);

        let (pieces_in, pieces) = mpsc::channel(PENDING_PIECES);
        let (input, input_out) = mpsc::channel(PENDING_PIECES);
        let (ended, exit) = watch::channel(None);
        thread("pty-read", &line, move || read_all(reader, &pieces_in))?;
        thread("pty-write", &line, move || write_all(writer, input_out))?;
        thread("pty-wait", &line, move || wait_for(child, &ended))?;
        let shared = Shared {
            line,
            pid,
            master: Mutex::new(pair.master),
            input,
            exit,
        };
        Ok((
            Self {
                shared: Arc::new(shared),
            },
            PtyOutput { pieces },
        ))
    }

    /// The process id of the command.
    pub fn pid(&self) -> u32 {
        self.shared.pid
    }

    /// Types into the terminal; waits while the terminal is full.
    pub async fn write(&self, bytes: impl Into<Vec<u8>>) -> Result<(), ExecError> {
        self.shared
            .input
            .send(bytes.into())
            .await
            .map_err(|_| self.failed("write to", "it is closed"))
    }

    /// Tells the command its new size.
    pub fn resize(&self, size: PtySize) -> Result<(), ExecError> {
        let master = self
            .shared
            .master
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        master
            .resize(size.into())
            .map_err(|error| self.failed("resize", &error.to_string()))
    }

    /// Kills the command and all that share its process group. A sandbox takes everything inside it along.
    pub fn kill(&self) {
        self.shared.kill();
    }

    /// Completes when the command has ended.
    pub async fn wait(&self) -> Result<ExitStatus, ExecError> {
        let mut exit = self.shared.exit.clone();
        let ended = exit.wait_for(Option::is_some).await.map(|ended| *ended);
        match ended {
            Ok(Some(Ended(status))) => Ok(status),
            Ok(None) | Err(_) => Err(self.failed("wait for", "its status is lost")),
        }
    }

    fn failed(&self, act: &'static str, reason: &str) -> ExecError {
        ExecError::Terminal {
            act,
            line: self.shared.line.clone(),
            reason: reason.to_owned(),
        }
    }
}

impl Shared {
    fn kill(&self) {
        if self.exit.borrow().is_none() {
            signal_group(self.pid, Signal::KILL);
            signal_process(self.pid, Signal::KILL);
        }
    }
}

impl Drop for Shared {
    /// The reading thread holds the terminal too, so closing our end alone would not hang up.
    fn drop(&mut self) {
        self.kill();
    }
}

fn builder(cmd: &Cmd) -> CommandBuilder {
    let mut builder = CommandBuilder::from_argv(cmd.argv().map(ToOwned::to_owned).collect());
    if cmd.env_cleared {
        builder.env_clear();
    }
    for (name, value) in &cmd.env {
        builder.env(name, value);
    }
    // Always named: the library would take HOME of the command's environment, which need not exist out here.
    let here = || std::env::current_dir().unwrap_or_else(|_| "/".into());
    builder.cwd(cmd.cwd.clone().unwrap_or_else(here));
    builder
}

fn thread(name: &str, line: &str, body: impl FnOnce() + Send + 'static) -> Result<(), ExecError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map(drop)
        .map_err(|error| ExecError::Terminal {
            act: "serve",
            line: line.to_owned(),
            reason: error.to_string(),
        })
}

fn read_all(mut from: Box<dyn Read + Send>, to: &mpsc::Sender<Vec<u8>>) {
    let mut chunk = vec![0_u8; 16 * 1024];
    // The read fails when the last program that held the terminal has ended; that is the normal end.
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        if to
            .blocking_send(chunk.iter().take(count).copied().collect())
            .is_err()
        {
            return;
        }
    }
}

fn write_all(mut to: Box<dyn Write + Send>, mut from: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = from.blocking_recv() {
        if to.write_all(&bytes).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

fn wait_for(
    mut child: Box<dyn portable_pty::Child + Send + Sync>,
    ended: &watch::Sender<Option<Ended>>,
) {
    use std::os::unix::process::ExitStatusExt;
    let status = child.wait().map_or_else(
        |_| ExitStatus::from_raw(0x7f00),
        |status| {
            // A signal's name does not matter to anyone; that there was one does.
            let code = i32::try_from(status.exit_code()).unwrap_or(1);
            ExitStatus::from_raw(if status.signal().is_some() {
                9
            } else {
                code << 8
            })
        },
    );
    ended.send_replace(Some(Ended(status)));
}
