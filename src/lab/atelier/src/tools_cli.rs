//! `atelier tools`: obtains the cluster programs through `clusters::tools`.

use std::process::ExitCode;

use crate::options::Options;

/// Arguments of `atelier tools`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Carries out `atelier tools`.
///
/// # Errors
/// When the command cannot do its work.
pub async fn run(_options: &Options, _args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("`atelier tools` is not part of this build")
}
