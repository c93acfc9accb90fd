//! A command as a value, and running it to its end with captured output, deadline and cancellation.
//!
//! A run command leads a process group of its own, and the whole group is killed when its time is over, when it is
//! cancelled, or when its future is dropped. Long-running children are in `child.rs`.

mod run;
#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::ExecError;

/// A program with its arguments, environment and limits; it does nothing until it is run or spawned.
#[derive(Clone)]
pub struct Cmd {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) env_cleared: bool,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) stdin: Option<Vec<u8>>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) relay: Option<PathBuf>,
}

/// What a finished command printed. Bytes that are not UTF-8 are replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Zero when it succeeded; `None` when a signal ended it.
    pub code: Option<i32>,
}

/// Where a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Cmd {
    /// A command with no arguments yet, the caller's environment and folder, and no input.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            env_cleared: false,
            cwd: None,
            stdin: None,
            deadline: None,
            relay: None,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets one environment variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env
            .push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Inherits nothing of the caller's environment.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.env_cleared = true;
        self
    }

    /// Sets the working folder.
    #[must_use]
    pub fn cwd(mut self, dir: impl AsRef<Path>) -> Self {
        self.cwd = Some(dir.as_ref().to_owned());
        self
    }

    /// Gives the command something to read; without it, standard input is empty.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Kills the command's whole process group when this much time has passed.
    #[must_use]
    pub fn deadline(mut self, after: Duration) -> Self {
        self.deadline = Some(after);
        self
    }

    /// The program followed by its arguments.
    pub fn argv(&self) -> impl Iterator<Item = &OsStr> {
        std::iter::once(self.program.as_os_str()).chain(self.args.iter().map(OsString::as_os_str))
    }

    /// Runs to the end; anything but exit status 0 is an error.
    pub async fn run(&self) -> Result<Output, ExecError> {
        self.run_cancellable(&CancellationToken::new()).await
    }

    /// Runs to the end unless cancelled; anything but exit status 0 is an error.
    pub async fn run_cancellable(&self, cancel: &CancellationToken) -> Result<Output, ExecError> {
        self.run_lines(cancel, |_, _| ()).await
    }

    /// Runs to the end and hands over each line as it comes, for progress; anything but exit status 0 is an error.
    pub async fn run_lines(
        &self,
        cancel: &CancellationToken,
        on_line: impl FnMut(Stream, &str) + Send,
    ) -> Result<Output, ExecError> {
        let (status, output) = Box::pin(run::to_end(self, cancel, on_line)).await?;
        if status.success() {
            return Ok(output);
        }
        Err(ExecError::Failed {
            line: self.to_string(),
            status,
            output: Box::new(output),
        })
    }

    /// Runs to the end and returns the output whatever the exit status.
    pub async fn output(&self) -> Result<Output, ExecError> {
        Box::pin(run::to_end(self, &CancellationToken::new(), |_, _| ()))
            .await
            .map(|(_, output)| output)
    }

    /// The one place where a process is prepared.
    pub(crate) fn prepared(&self) -> tokio::process::Command {
        #[expect(
            clippy::disallowed_methods,
            reason = "this room is the seam for child processes"
        )]
        let mut command = tokio::process::Command::new(&self.program);
        command.args(&self.args).kill_on_drop(true);
        if self.env_cleared {
            command.env_clear();
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command
    }
}

/// A line one can paste into a shell. The environment is left out, for it may hold secrets.
impl fmt::Display for Cmd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, arg) in self.argv().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            f.write_str(&quoted(&arg.to_string_lossy()))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Cmd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cmd({self})")
    }
}

fn quoted(arg: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !arg.is_empty() && arg.chars().all(plain) {
        return arg.to_owned();
    }
    format!("'{}'", arg.replace('\'', r"'\''"))
}
