//! Child processes of the set-up, with a line before and after each long one. This room does not use `exec`, which would make
//! the first progress line wait for tokio to compile.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// The folder that holds the root `Cargo.toml`.
#[must_use]
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap_or(here).to_path_buf()
}

/// Says something to the person who waits.
#[expect(clippy::print_stdout, reason = "progress of a command-line tool")]
pub fn say(line: &str) {
    println!("{line}");
}

/// A command that starts in the root folder.
#[expect(
    clippy::disallowed_methods,
    reason = "the set-up tool stays free of exec and tokio; see the module's header"
)]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Cargo as it was called by, so that a toolchain chosen by the caller stays chosen.
#[must_use]
pub fn cargo() -> Command {
    command(variable("CARGO").unwrap_or_else(|| "cargo".to_owned()))
}

/// One environment variable, absent when unset or not UTF-8.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the set-up tool reads its few variables through this one function"
)]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Seconds of wall time that a closure takes, beside its result.
#[expect(
    clippy::disallowed_methods,
    reason = "durations shown to the person who waits"
)]
fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = act();
    (result, start.elapsed())
}

/// Runs a command with its output shown, under a title, and fails with its command line.
///
/// # Errors
/// When the program cannot be started or ends with another status than 0.
pub fn step(title: &str, command: &mut Command) -> anyhow::Result<()> {
    say(&format!("── {title}"));
    let line = shown(command);
    let (status, took) = timed(|| command.status());
    let status = status.with_context(|| format!("`{line}` could not be started"))?;
    if !status.success() {
        bail!("`{line}` ended with {status}");
    }
    say(&format!("── {title}: done in {:.1} s", took.as_secs_f64()));
    Ok(())
}

/// Runs a command and hands over each line of its standard output, which is shown as well.
///
/// # Errors
/// When the program cannot be started or its output cannot be read; its exit status is the value.
pub fn watched(
    title: &str,
    command: &mut Command,
    mut look: impl FnMut(&str),
) -> anyhow::Result<bool> {
    say(&format!("── {title}"));
    let line = shown(command);
    let (outcome, took) = timed(|| -> anyhow::Result<bool> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let pipe = child.stdout.take().context("its output is not readable")?;
        for text in BufReader::new(pipe).split(b'\n') {
            let text = String::from_utf8_lossy(&text?).into_owned();
            say(&text);
            look(&text);
        }
        Ok(child.wait()?.success())
    });
    let success = outcome.with_context(|| format!("`{line}` could not be run"))?;
    say(&format!(
        "── {title}: {} in {:.1} s",
        if success { "done" } else { "failed" },
        took.as_secs_f64()
    ));
    Ok(success)
}

/// The standard output of a short command, or nothing when it cannot be run or fails.
#[must_use]
pub fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = command(program)
        .args(arguments)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Where cargo puts what it builds for daily work.
///
/// # Errors
/// When `cargo metadata` fails.
pub fn target_folder() -> anyhow::Result<PathBuf> {
    Ok(target()?.join("debug"))
}

/// Where cargo puts what is delivered.
///
/// # Errors
/// When `cargo metadata` fails.
pub fn release_folder() -> anyhow::Result<PathBuf> {
    Ok(target()?.join("release"))
}

fn target() -> anyhow::Result<PathBuf> {
    let metadata = cargo_metadata::MetadataCommand::new()
        .current_dir(root())
        .no_deps()
        .exec()?;
    Ok(metadata.target_directory.into_std_path_buf())
}

/// Runs a verb of the `atelier` binary and passes its exit status on.
///
/// # Errors
/// When the binary is not there or cannot be started.
pub fn product(verb: &str, arguments: &[String]) -> anyhow::Result<ExitCode> {
    let status = atelier()?
        .arg(verb)
        .args(arguments)
        .status()
        .context("`atelier` could not be started")?;
    Ok(exit_code(status))
}

/// Builds and runs the runner of the reference's cases. Relative paths are the caller's.
///
/// # Errors
/// When it does not compile or cannot be started.
pub fn conformance(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--locked", "--package", "conformance"]);
    step("cargo build", &mut build)?;
    let mut runner = command(target_folder()?.join("conformance"));
    if let Ok(folder) = std::env::current_dir() {
        runner.current_dir(folder);
    }
    let status = runner.args(arguments).status();
    Ok(exit_code(
        status.context("`conformance` could not be started")?,
    ))
}

/// Builds the controller and the runner that breaks it, and runs them.
///
/// # Errors
/// When they do not compile or cannot be started.
pub fn chaos(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--locked"]);
    build.args(["--package", "kueue-manager", "--package", "chaos"]);
    step("cargo build", &mut build)?;
    let mut runner = command(target_folder()?.join("chaos"));
    let status = runner.args(arguments).status();
    Ok(exit_code(status.context("`chaos` could not be started")?))
}

/// A child's exit status as our own.
#[must_use]
pub fn exit_code(status: std::process::ExitStatus) -> ExitCode {
    status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Becomes `atelier serve`: signals of the terminal then go straight to it.
///
/// # Errors
/// Only when the binary cannot be started; otherwise it does not return.
pub fn become_server(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let failure = atelier()?.arg("serve").args(arguments).exec();
    Err(failure).context("`atelier serve` could not be started")
}

fn atelier() -> anyhow::Result<Command> {
    let path = target_folder()?.join("atelier");
    if !path.exists() {
        bail!(
            "{} is missing: run `cargo xtask up --prepare-only` first",
            path.display()
        );
    }
    Ok(command(path))
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}
