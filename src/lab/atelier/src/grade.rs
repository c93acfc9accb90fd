//! `atelier grade`: verdicts from the store. Owner: judge.

use std::process::ExitCode;

use crate::options::Options;

/// Arguments of `atelier grade`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Carries out `atelier grade`.
///
/// # Errors
/// When the command cannot do its work.
pub async fn run(_options: &Options, _args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`atelier grade` is not part of this build")
}
