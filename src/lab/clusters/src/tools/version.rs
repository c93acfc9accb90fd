//! Asks a program for its version, and reads the answer.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use exec::{Cmd, ExecError, Output};

use super::Tool;

/// Long, for a machine that is building something else meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);

const BUSY_TRIES: u32 = 50;
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// Whether the program at `path` is `tool` in the wanted version; if not, in which way.
pub(super) async fn check(tool: Tool, path: &Path) -> Result<(), String> {
    if !path.exists() {
        return Err(format!("{} is not there", path.display()));
    }
    let cmd = Cmd::new(path).args(tool.version_args()).deadline(PATIENCE);
    let output = run(&cmd).await.map_err(|error| error.to_string())?;
    match version_in(&output.stdout) {
        Some(version) if version == tool.version() => Ok(()),
        Some(version) => Err(format!("{} has version {version}", path.display())),
        None => Err(format!("{} does not tell its version", path.display())),
    }
}

/// A file that was just written is "busy" for as long as a program that was started meanwhile, on another thread, has
/// not yet let go of what it inherited.
async fn run(cmd: &Cmd) -> Result<Output, ExecError> {
    for _ in 0..BUSY_TRIES {
        match cmd.run().await {
            Err(ExecError::Start { source, .. })
                if source.kind() == ErrorKind::ExecutableFileBusy =>
            {
                tokio::time::sleep(BUSY_PAUSE).await;
            }
            done => return done,
        }
    }
    cmd.run().await
}

/// The first thing that looks like `1.2.3`; what follows a `+` or `-` counts as part of it only for pre-releases.
pub(super) fn version_in(text: &str) -> Option<&str> {
    let part = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
    text.split(|c: char| !part(c))
        .map(|word| word.trim_start_matches('v'))
        .find(|word| {
            let mut numbers = word.split(['.', '-']);
            (0..3).all(|_| {
                numbers
                    .next()
                    .is_some_and(|number| number.parse::<u32>().is_ok())
            })
        })
}
