//! `trials controller|differential|migration`: what `cargo xtask bench controller`, `differential` and `migration` run.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};
use trials::{differential, harness, migration};

#[derive(Debug, Parser)]
#[command(name = "trials", about = "Both controllers on bare control planes")]
struct Options {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// The reference's performance harness on its manager and on ours, in turn.
    Controller(harness::Options),
    /// The same scripts on both controllers; the objects that they leave are compared.
    Differential(differential::Options),
    /// One controller takes the place of the other on the same objects; nobody who runs may notice.
    Migration(migration::Options),
}

#[expect(
    clippy::print_stderr,
    reason = "a command-line tool reports its failure here"
)]
fn main() -> ExitCode {
    let options = Options::parse();
    if rustls::crypto::ring::default_provider()
        .install_default()
        .is_err()
    {
        eprintln!("trials: a TLS provider was installed already");
    }
    match act(options.verb) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("trials: {failure:#}");
            ExitCode::from(2)
        }
    }
}

fn act(verb: Verb) -> anyhow::Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut told = signal(SignalKind::terminate())?;
        // Whoever is told to stop lets go of what it started; the programs end with it.
        tokio::select! {
            done = trial(verb) => done,
            _ = told.recv() => anyhow::bail!("told to stop"),
            _ = tokio::signal::ctrl_c() => anyhow::bail!("interrupted"),
        }
    })
}

async fn trial(verb: Verb) -> anyhow::Result<bool> {
    match verb {
        Verb::Controller(options) => harness::run(&options).await.map(|()| true),
        Verb::Differential(options) => differential::run(&options).await,
        Verb::Migration(options) => migration::run(&options).await,
    }
}
