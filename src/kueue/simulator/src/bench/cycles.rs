//! Whole cycles in worlds of queues, and one preemption among many candidates.

use std::io;

use super::worlds::{Shape, candidates};
use super::{Row, Trial};

type Take<'a> = dyn FnMut(Trial) -> io::Result<()> + 'a;

pub(super) fn all(
    quick: bool,
    wanted: &dyn Fn(&str) -> bool,
    take: &mut Take<'_>,
) -> io::Result<()> {
    let sizes: &[usize] = if quick { &[30, 300] } else { &[30, 300, 1_000] };
    for (depth, preempting, fair) in [
        (1, false, false),
        (3, false, false),
        (1, true, false),
        (3, true, false),
        (1, false, true),
        (3, false, true),
        (3, true, true),
    ] {
        let group = format!(
            "depth {depth}{}{}",
            if preempting { ", preempting" } else { "" },
            if fair { ", fair sharing" } else { "" }
        );
        for queues in sizes.iter().copied() {
            let name = format!("{queues} queues × 100, {group}");
            if !wanted(&name) {
                continue;
            }
            let shape = Shape {
                queues,
                pending: 100,
                depth,
                preempting,
                fair,
            };
            let row = Row {
                group: group.clone(),
                name,
                size: queues,
            };
            take(Trial {
                row,
                world: shape.build(),
                goes_on: true,
            })?;
        }
    }
    preemptions(quick, wanted, take)
}

fn preemptions(quick: bool, wanted: &dyn Fn(&str) -> bool, take: &mut Take<'_>) -> io::Result<()> {
    let sizes: &[usize] = if quick { &[100] } else { &[100, 1_000] };
    for (reclaim, fair) in [(false, false), (true, false), (true, true)] {
        let group = match (reclaim, fair) {
            (false, _) => "in the queue",
            (true, false) => "reclaiming",
            (true, true) => "reclaiming, fair sharing",
        };
        for number in sizes.iter().copied() {
            let name = format!("{number} candidates, {group}");
            if !wanted(&name) {
                continue;
            }
            let row = Row {
                group: group.to_owned(),
                name,
                size: number,
            };
            take(Trial {
                row,
                world: candidates(number, reclaim, fair),
                goes_on: false,
            })?;
        }
    }
    Ok(())
}
