//! Runs inside a sandbox, around the real command: carries the few connections that are allowed over unix sockets,
//! sets limits, passes signals on, and ends with the command's exit code.
//!
//! It decides nothing about what is allowed; the sockets it was given are all there is. It stays out of the way of the
//! terminal, so that a shell can own it.

mod guard;
mod inbound;
mod options;
mod outbound;
mod run;

use std::process::ExitCode;

use exec::relay::environment;
use options::Options;

#[expect(
    clippy::print_stderr,
    reason = "a command line tool tells its caller what is wrong"
)]
fn main() -> ExitCode {
    let options = match Options::parse(std::env::args_os().skip(1)) {
        Ok(options) => options,
        Err(reason) => {
            eprintln!("sandbox-relay: {reason}");
            return ExitCode::from(125);
        }
    };
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("sandbox-relay: cannot start: {error}");
            return ExitCode::from(125);
        }
    };
    let env = environment::revealed(std::env::vars_os());
    match runtime.block_on(run::run(options, env)) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("sandbox-relay: {}", failure.reason);
            ExitCode::from(failure.code)
        }
    }
}
