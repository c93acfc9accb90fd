//! `atelier serve`: puts the platform together and serves it until told to stop.

use std::process::ExitCode;

use crate::options::Options;

/// Arguments of `atelier serve`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Carries out `atelier serve`.
///
/// # Errors
/// When the command cannot do its work.
pub async fn run(_options: &Options, _args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`atelier serve` is not part of this build")
}
