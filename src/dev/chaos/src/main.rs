//! `chaos --rounds N --seed S`: etcd, an API server and a controller as processes, thirty queues in cohorts, Jobs that arrive; in each round one
//! of them is killed or paused, or the network between them. What must never be is looked for all the time, what must come back to order
//! after each round. Start reading at `round.rs`; `judge.rs` says what must never be.
//!
//! No pods run: `actor.rs` plays the Job controller, so that a Job takes its time to stop and an eviction can be cut in two.

mod actor;
mod blow;
mod judge;
mod load;
mod manager;
mod proxy;
mod round;
mod seen;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use round::Arena;
use trials::programs;

/// What to break, and how often.
#[derive(Debug, Parser)]
#[command(
    name = "chaos",
    about = "Breaks a control plane and its controller, and counts violations"
)]
struct Options {
    /// How many rounds.
    #[arg(long, default_value_t = 200)]
    rounds: u64,
    /// The same seed deals the same blows to the same Jobs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The controller's binary; beside this one when absent.
    #[arg(long)]
    manager: Option<PathBuf>,
    /// The folder with etcd and kube-apiserver, as `cargo xtask tools` fills it.
    #[arg(long)]
    tools: Option<PathBuf>,
    /// The folder with the CRDs.
    #[arg(long, default_value = "manifests/kueue/crds")]
    crds: PathBuf,
    /// Where logs are left; a temporary folder, removed at the end, when absent.
    #[arg(long)]
    keep: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    let temporary = tempfile::tempdir()?;
    let folder = options.keep.clone();
    let folder = folder.unwrap_or_else(|| temporary.path().to_owned());
    std::fs::create_dir_all(&folder)?;
    let tools = match options.tools.clone() {
        Some(folder) => programs::tools_in(folder).await?,
        None => programs::tools().await?,
    };
    let manager = programs::manager(options.manager.as_deref())?;
    let mut arena = Arena::open(&folder, &tools, &manager, &options.crds, options.seed).await?;
    for number in 1..=options.rounds {
        arena.round(number).await?;
    }
    let clean = arena.finish().await?;
    Ok(if clean {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Says something to the person who waits.
#[expect(
    clippy::print_stdout,
    reason = "a command-line tool shows its result here"
)]
fn say(line: &str) {
    println!("{line}");
}
