//! Rounds, and the lower quartile of what they took.

use simulator::World;

use crate::clock;

/// Lower quartiles in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    pub(super) snapshot: f64,
    pub(super) decision: f64,
    pub(super) booking: f64,
}

impl Measured {
    pub(super) fn total(&self) -> f64 {
        self.snapshot + self.decision + self.booking
    }
}

/// Runs up to `rounds` cycles and takes the lower quartile of each part; the first cycle, which builds what later ones share, does not count.
pub(super) fn cycles(world: &mut World, rounds: usize) -> Measured {
    let mut parts: [Vec<f64>; 3] = Default::default();
    for round in 0..=rounds {
        let Some(timed) = world.timed_cycle(&clock::microseconds) else {
            break;
        };
        if round == 0 {
            continue;
        }
        for (all, part) in parts.iter_mut().zip(timed) {
            all.push(part);
        }
    }
    let [snapshot, decision, booking] = parts.map(quartile);
    Measured {
        snapshot,
        decision,
        booking,
    }
}

/// The same cycle again and again: what it decides is thrown away.
pub(super) fn same_cycle(world: &mut World, rounds: usize) -> Measured {
    let begun = clock::microseconds();
    let Some(cycle) = world.begin_cycle() else {
        return Measured::default();
    };
    let snapshot = clock::microseconds() - begun;
    let mut decisions = Vec::new();
    for _ in 0..rounds {
        let begun = clock::microseconds();
        let decided = cycle.run();
        decisions.push(clock::microseconds() - begun);
        std::hint::black_box(decided);
    }
    Measured {
        snapshot,
        decision: quartile(decisions),
        booking: 0.0,
    }
}

fn quartile(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 4).copied().unwrap_or_default()
}
