//! The command line of `atelier`: which commands exist and where each one is carried out.
//!
//! Every command's own arguments and its `run` stand in the module named after it; nothing is decided here.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use telemetry::logging;

use crate::options::Options;
use crate::{bench, bundle, doctor, env_cli, grade, serve, solve, tools_cli};

/// Rooms whose log lines are shown at the chosen level; of all others only what is wrong.
const ROOMS: &[&str] = &["atelier", "clusters", "course", "exec", "store", "timeline"];

/// A course platform for Kueue: a cluster for every trainee, six labs, verdicts that come by themselves.
#[derive(Debug, Parser)]
#[command(name = "atelier", version, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    pub options: Options,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the pages, <http://127.0.0.1:8080> by default
    Serve(serve::Args),
    /// Create, list, stop, start or delete environments
    Env(env_cli::Args),
    /// Say what is missing on this machine and how to get it
    Doctor(doctor::Args),
    /// Obtain the cluster programs (etcd, kube-apiserver, kubectl, helm, …)
    Tools(tools_cli::Args),
    /// Set a machine up from one archive, without a network
    Bundle(bundle::Args),
    /// Judge a lab in an environment from what was recorded
    Grade(grade::Args),
    /// Play a lab's solution, or one of its wrong answers, in a new environment
    Solve(solve::Args),
    /// Measure
    #[command(hide = true)]
    Bench(bench::Args),
}

/// Carries out one command.
///
/// # Errors
/// Whatever the command could not do, in words fit for the last line of a terminal.
pub async fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let Cli { options, command } = cli;
    let usual = if matches!(command, Command::Serve(_)) {
        "info"
    } else {
        "warn"
    };
    let level = logging::parse_level(options.log().unwrap_or(usual))?;
    logging::install(level, logging::Encoder::Console, ROOMS)?;
    match command {
        Command::Serve(args) => serve::run(&options, args).await,
        Command::Env(args) => env_cli::run(&options, args).await,
        Command::Doctor(args) => doctor::run(&options, args).await,
        Command::Tools(args) => tools_cli::run(&options, args).await,
        Command::Bundle(args) => bundle::run(&options, args),
        Command::Grade(args) => grade::run(&options, args).await,
        Command::Solve(args) => solve::run(&options, args).await,
        Command::Bench(args) => bench::run(&options, args).await,
    }
}
