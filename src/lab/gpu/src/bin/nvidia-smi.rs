//! `nvidia-smi` of a container with faked GPUs. Linked statically, for it must run in whatever image a trainee chooses.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use gpu::{daemon, inventory, smi};

/// Fails where a container has no device, with the words of the real one.
const NO_DRIVER: &str = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.";

#[expect(
    clippy::print_stderr,
    reason = "a command-line tool says what is wrong"
)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match smi::parse(&arguments).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(9)
        }
    }
}

fn run(options: &smi::Options) -> Result<(), String> {
    loop {
        let folder = Path::new(inventory::DEVICES_INSIDE);
        let readings = if options.asked == smi::Asked::Help {
            Vec::new()
        } else {
            daemon::visible(folder).map_err(|_| NO_DRIVER.to_owned())?
        };
        let text = smi::render(options, &readings, &time())?;
        let mut out = std::io::stdout().lock();
        if out
            .write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .is_err()
        {
            // Whoever read it, such as `head`, has seen enough.
            return Ok(());
        }
        let Some(seconds) = options.every else {
            return Ok(());
        };
        pause(Duration::from_secs(seconds));
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "-l repeats for a person who watches"
)]
fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// The moment in universal time, as the first line of the table.
#[expect(clippy::disallowed_methods, reason = "the clock of this binary")]
fn time() -> String {
    jiff::Timestamp::now()
        .strftime("%a %b %e %H:%M:%S %Y")
        .to_string()
}
