//! Scheduling: one cycle, carried out at once as the scheduling loop and the controllers would, and cycles until nothing is left to do.

use cache::{Plan, Report};
use scheduler::Snapshot;

use super::World;
use super::jobs::Happening;

/// No script and no world of a few dozen jobs needs more cycles before it is quiet.
pub const MOST_CYCLES: usize = 1_000;

/// A cycle and what came of it.
#[derive(Clone, Debug)]
pub struct Cycled {
    /// The world before.
    pub before: Snapshot,
    /// The world when everything admitted held its quota and nobody had left yet.
    pub after: Snapshot,
    /// What was decided.
    pub plan: Plan,
    /// About whom and why.
    pub report: Report,
    /// What to tell.
    pub happenings: Vec<Happening>,
}

/// A world that never comes to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

impl World {
    /// One cycle; `None` if there is nothing to do.
    pub fn cycle(&mut self) -> Option<Cycled> {
        let now = self.now;
        let cycle = self.cache.begin_cycle(now)?;
        let (plan, report) = cycle.run();
        let mut happenings = Vec::new();
        for admission in &plan.admissions {
            if self.cache.assume(admission).is_err() {
                continue;
            }
            let patch = self.cache.admission_patch(admission, now);
            happenings.extend(patch.into_iter().flat_map(|patch| self.write(patch)));
        }
        let settled = self.cache.settle(&report, now);
        for patch in settled.patches {
            happenings.extend(self.write(patch));
        }
        let after = self.cache.snapshot();
        Some(Cycled {
            before: cycle.snapshot,
            after,
            plan,
            report,
            happenings,
        })
    }

    /// Whether a cycle would find something to do.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.cache.has_work()
    }

    /// Cycles until nothing is left to do; each is shown to `look`.
    ///
    /// # Errors
    /// When that is not reached within [`MOST_CYCLES`].
    pub fn run(&mut self, mut look: impl FnMut(&mut Self, Cycled)) -> Result<(), Busy> {
        for _ in 0..MOST_CYCLES {
            if !self.has_work() {
                return Ok(());
            }
            if let Some(cycled) = self.cycle() {
                look(self, cycled);
            }
        }
        Err(Busy)
    }
}
