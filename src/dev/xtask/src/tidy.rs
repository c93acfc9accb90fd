//! The rules of the house that a compiler does not check. Each check gives a list of problems; an empty list is a pass.
//! They run in the ordinary test run too (`tests/house.rs`), so that CI has no private rules.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use cargo_metadata::{Metadata, MetadataCommand};

use crate::run::{self, say};

mod files;
mod labs;
mod licences;
mod manifests;
mod rooms;

/// Runs every check on the workspace and prints what is wrong.
///
/// # Errors
/// When the workspace itself cannot be read.
pub fn report() -> anyhow::Result<ExitCode> {
    let problems = problems(&run::root())?;
    for problem in &problems {
        say(&format!("tidy: {problem}"));
    }
    say(&format!("── tidy: {} problems", problems.len()));
    Ok(if problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Everything that is wrong in the workspace at `root`, a sentence each.
///
/// # Errors
/// When the workspace cannot be read.
pub fn problems(root: &Path) -> anyhow::Result<Vec<String>> {
    let metadata = metadata(root)?;
    let mut problems = rooms::check(&metadata);
    problems.extend(licences::check(&metadata));
    problems.extend(manifests::check(root, &metadata)?);
    problems.extend(files::check(root)?);
    problems.extend(labs::check(root)?);
    Ok(problems)
}

fn metadata(root: &Path) -> anyhow::Result<Metadata> {
    let mut command = MetadataCommand::new();
    command
        .current_dir(root)
        .other_options(vec!["--locked".to_owned(), "--offline".to_owned()]);
    command
        .exec()
        .or_else(|_| MetadataCommand::new().current_dir(root).exec())
        .context("cargo metadata failed")
}
