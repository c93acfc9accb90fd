//! `cargo xtask test`: everything CI runs, cheapest refusal first, and one closing line with the counts.

mod kind;

use std::process::ExitCode;
use std::time::Instant;

use crate::{frontend, packages, run, tidy, up};

/// Counts of one run, read from the closing lines of the test programs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    passed: u64,
    failed: u64,
    skipped: u64,
}

/// Runs all layers. With `quick`, real clusters and the browser are left out.
///
/// # Errors
/// The first layer that refused; test failures are counted to the end and then refuse.
#[expect(
    clippy::disallowed_methods,
    reason = "how much of the time that a run has is left"
)]
pub fn all(quick: bool) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    packages::languages()?;
    packages::install(packages::FOR_SERVING)?;
    if !quick {
        packages::install(packages::FOR_TESTING)?;
    }
    run::step("formatting", run::cargo().args(["fmt", "--all", "--check"]))?;
    if tidy::report()? != ExitCode::SUCCESS {
        anyhow::bail!("tidy found the problems listed above");
    }
    frontend::bundle()?;
    run::step(
        "front end: checks",
        run::command("npm").args(["--prefix", "static", "test"]),
    )?;
    let lints = [
        "clippy",
        "--locked",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    run::step("clippy", run::cargo().args(lints))?;
    // Built once with every target, so that binaries and tests share one set of features and nothing is compiled twice.
    run::step(
        "build of tests and binaries",
        run::cargo().args(["build", "--locked", "--workspace", "--all-targets"]),
    )?;
    run::step(
        "tools: control plane, kubectl, kwok, helm",
        &mut up::tools()?,
    )?;
    // Always the whole workspace: a selection of packages would resolve other features and compile dependencies again.
    // Cargo runs one test program after the other, so those that boot control planes have the machine to themselves.
    let mut command = run::cargo();
    command.args(["test", "--locked", "--no-fail-fast", "--workspace"]);
    if quick {
        command.args(["--exclude", "clusters", "--exclude", "e2e"]);
    }
    let engine = if quick {
        kind::Engine::left_out()
    } else {
        kind::Engine::up(begun)
    };
    engine.tell(&mut command);
    let mut counts = Counts::default();
    let green = run::watched("tests", &mut command, |line| counts.read(line))?;
    drop(engine);
    run::say(&format!(
        "{} passed, {} failed, {} skipped",
        counts.passed, counts.failed, counts.skipped
    ));
    Ok(if green && counts.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Counts {
    /// Takes in one line of output: a closing line of a test program, or a test that says it was skipped.
    pub fn read(&mut self, line: &str) {
        if line.starts_with("skipped: ") {
            self.skipped += 1;
        }
        let Some((_, counts)) = line
            .split_once("test result: ")
            .and_then(|(_, rest)| rest.split_once(". "))
        else {
            return;
        };
        for part in counts.split("; ") {
            let mut words = part.split_whitespace();
            let number = words
                .next()
                .and_then(|word| word.parse::<u64>().ok())
                .unwrap_or(0);
            match words.next() {
                Some("passed") => self.passed += number,
                Some("failed") => self.failed += number,
                Some("ignored") => self.skipped += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod counting;
