//! `conformance [DIR]`: runs a directory of cases and says what came of them. Fails if a case fails.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use conformance::{corpus, report, run, verdict::Verdict};

#[derive(Debug, Parser)]
#[command(
    name = "conformance",
    about = "Run the reference's own cases against this project"
)]
struct Options {
    /// A directory laid out like the corpus; by default the one beside the project.
    directory: Option<PathBuf>,
    /// A folder of it; may be given several times. All folders if absent.
    #[arg(long)]
    suite: Vec<String>,
    /// Only cases whose name contains this; shows what was decided and what was expected.
    #[arg(long)]
    case: Option<String>,
    /// Show the difference of every failed case.
    #[arg(long)]
    verbose: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    let directory = options.directory.unwrap_or_else(corpus::beside_the_project);
    let files = corpus::files(&directory, &options.suite)?;
    let ran = run::run(&files, options.case.as_deref());
    let verbose = options.verbose || options.case.is_some();
    // Whoever reads only the first lines and closes the pipe has seen what they wanted.
    let _ = std::io::stdout().write_all(report::text(&ran, verbose).as_bytes());
    let failed = ran
        .iter()
        .any(|one| matches!(one.verdict, Verdict::Failed(_)));
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
