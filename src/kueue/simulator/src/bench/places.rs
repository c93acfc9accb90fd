//! One job in a data centre: how long it takes to find its place.

use std::io;

use super::worlds::data_centre;
use super::{Row, Trial};

const JOBS: &[(&str, &str)] = &[
    ("8 pods, required baie", "8 pods of gpu 1, required baie"),
    (
        "512 pods, preferred bloc",
        "512 pods of gpu 1, preferred bloc",
    ),
    (
        "512 pods, unconstrained",
        "512 pods of gpu 1, unconstrained",
    ),
    (
        "512 pods, slices of 16 per baie",
        "512 pods of gpu 1, preferred bloc, slices of 16 per baie",
    ),
];

pub(super) fn all(
    quick: bool,
    wanted: &dyn Fn(&str) -> bool,
    take: &mut dyn FnMut(Trial) -> io::Result<()>,
) -> io::Result<()> {
    let sizes: &[usize] = if quick { &[640] } else { &[640, 5_000] };
    for (title, job) in JOBS {
        for nodes in sizes.iter().copied() {
            let name = format!("{nodes} nodes, {title}");
            if !wanted(&name) {
                continue;
            }
            let row = Row {
                group: (*title).to_owned(),
                name,
                size: nodes,
            };
            take(Trial {
                row,
                world: data_centre(nodes, job),
                goes_on: false,
            })?;
        }
    }
    Ok(())
}
