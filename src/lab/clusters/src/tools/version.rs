//! Asks a program for its version, and reads the answer.

use std::path::Path;
use std::time::Duration;

use exec::Cmd;

use super::Tool;

/// Long, for a machine that is building something else meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether the program at `path` is `tool` in the wanted version; if not, in which way.
pub(super) async fn check(tool: Tool, path: &Path) -> Result<(), String> {
    if !path.exists() {
        return Err(format!("{} is not there", path.display()));
    }
    let cmd = Cmd::new(path).args(tool.version_args()).deadline(PATIENCE);
    let output = cmd.run().await.map_err(|error| error.to_string())?;
    match version_in(&output.stdout) {
        Some(version) if version == tool.version() => Ok(()),
        Some(version) => Err(format!("{} has version {version}", path.display())),
        None => Err(format!("{} does not tell its version", path.display())),
    }
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
