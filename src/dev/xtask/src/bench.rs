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
