//! `simulator bench`: what a cycle costs, and how that grows with the world. One row a world; each figure is the lower quartile of several
//! rounds, so that a busy machine disturbs little. The column `grows` compares a row with the one before.
//!
//! A cycle is everything between "there are heads" and "the next one may begin": heads and snapshot, the decision, what it books in the cache.

mod cycles;
mod measure;
mod places;
mod worlds;
mod written;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use measure::{cycles, same_cycle};
use simulator::World;

/// How often each world is measured.
const ROUNDS: usize = 9;

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Only rows whose names contain this.
    #[arg(long)]
    only: Option<String>,
    /// Only the row of this name.
    #[arg(long)]
    exactly: Option<String>,
    /// Leave out the largest worlds.
    #[arg(long)]
    quick: bool,
    /// Measure nothing: write each world as a Kubernetes List into this folder, for another scheduler to be measured on it.
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

/// One row of the table.
pub(crate) struct Row {
    /// The group of rows that grow together.
    group: String,
    /// Which of them.
    name: String,
    /// How many objects matter most in it.
    size: usize,
}

/// A world and what is measured in it.
pub(crate) struct Trial {
    row: Row,
    world: World,
    /// Whether cycle follows cycle; otherwise the first one is decided again and again.
    goes_on: bool,
}

/// Prints the table, or writes the worlds.
pub(crate) fn run(options: &Options, out: &mut impl Write) -> io::Result<()> {
    if let Some(folder) = &options.write {
        return trials(options, &mut |trial| written::write(folder, &trial));
    }
    writeln!(
        out,
        "{:<46} {:>11} {:>11} {:>11} {:>7}",
        "", "snapshot", "decision", "cycle", "grows"
    )?;
    let mut before: Option<(String, usize, f64)> = None;
    trials(options, &mut |Trial {
                              row,
                              mut world,
                              goes_on,
                          }| {
        let measured = if goes_on {
            cycles(&mut world, ROUNDS)
        } else {
            same_cycle(&mut world, ROUNDS)
        };
        let grows = before.as_ref().filter(|(group, _, _)| *group == row.group);
        let grows = grows.map_or(String::new(), |(_, size, total)| {
            format!(
                "{:.1}/{:.1}",
                measured.total() / total,
                ratio(row.size, *size)
            )
        });
        writeln!(
            out,
            "{:<46} {:>11} {:>11} {:>11} {grows:>7}",
            row.name,
            shown(measured.snapshot),
            shown(measured.decision),
            shown(measured.total()),
        )?;
        out.flush()?;
        before = Some((row.group, row.size, measured.total()));
        Ok(())
    })
}

/// Every wanted world, one at a time.
fn trials(options: &Options, take: &mut dyn FnMut(Trial) -> io::Result<()>) -> io::Result<()> {
    let wanted = |name: &str| {
        options
            .only
            .as_ref()
            .is_none_or(|only| name.contains(only.as_str()))
            && options.exactly.as_ref().is_none_or(|only| name == only)
    };
    cycles::all(options.quick, &wanted, take)?;
    places::all(options.quick, &wanted, take)
}

#[expect(clippy::cast_precision_loss, reason = "sizes of a few thousand")]
fn ratio(larger: usize, smaller: usize) -> f64 {
    larger as f64 / smaller.max(1) as f64
}

fn shown(microseconds: f64) -> String {
    if microseconds < 1_000.0 {
        format!("{microseconds:.1} µs")
    } else {
        format!("{:.2} ms", microseconds / 1_000.0)
    }
}
