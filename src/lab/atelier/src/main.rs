//! Entry point of `atelier`. It reads the options, hands over to [`atelier::cli`] and turns errors into words.

use std::process::ExitCode;

use clap::Parser as _;

#[tokio::main]
async fn main() -> ExitCode {
    let cli = atelier::cli::Cli::parse();
    match atelier::cli::run(cli).await {
        Ok(code) => code,
        Err(error) => {
            report(&error);
            ExitCode::from(2)
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the last word of a command line program goes to standard error"
)]
fn report(error: &anyhow::Error) {
    eprintln!("atelier: {error:#}");
}
