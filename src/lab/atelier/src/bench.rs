//! `atelier bench`: measurements.

use std::process::ExitCode;

use crate::options::Options;

/// Arguments of `atelier bench`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Carries out `atelier bench`.
///
/// # Errors
/// When the command cannot do its work.
pub async fn run(_options: &Options, _args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`atelier bench` is not part of this build")
}
