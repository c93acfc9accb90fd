//! Drives one command to its end: feeds its input, gathers both outputs, and kills the group when it must stop.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use super::{Cmd, Output, Stream};
use crate::ExecError;
use crate::process::{Signal, signal_group};

/// More than any program here prints; beyond it, output is read and dropped so that the program does not block.
const CAPTURE_LIMIT: usize = 32 * 1024 * 1024;

/// How long output is awaited after the program itself has ended: a grandchild may hold the pipe for ever.
const DRAIN: Duration = Duration::from_secs(2);

pub(super) async fn to_end(
    cmd: &Cmd,
    cancel: &CancellationToken,
    mut on_line: impl FnMut(Stream, &str) + Send,
) -> Result<(ExitStatus, Output), ExecError> {
    let mut child = cmd
        .prepared()
        .stdin(if cmd.stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|source| ExecError::Start {
            line: cmd.to_string(),
            source,
        })?;
    let group = GroupGuard::new(child.id());
    let feed = feed(child.stdin.take(), cmd.stdin.clone().unwrap_or_default());
    let mut out = Gathered::new(Stream::Stdout);
    let mut err = Gathered::new(Stream::Stderr);
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());

    let finished = {
        let mut feed = std::pin::pin!(feed);
        let mut fed = false;
        let mut status = None;
        let deadline = cmd
            .deadline
            .map(|after| tokio::time::Instant::now() + after);
        let mut drained = None;
        loop {
            if status.is_some() && stdout.is_none() && stderr.is_none() {
                break Ok(status);
            }
            tokio::select! {
                () = &mut feed, if !fed => fed = true,
                open = out.read_some(&mut stdout), if stdout.is_some() => { if !open { stdout = None; } out.lines(&mut on_line); }
                open = err.read_some(&mut stderr), if stderr.is_some() => { if !open { stderr = None; } err.lines(&mut on_line); }
                ended = child.wait(), if status.is_none() => {
                    drained = Some(tokio::time::Instant::now() + DRAIN);
                    status = Some(ended.map_err(|source| ExecError::Contact { line: cmd.to_string(), source })?);
                }
                () = at(drained) => break Ok(status),
                () = at(deadline), if status.is_none() => break Err(Some(cmd.deadline.unwrap_or_default())),
                () = cancel.cancelled() => break Err(None),
            }
        }
    };
    out.last_line(&mut on_line);
    err.last_line(&mut on_line);
    let output = |code| Output {
        stdout: out.text(),
        stderr: err.text(),
        code,
    };
    match finished {
        Ok(status) => {
            let status = status.unwrap_or_default();
            Ok((status, output(status.code())))
        }
        Err(over) => {
            drop(group);
            let _ = child.wait().await;
            Err(ended_early(cmd, over, output(None)))
        }
    }
}

/// Without a deadline that is over, somebody cancelled.
fn ended_early(cmd: &Cmd, over: Option<Duration>, output: Output) -> ExecError {
    let line = cmd.to_string();
    match over {
        Some(after) => ExecError::DeadlineExceeded {
            line,
            after,
            output: Box::new(output),
        },
        None => ExecError::Cancelled { line },
    }
}

async fn at(instant: Option<tokio::time::Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

async fn feed(stdin: Option<tokio::process::ChildStdin>, bytes: Vec<u8>) {
    if let Some(mut stdin) = stdin {
        // A program that does not read all of its input is within its rights.
        let _ = stdin.write_all(&bytes).await;
        let _ = stdin.shutdown().await;
    }
}

/// Kills the process group when dropped: the way out of a cancelled or abandoned run, and a sweep after a normal one.
struct GroupGuard(Option<u32>);

impl GroupGuard {
    fn new(leader: Option<u32>) -> Self {
        Self(leader)
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            signal_group(leader, Signal::KILL);
        }
    }
}

struct Gathered {
    stream: Stream,
    bytes: Vec<u8>,
    told: usize,
}

impl Gathered {
    fn new(stream: Stream) -> Self {
        Self {
            stream,
            bytes: Vec::new(),
            told: 0,
        }
    }

    /// False at the end of the stream.
    async fn read_some(&mut self, from: &mut Option<impl AsyncRead + Unpin>) -> bool {
        let Some(from) = from else { return false };
        let mut chunk = vec![0_u8; 8192];
        match from.read(&mut chunk).await {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                if self.bytes.len() < CAPTURE_LIMIT {
                    self.bytes.extend(chunk.iter().take(count));
                }
                true
            }
        }
    }

    fn lines(&mut self, on_line: &mut impl FnMut(Stream, &str)) {
        while let Some(rest) = self.bytes.get(self.told..)
            && let Some(end) = rest.iter().position(|byte| *byte == b'\n')
        {
            if let Some(line) = rest.get(..end) {
                on_line(
                    self.stream,
                    String::from_utf8_lossy(line).trim_end_matches('\r'),
                );
            }
            self.told += end + 1;
        }
    }

    fn last_line(&mut self, on_line: &mut impl FnMut(Stream, &str)) {
        let rest = self.bytes.get(self.told..).unwrap_or_default();
        if !rest.is_empty() {
            on_line(self.stream, &String::from_utf8_lossy(rest));
            self.told = self.bytes.len();
        }
    }

    fn text(self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}
