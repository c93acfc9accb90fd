//! What can go wrong with a child process, with enough of its output to understand it without running it again.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use crate::cmd::Output;

/// How many lines of a failed command's output an error message repeats.
const SHOWN_LINES: usize = 12;

/// An act on a child process that failed.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The program does not exist or may not be executed.
    #[error("cannot start `{line}`: {source}")]
    Start {
        /// The command as a shell line.
        line: String,
        /// What the system answered.
        source: std::io::Error,
    },
    /// The program ran and did not succeed.
    #[error("`{line}` ended with {}{}", show_status(*status), show_output(output))]
    Failed {
        /// The command as a shell line.
        line: String,
        /// Its exit status.
        status: ExitStatus,
        /// What it printed.
        output: Box<Output>,
    },
    /// The program was killed because its time was over.
    #[error("`{line}` was killed after {} s{}", after.as_secs(), show_output(output))]
    DeadlineExceeded {
        /// The command as a shell line.
        line: String,
        /// The time it had.
        after: Duration,
        /// What it had printed by then.
        output: Box<Output>,
    },
    /// The program was killed because the caller did not want its result any more.
    #[error("`{line}` was cancelled")]
    Cancelled {
        /// The command as a shell line.
        line: String,
    },
    /// Reading from, writing to or waiting for the program failed.
    #[error("lost contact with `{line}`: {source}")]
    Contact {
        /// The command as a shell line.
        line: String,
        /// What the system answered.
        source: std::io::Error,
    },
    /// No pseudo-terminal could be had, or an act on one failed.
    #[error("cannot {act} a pseudo-terminal for `{line}`: {reason}")]
    Terminal {
        /// What was attempted.
        act: &'static str,
        /// The command as a shell line.
        line: String,
        /// Why not.
        reason: String,
    },
    /// bubblewrap is not installed, so nothing may run that needs a sandbox.
    #[error(
        "bubblewrap (`bwrap`) is not installed, and nothing of a trainee may run without it: install it, on Debian or Ubuntu with `apt-get install bubblewrap`"
    )]
    SandboxMissing,
    /// The helper that runs inside each sandbox is not where it should be.
    #[error("`sandbox-relay` is not at {}: build it with `cargo build -p exec`, or name its place", path.display())]
    RelayMissing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A sandbox was asked to let in something it must not.
    #[error("sandbox refused: {reason}")]
    SandboxRefused {
        /// What is wrong with the request.
        reason: String,
    },
    /// The relay inside a sandbox did not do what it was asked.
    #[error("sandbox relay at {}: {reason}", socket.display())]
    Relay {
        /// The relay's socket.
        socket: PathBuf,
        /// Why not.
        reason: String,
    },
}

fn show_status(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".to_owned(),
    }
}

fn show_output(output: &Output) -> String {
    let text = if output.stderr.trim().is_empty() {
        &output.stdout
    } else {
        &output.stderr
    };
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    let skipped = lines.len().saturating_sub(SHOWN_LINES);
    let shown = lines
        .iter()
        .skip(skipped)
        .map(|line| format!("\n  {line}"))
        .collect::<String>();
    let more = if skipped > 0 {
        format!("\n  … ({skipped} lines before)")
    } else {
        String::new()
    };
    format!(", and said:{more}{shown}")
}
