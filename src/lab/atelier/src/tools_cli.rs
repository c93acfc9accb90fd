//! `atelier tools`: obtains the cluster programs through `clusters::tools` and says how far it is.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clusters::tools::{self, Hashes, Source, Step, Tool, ToolProgress, Tools};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::options::Options;

/// Arguments of `atelier tools`.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Args {
    /// Download from a mirror that keeps releases under the host name and path of their origin
    #[arg(long, value_name = "URL")]
    mirror: Option<String>,
    /// More SHA-256 sums of releases, in the form that `sha256sum` prints
    #[arg(long, value_name = "FILE")]
    hashes: Option<PathBuf>,
    /// Download nothing
    #[arg(long)]
    no_download: bool,
    /// Build nothing
    #[arg(long)]
    no_build: bool,
    /// Print each with its version and where it is, for other programs
    #[arg(long)]
    list: bool,
}

/// Carries out `atelier tools`.
///
/// # Errors
/// When a program is not to be had.
pub async fn run(options: &Options, args: Args) -> anyhow::Result<ExitCode> {
    let list = args.list;
    let tools = obtain(options, args).await?;
    if list {
        print(&tools);
    }
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::print_stdout, reason = "the list that was asked for")]
fn print(tools: &Tools) {
    for tool in Tool::ALL {
        let path = tools.path(tool).display();
        println!("{}\t{}\t{path}", tool.name(), tool.version());
    }
}

/// The cluster programs, from wherever they can be had; each step is printed.
///
/// # Errors
/// When one is not to be had.
pub async fn obtain(options: &Options, args: Args) -> anyhow::Result<Tools> {
    let Args {
        mirror,
        hashes,
        no_download,
        no_build,
        list: _,
    } = args;
    let mut wanted = tools::Options::new(options.cache_dir().join("tools"));
    wanted.dir = options.tools_dir().map(ToOwned::to_owned);
    wanted.mirror = mirror;
    (wanted.download, wanted.build) = (!no_download, !no_build);
    if let Some(file) = hashes {
        wanted.hashes = Hashes::built_in()
            .with_file(&file)
            .context("read the sums of releases")?;
    }
    let last = Mutex::new(None);
    let said = |progress: ToolProgress| {
        if let Some(line) = line(&progress, &mut last.lock()) {
            say(&line);
        }
    };
    Ok(tools::obtain_all(&wanted, &CancellationToken::new(), &said).await?)
}

/// Where the last line about a download or a build was, so that not every step makes a line.
type Last = Option<(Tool, u64)>;

fn line(ToolProgress { tool, step }: &ToolProgress, last: &mut Last) -> Option<String> {
    const MIB: u64 = 1024 * 1024;
    let (name, version) = (tool.name(), tool.version());
    match step {
        // Nothing to say: it was there all the time.
        Step::Found {
            source: Source::Directory | Source::SearchPath | Source::Cache,
            ..
        } => None,
        Step::Found { source, .. } => {
            Some(format!("{name} {version}: ready ({})", source.as_str()))
        }
        Step::Refused { source, reason } => Some(format!(
            "{name} {version}: not from {}: {reason}",
            source.as_str()
        )),
        Step::Waiting => Some(format!(
            "{name} {version}: another process is obtaining it, waiting"
        )),
        Step::Downloading { bytes, of } => news(last, *tool, bytes / (8 * MIB)).then(|| {
            let of = of.map(|of| format!(" of {}", of / MIB)).unwrap_or_default();
            format!("{name} {version}: downloading, {}{of} MiB", bytes / MIB)
        }),
        // Go first fetches the modules and lists the packages.
        Step::Building { of: 0, seconds, .. } => news(last, *tool, seconds / 10)
            .then(|| format!("{name} {version}: fetching its modules, {seconds} s")),
        Step::Building {
            compiled,
            of,
            seconds,
        } => news(last, *tool, seconds / 10).then(|| {
            format!("{name} {version}: building, {compiled} of at most {of} packages, {seconds} s")
        }),
    }
}

/// Whether a count has moved since the last line about this tool.
fn news(last: &mut Last, tool: Tool, count: u64) -> bool {
    let moved = *last != Some((tool, count));
    *last = Some((tool, count));
    moved
}

#[expect(clippy::print_stderr, reason = "progress of a command line program")]
fn say(line: &str) {
    eprintln!("{line}");
}
