//! `simulator [FILE]`: plays a script, standard input, or what is typed at a prompt. Ends with 1 for a script that cannot be played, with
//! 2 when something was found that must never be.

mod bench;
mod clock;

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use simulator::{Player, random, split};

#[derive(Debug, Parser)]
#[command(
    name = "simulator",
    about = "Plays a scripted world of queues and prints it"
)]
#[command(args_conflicts_with_subcommands = true)]
struct Options {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// The script; standard input when absent, with a prompt on a terminal.
    file: Option<PathBuf>,
    /// Plays this many random worlds instead, and prints each violation with a script to replay it.
    #[arg(long, conflicts_with = "file")]
    worlds: Option<u64>,
    /// The seed of the first random world; the next ones count up from it.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Measures cycles, preemption and placement in worlds that grow.
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let options = Options::parse();
    let played = match options.file {
        _ if options.verb.is_some() => measured(options.verb),
        _ if options.worlds.is_some() => worlds(options.seed, options.worlds.unwrap_or_default()),
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

fn measured(verb: Option<Verb>) -> io::Result<ExitCode> {
    if let Some(Verb::Bench(options)) = verb {
        bench::run(&options, &mut io::stdout().lock())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Random worlds, with a line of progress now and then. One that finds something does not stop the others.
fn worlds(first: u64, number: u64) -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let mut wrong = 0;
    for at in 0..number {
        let seed = first.wrapping_add(at);
        if let Err(found) = random::world(seed) {
            writeln!(out, "world of seed {seed}:")?;
            for violation in &found.violations {
                writeln!(out, "VIOLATION: {violation}")?;
            }
            writeln!(out, "replay:\n{}", found.script)?;
            wrong += 1;
        }
        if (at + 1) % 1_000 == 0 {
            writeln!(out, "{} worlds", at + 1)?;
        }
    }
    if wrong > 0 {
        writeln!(
            out,
            "{number} worlds from seed {first}, {wrong} of them wrong"
        )?;
        return Ok(ExitCode::from(2));
    }
    writeln!(
        out,
        "{number} worlds from seed {first}, nothing is ever wrong"
    )?;
    Ok(ExitCode::SUCCESS)
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
