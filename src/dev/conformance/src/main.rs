//! `conformance [DIR]`: runs a directory of cases and says what came of them. Exit code 1 if a case fails, 2 if the directory cannot be read.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use conformance::report::{self, Detail};
use conformance::{corpus, run, verdict::Verdict};

#[derive(Debug, Parser)]
#[command(
    name = "conformance",
    about = "Run the reference's own cases against this project",
    long_about = "Runs a directory of cases kept as data: DIR/FOLDER/TEST.json, one folder a package of the reference and one file a test. \
                  Prints a line for each file, the reasons of what was skipped, a line for each folder, and last the sum.",
    after_help = "Examples:\n  conformance --suite pkg-scheduler --verbose\n  conformance --case \"workload fits in single clusterQueue\"\n  conformance /path/to/other/cases"
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

fn main() -> ExitCode {
    run(Options::parse()).unwrap_or_else(|error| {
        let _ = writeln!(std::io::stderr(), "conformance: {error:#}");
        ExitCode::from(2)
    })
}

fn run(options: Options) -> anyhow::Result<ExitCode> {
    let directory = options.directory.unwrap_or_else(corpus::beside_the_project);
    let files = corpus::files(&directory, &options.suite)?;
    let ran = run::run(&files, options.case.as_deref());
    let detail = match (options.case, options.verbose) {
        (Some(_), _) => Detail::Everything,
        (None, true) => Detail::Differences,
        (None, false) => Detail::Names,
    };
    // Whoever reads only the first lines and closes the pipe has seen what they wanted.
    let _ = std::io::stdout().write_all(report::text(&ran, detail).as_bytes());
    let failed = ran
        .iter()
        .any(|one| matches!(one.verdict, Verdict::Failed(_)));
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
