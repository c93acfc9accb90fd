//! `cargo xtask up`: from a fresh clone to a served page, with a line for every step and no work done twice.

use std::process::ExitCode;

use crate::{frontend, images, packages, run};

/// The binaries of the product, by package. All are needed to serve: `atelier` starts the others.
const PRODUCT: &[&str] = &["atelier", "clusters", "exec", "kueue-manager"];

/// Prepares everything and serves.
///
/// # Errors
/// The first step that failed, in words.
pub fn up(prepare_only: bool, serve: &[String]) -> anyhow::Result<ExitCode> {
    prepare()?;
    if wants_kind(serve) {
        kind()?;
    }
    if prepare_only {
        return Ok(ExitCode::SUCCESS);
    }
    run::become_server(serve)
}

/// Everything that serving needs: packages, front end, binaries, tools.
///
/// # Errors
/// The first step that failed, in words.
pub fn prepare() -> anyhow::Result<()> {
    packages::languages()?;
    packages::install(packages::FOR_SERVING)?;
    frontend::bundle()?;
    build()?;
    run::step("tools: control plane, kubectl, kwok, helm", &mut tools()?)
}

/// Whether these arguments ask for kind clusters, as `--provider kind` or `--provider=kind`.
#[must_use]
pub fn wants_kind(arguments: &[String]) -> bool {
    let pairs = arguments.iter().zip(arguments.iter().skip(1));
    pairs
        .into_iter()
        .any(|(name, value)| name == "--provider" && value == "kind")
        || arguments
            .iter()
            .any(|argument| argument == "--provider=kind")
}

/// What kind clusters need beside the rest: an engine that answers, and the images.
///
/// # Errors
/// The first step that failed, in words.
pub fn kind() -> anyhow::Result<()> {
    // Does nothing where an engine answers.
    run::step(
        "container engine",
        &mut run::command(run::root().join(".ci/docker")),
    )?;
    images::build(&[]).map(drop)
}

/// Builds the product's binaries. Cargo shows the progress.
///
/// # Errors
/// When it does not compile.
pub fn build() -> anyhow::Result<()> {
    run::step("cargo build", &mut product())
}

/// The same, as they are delivered.
///
/// # Errors
/// When it does not compile.
pub fn build_release() -> anyhow::Result<()> {
    run::step("cargo build --release", product().arg("--release"))
}

fn product() -> std::process::Command {
    let mut command = run::cargo();
    command.args(["build", "--locked", "--bins"]);
    for package in PRODUCT {
        command.args(["--package", package]);
    }
    command
}

/// The command that obtains the tools.
///
/// # Errors
/// When cargo's target folder cannot be found.
pub fn tools() -> anyhow::Result<std::process::Command> {
    let mut command = run::command(run::target_folder()?.join("atelier"));
    command.arg("tools");
    Ok(command)
}
