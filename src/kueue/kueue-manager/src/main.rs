//! The controller's binary: options, configuration file, wiring, shutdown. Everything it starts lives in other rooms.

mod clock;
mod manager;
mod options;
mod settings;

#[cfg(test)]
mod tests;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser;

use options::Options;

/// Exit status after a mistake in options or configuration, which a restart cannot mend.
const MISUSE: u8 = 2;

fn main() -> ExitCode {
    let options = Options::parse();
    if let Err(error) = options.install_log() {
        return fail("options", &error, MISUSE);
    }
    let configuration = match settings::load(&options) {
        Ok(configuration) => configuration,
        Err(error) => return fail("configuration", &error, MISUSE),
    };
    if rustls::crypto::ring::default_provider()
        .install_default()
        .is_err()
    {
        tracing::warn!("a TLS provider was installed already");
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return fail("start", &error.into(), 1),
    };
    match runtime.block_on(manager::run(options, configuration)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail("run", &error, 1),
    }
}

/// The log may not be there yet when this is needed. Where nobody reads standard error, the status still says it.
fn fail(what: &str, error: &anyhow::Error, status: u8) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "kueue-manager: {what}: {error:#}");
    ExitCode::from(status)
}
