//! The near side of `sandbox-relay`: reach a port, signal the command, or run another one inside a sandbox.
//!
//! Each request is one line on the relay's unix socket: `CONNECT port`, `SIGNAL number` or `EXEC ["argv", …]`. The
//! answers are `OK` (then the bytes of the connection), `EXIT code` (then the output), or `ERR reason`.

pub mod environment;

use std::io;
use std::path::Path;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use crate::process::Signal;
use crate::{ExecError, short_path};

/// The longest request line a relay reads.
pub const LONGEST_REQUEST: u64 = 64 * 1024;

/// How much output of an `EXEC` a relay hands back.
pub const LONGEST_OUTPUT: usize = 10 * 1024;

/// Opens a connection to a TCP port on the sandbox's own loopback.
pub async fn connect(socket: &Path, port: u16) -> Result<UnixStream, ExecError> {
    let (stream, answer) = request(socket, &format!("CONNECT {port}\n")).await?;
    expect_ok(socket, &answer)?;
    Ok(stream)
}

/// Sends a signal to the command inside.
pub async fn signal(socket: &Path, signal: Signal) -> Result<(), ExecError> {
    let (_, answer) = request(socket, &format!("SIGNAL {}\n", signal.as_raw())).await?;
    expect_ok(socket, &answer)
}

/// Runs another command inside; its exit code, and the first of what it printed.
pub async fn exec(socket: &Path, argv: &[String]) -> Result<(i32, String), ExecError> {
    let argv = serde_json::to_string(argv).map_err(|error| refused(socket, &error.to_string()))?;
    let (mut stream, answer) = request(socket, &format!("EXEC {argv}\n")).await?;
    let code = answer
        .strip_prefix("EXIT ")
        .and_then(|code| code.parse().ok())
        .ok_or_else(|| refused(socket, &answer))?;
    let mut output = Vec::new();
    stream
        .read_to_end(&mut output)
        .await
        .map_err(|error| refused(socket, &error.to_string()))?;
    Ok((code, String::from_utf8_lossy(&output).into_owned()))
}

async fn request(socket: &Path, line: &str) -> Result<(UnixStream, String), ExecError> {
    ask(socket, line)
        .await
        .map_err(|error| refused(socket, &error.to_string()))
}

async fn ask(socket: &Path, line: &str) -> io::Result<(UnixStream, String)> {
    let (short, _dir) = short_path(socket)?;
    let mut stream = UnixStream::connect(short).await?;
    stream.write_all(line.as_bytes()).await?;
    // One byte at a time: what follows the line belongs to the connection.
    let mut answer = String::new();
    BufReader::with_capacity(1, &mut stream)
        .take(4096)
        .read_line(&mut answer)
        .await?;
    Ok((stream, answer.trim_end().to_owned()))
}

fn expect_ok(socket: &Path, answer: &str) -> Result<(), ExecError> {
    if answer == "OK" {
        Ok(())
    } else {
        Err(refused(socket, answer))
    }
}

fn refused(socket: &Path, reason: &str) -> ExecError {
    let reason = reason.strip_prefix("ERR ").unwrap_or(reason);
    let reason = if reason.is_empty() {
        "no answer"
    } else {
        reason
    }
    .to_owned();
    ExecError::Relay {
        socket: socket.to_owned(),
        reason,
    }
}
