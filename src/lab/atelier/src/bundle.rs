//! `atelier bundle install FILE`: sets a machine up from one archive, with the network cut. The archive is made by `cargo xtask
//! bundle`; its first entry lists every file with its size and SHA-256, and nothing is put in place that is not what the list says.

mod install;
mod manifest;
mod read;
mod stage;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

use crate::options::Options;
use install::Places;
use read::{Done, Progress};

/// A line for each of these shares of the whole.
const STEPS: u64 = 20;

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
pub fn run(options: &Options, args: Args) -> anyhow::Result<ExitCode> {
    let stop = stopped_by_interrupt();
    let mut steps = 0;
    let mut told = |progress: Progress<'_>| {
        if let Some(line) = line(&progress, &mut steps) {
            say(&line);
        }
        !stop.load(Ordering::Relaxed)
    };
    match args.act {
        Act::Check { file } => {
            let done = install::check(&file, &mut told).with_context(|| named(&file))?;
            say(&format!("{}: as listed", counted(&done)));
        }
        Act::Install { file, to } => {
            let places = Places {
                app: to.unwrap_or_else(|| options.home().join("atelier-kueue")),
                cache: options.cache_dir(),
            };
            let done = install::install(&file, &places, &mut told).with_context(|| named(&file))?;
            let (app, cache) = (places.app.display(), places.cache.display());
            say(&format!("{}, in {app} and {cache}", counted(&done)));
            say(&format!(
                "See what this machine lacks: {app}/bin/atelier doctor"
            ));
            say(&format!("Start with: {app}/bin/atelier serve"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn named(file: &std::path::Path) -> String {
    format!("bundle {}", file.display())
}

fn counted(done: &Done) -> String {
    let (version, files, megabytes) = (&done.version, done.files, done.bytes / 1_000_000);
    format!("Atelier Kueue {version}: {files} files, {megabytes} MB")
}

/// What there is to say now, if a line's worth has passed since the last one.
fn line(progress: &Progress<'_>, steps: &mut u64) -> Option<String> {
    let now = progress.passed * STEPS / progress.total.max(1);
    if now <= *steps {
        return None;
    }
    *steps = now;
    let (percent, path) = (now * 100 / STEPS, progress.path);
    let (passed, total) = (progress.passed / 1_000_000, progress.total / 1_000_000);
    Some(format!("{percent:>3} %  {passed} of {total} MB  {path}"))
}

/// Turns true when the user interrupts: what was begun is then taken away again.
fn stopped_by_interrupt() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            told.store(true, Ordering::Relaxed);
        }
    });
    stop
}

#[expect(clippy::print_stdout, reason = "progress, for the person who waits")]
fn say(line: &str) {
    println!("{line}");
}
