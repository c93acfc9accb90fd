//! `atelier doctor`: what is missing on this machine, and how to get it. It looks and advises; it changes nothing.

mod checks;
mod probe;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use crate::options::Options;
use checks::{Finding, Severity};

/// Arguments of `atelier doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many environments at once are planned, for the advice on memory and disk
    #[arg(long, default_value_t = 1)]
    environments: u64,
}

/// Carries out `atelier doctor`. Succeeds unless something is missing that the platform cannot do without.
///
/// # Errors
/// Never so far; the signature is that of every command.
pub async fn run(options: &Options, args: Args) -> anyhow::Result<ExitCode> {
    let facts = probe::facts(options).await;
    let findings = checks::all(&facts, args.environments);
    say(&report(&findings, facts.debian));
    let fatal = findings
        .iter()
        .any(|finding| finding.severity == Severity::Missing);
    Ok(if fatal {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The findings as text, and one command for all packages that are missing.
fn report(findings: &[Finding], debian: bool) -> String {
    let mut lines: Vec<String> = findings.iter().map(line).collect();
    let mut packages: Vec<&str> = findings
        .iter()
        .filter_map(|finding| finding.package)
        .collect();
    packages.sort_unstable();
    packages.dedup();
    if !packages.is_empty() {
        let command = if debian {
            "sudo apt-get install -y"
        } else {
            "install with this system's package manager:"
        };
        lines.push(format!("\n{command} {}", packages.join(" ")));
    }
    lines.join("\n")
}

fn line(finding: &Finding) -> String {
    let mark = match finding.severity {
        Severity::Good => "✓",
        Severity::Advice => "!",
        Severity::Missing => "✕",
    };
    let advice = finding
        .advice
        .as_ref()
        .map(|advice| format!("\n    → {advice}"))
        .unwrap_or_default();
    format!("{mark} {}: {}{advice}", finding.what, finding.found)
}

#[expect(
    clippy::print_stdout,
    reason = "a command line program answers on standard output"
)]
fn say(text: &str) {
    println!("{text}");
}
