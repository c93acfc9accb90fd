//! `cargo xtask bench scheduler`: the simulator's bench, with the rooms that decide optimised as in a release. Everything else stays as
//! it was built for the day's work, so that the bench starts in a minute and not in ten.

use std::process::ExitCode;

use anyhow::Context as _;

use crate::run;

/// What a cycle consists of.
const MEASURED: &[&str] = &["quantity", "scheduler", "kueue-api", "cache", "simulator"];
const AS_IN_A_RELEASE: &[&str] = &[
    "opt-level=3",
    "debug-assertions=false",
    "overflow-checks=false",
];

/// Builds and runs it.
///
/// # Errors
/// When cargo cannot be started.
pub fn scheduler(rest: &[String]) -> anyhow::Result<ExitCode> {
    let mut command = run::cargo();
    command.args(["run", "--quiet", "-p", "simulator"]);
    for room in MEASURED {
        for setting in AS_IN_A_RELEASE {
            command.arg("--config");
            command.arg(format!("profile.dev.package.{room}.{setting}"));
        }
    }
    command.args(["--", "bench"]).args(rest);
    let status = command.status().context("cargo could not be started")?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Builds our manager as a release has it, and the trials, which run both controllers on bare control planes.
///
/// # Errors
/// When something does not compile or cannot be started.
pub fn trials(verb: &str, rest: &[String]) -> anyhow::Result<ExitCode> {
    let mut manager = run::cargo();
    manager.args([
        "build",
        "--quiet",
        "--locked",
        "--release",
        "-p",
        "kueue-manager",
    ]);
    run::step("cargo build --release -p kueue-manager", &mut manager)?;
    let mut trials = run::cargo();
    trials.args(["build", "--quiet", "--locked", "-p", "trials"]);
    run::step("cargo build -p trials", &mut trials)?;
    let folder = run::target_folder()?;
    let release = folder.with_file_name("release").join("kueue-manager");
    let mut command = run::command(folder.join("trials"));
    command.arg(verb);
    if !rest.iter().any(|word| word.starts_with("--manager")) {
        command.arg("--manager").arg(release);
    }
    let status = command.args(rest).status();
    let status = status.context("`trials` could not be started")?;
    Ok(run::exit_code(status))
}
