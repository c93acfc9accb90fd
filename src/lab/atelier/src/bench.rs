//! `atelier bench`: measurements that the project sets limits for.

use std::process::ExitCode;

use anyhow::Context as _;
use clusters::local::{LocalOptions, bench};
use clusters::profile::Profile;

use crate::environments::local::kind_settings;
use crate::judge;
use crate::options::{Options, ProviderName};
use crate::tools_cli;

/// Arguments of `atelier bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Time until an environment is usable, against a bare control plane, and the private memory of one
    Environment {
        /// Which nodes it has
        #[arg(long, default_value = "cassiopee-a100")]
        profile: String,
    },
    /// Time from the API server's answer to the verdict
    Verdict(judge::bench::Args),
}

/// Carries out `atelier bench`.
///
/// # Errors
/// When something could not be measured.
pub async fn run(options: &Options, Args { what }: Args) -> anyhow::Result<ExitCode> {
    match what {
        What::Environment { profile } => environment(options, &profile).await,
        What::Verdict(args) => judge::bench::run(options, args).await,
    }
}

async fn environment(options: &Options, profile: &str) -> anyhow::Result<ExitCode> {
    let path = options.profiles_dir().join(format!("{profile}.yaml"));
    let profile =
        Profile::load(&path).with_context(|| format!("read the profile {}", path.display()))?;
    let tools = tools_cli::obtain(options, tools_cli::Args::default()).await?;
    let mut local =
        LocalOptions::usual(options.data_dir(), tools).context("prepare local environments")?;
    if options.provider() == ProviderName::Kind {
        let settings = kind_settings(options, &local.programs.tools);
        local = local.with_kind(settings);
    }
    let measured = bench::environment(local, profile).await?;
    say(&format!(
        "bare control plane   {:6.1} s",
        measured.bare.as_secs_f64()
    ));
    say(&format!(
        "ready environment    {:6.1} s",
        measured.ready.as_secs_f64()
    ));
    say(&format!("ratio                {:6.2}", measured.ratio()));
    for memory in &measured.memory {
        say(&format!(
            "  {:<24} {:4} MB",
            memory.program,
            memory.private_bytes / 1_000_000
        ));
    }
    say(&format!(
        "private memory       {:6} MB",
        measured.private_bytes() / 1_000_000
    ));
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::print_stdout, reason = "the measurement is what was asked for")]
fn say(line: &str) {
    println!("{line}");
}
