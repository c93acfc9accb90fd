//! Each word of criteria: what passes, what waits, what fails and why.

#![expect(
    clippy::too_many_lines,
    clippy::semicolon_if_nothing_returned,
    reason = "tables of cases; rustfmt breaks their one-line histories into blocks"
)]

mod objects;
mod order;
mod reaches;

use crate::world::World;

/// A name, a history, and what the criterion makes of it.
type Case = (&'static str, fn(&mut World), &'static str);

fn check(criterion: &str, cases: &[Case]) {
    for (name, history, expected) in cases {
        let mut world = World::new();
        history(&mut world);
        assert_eq!(world.told(criterion), *expected, "{name}: {criterion}");
    }
}
