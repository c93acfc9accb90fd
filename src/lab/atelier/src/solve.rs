//! `atelier solve`: plays a lab's solution in a new environment. Owner: judge.

use std::process::ExitCode;

use crate::options::Options;

/// Arguments of `atelier solve`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Carries out `atelier solve`.
///
/// # Errors
/// When the command cannot do its work.
pub async fn run(_options: &Options, _args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`atelier solve` is not part of this build")
}
