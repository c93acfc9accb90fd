//! `atelier env`: environments from the command line, without the server. Owner: node.

use std::process::ExitCode;

use crate::options::Options;

/// Arguments of `atelier env`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Carries out `atelier env`.
///
/// # Errors
/// When the command cannot do its work.
pub async fn run(_options: &Options, _args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`atelier env` is not part of this build")
}
