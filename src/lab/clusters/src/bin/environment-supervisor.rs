//! The process that owns one environment. The platform starts it; people need it only to look inside one.
//!
//! A second, hidden use measures what an environment costs on this machine.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clusters::local::{self, LocalOptions};
use clusters::profile::Profile;
use clusters::tools::Tools;
use tracing::level_filters::LevelFilter;

const NAME: &str = "environment-supervisor";
const DIR: &str = "--dir";
const USAGE: &str = "usage: environment-supervisor --platform-version VERSION --dir FOLDER\n\
    ATELIER_SUPERVISOR_LOG sets the level of the environment's logs/supervisor-journal.log: error, warn (usual) or info";

/// Inherited from the platform, which passes its own environment on.
const LEVEL: &str = "ATELIER_SUPERVISOR_LOG";

#[expect(
    clippy::print_stderr,
    reason = "its standard error is the supervisor's log"
)]
fn main() -> ExitCode {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("environment-supervisor: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(async {
        match args.as_slice() {
            [option, starter, rest @ ..] if option.as_os_str() == exec::VERSION_OPTION => {
                exec::check_version(NAME, starter.to_str())?;
                supervise(rest).await
            }
            [option, _] if option.as_os_str() == DIR => exec::check_version(NAME, None),
            [verb, data_dir, tools, profile] if verb.as_os_str() == "bench" => {
                bench(data_dir, tools, profile).await
            }
            _ => Err(USAGE.to_owned()),
        }
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("environment-supervisor: {reason}");
            ExitCode::FAILURE
        }
    }
}

async fn supervise(args: &[PathBuf]) -> Result<(), String> {
    match args {
        [option, dir] if option.as_os_str() == DIR => local::supervise(dir.clone(), level())
            .await
            .map_err(|error| error.to_string()),
        _ => Err(USAGE.to_owned()),
    }
}

/// An unknown level is no reason to leave somebody without an environment.
fn level() -> LevelFilter {
    std::env::var_os(LEVEL)
        .and_then(|level| level.to_str()?.parse().ok())
        .unwrap_or(LevelFilter::WARN)
}

/// `bench DATA_DIR TOOLS_DIR PROFILE`
#[expect(clippy::print_stdout, reason = "the measurement is for people")]
async fn bench(data_dir: &Path, tools: &Path, profile: &Path) -> Result<(), String> {
    let profile = Profile::load(profile).map_err(|error| error.to_string())?;
    let options = LocalOptions::usual(data_dir.to_owned(), Tools::in_dir(tools))
        .map_err(|error| error.to_string())?;
    let measured = local::bench::environment(options, profile)
        .await
        .map_err(|error| error.to_string())?;
    for memory in &measured.memory {
        println!(
            "{:>8} KiB private  {}",
            memory.private_bytes / 1024,
            memory.program
        );
    }
    println!("bare control plane    {:.2} s", measured.bare.as_secs_f64());
    println!(
        "ready environment     {:.2} s (ratio {:.2})",
        measured.ready.as_secs_f64(),
        measured.ratio()
    );
    println!(
        "private memory        {} MiB",
        measured.private_bytes() / (1024 * 1024)
    );
    Ok(())
}
