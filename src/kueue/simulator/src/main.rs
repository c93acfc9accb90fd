//! `simulator [FILE]`: plays a script, standard input, or what is typed at a prompt. Ends with 1 for a script that cannot be played, with
//! 2 when something was found that must never be.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use simulator::{Player, split};

#[derive(Debug, Parser)]
#[command(
    name = "simulator",
    about = "Plays a scripted world of queues and prints it"
)]
struct Options {
    /// The script; standard input when absent, with a prompt on a terminal.
    file: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let played = match options.file {
        Some(path) => match std::fs::read_to_string(&path) {
            Ok(text) => script(&path.display().to_string(), &text),
            Err(error) => return failed(&format!("{} cannot be read: {error}", path.display())),
        },
        None if io::stdin().is_terminal() => prompt(),
        None => {
            let mut text = String::new();
            match io::stdin().read_to_string(&mut text) {
                Ok(_) => script("stdin", &text),
                Err(error) => return failed(&format!("standard input cannot be read: {error}")),
            }
        }
    };
    played.unwrap_or_else(|error| failed(&format!("the output cannot be written: {error}")))
}

fn script(name: &str, text: &str) -> io::Result<ExitCode> {
    let mut player = Player::new(name);
    let mut out = io::stdout().lock();
    match player.script(text) {
        Ok(printed) => write!(out, "{printed}")?,
        Err((printed, error)) => {
            write!(out, "{printed}")?;
            return Ok(failed(&error.to_string()));
        }
    }
    Ok(ended(&player))
}

/// One statement a line; an error does not end the session.
fn prompt() -> io::Result<ExitCode> {
    let mut player = Player::new("prompt");
    let mut out = io::stdout().lock();
    let mut lines = io::stdin().lock().lines();
    loop {
        write!(out, "> ")?;
        out.flush()?;
        let Some(line) = lines.next().transpose()? else {
            writeln!(out)?;
            return Ok(ended(&player));
        };
        for statement in split(line.trim_start()) {
            match player.play(&statement) {
                Ok(printed) => write!(out, "{printed}")?,
                Err(error) => writeln!(out, "{}", error.problem)?,
            }
        }
    }
}

fn ended(player: &Player) -> ExitCode {
    if player.violations().is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(2)
    }
}

#[expect(
    clippy::print_stderr,
    reason = "a command-line tool reports its failure here"
)]
fn failed(what: &str) -> ExitCode {
    eprintln!("{what}");
    ExitCode::FAILURE
}
