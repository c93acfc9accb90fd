//! `atelier bundle install FILE`: sets a machine up from one archive, with the network cut. The archive is made by `cargo xtask
//! bundle`; its first entry lists every file with its size and SHA-256, and nothing is put in place that is not what the list says.

mod install;
mod manifest;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

use crate::options::Options;
use install::Places;

/// Arguments of `atelier bundle`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// Put programs, tools, images and labs of a bundle in place
    Install {
        /// The archive made by `cargo xtask bundle`
        file: PathBuf,
        /// Folder of the programs and labs [default: ~/atelier-kueue]
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
    },
    /// Compare a bundle with its own list, and change nothing
    Check {
        /// The archive made by `cargo xtask bundle`
        file: PathBuf,
    },
}

/// Carries out `atelier bundle`.
///
/// # Errors
/// When the archive is damaged, is for another machine, or cannot be written out.
#[expect(
    clippy::print_stdout,
    reason = "what was done, for the person who asked"
)]
pub fn run(options: &Options, args: Args) -> anyhow::Result<ExitCode> {
    match args.act {
        Act::Check { file } => {
            let done =
                install::check(&file).with_context(|| format!("bundle {}", file.display()))?;
            println!(
                "{} files, {} MB: as listed",
                done.files,
                done.bytes / 1_000_000
            );
        }
        Act::Install { file, to } => {
            let places = Places {
                app: to.unwrap_or_else(|| options.home().join("atelier-kueue")),
                cache: options.cache_dir(),
            };
            let done = install::install(&file, &places)
                .with_context(|| format!("bundle {}", file.display()))?;
            let (app, cache) = (places.app.display(), places.cache.display());
            println!(
                "{} files, {} MB, in {app} and {cache}",
                done.files,
                done.bytes / 1_000_000
            );
            println!("Start with: {app}/bin/atelier serve");
        }
    }
    Ok(ExitCode::SUCCESS)
}
