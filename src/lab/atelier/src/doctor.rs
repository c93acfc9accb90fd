//! `atelier doctor`: what is missing on this machine. Owner: node.

use std::process::ExitCode;

use crate::options::Options;

/// Arguments of `atelier doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Carries out `atelier doctor`.
///
/// # Errors
/// When the command cannot do its work.
pub async fn run(_options: &Options, _args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`atelier doctor` is not part of this build")
}
