//! Scheduling: one cycle, carried out at once as the scheduling loop and the controllers would, and cycles until nothing is left to do.

use cache::{Cycle, Plan, Report};
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
        self.past.remember(&plan, &report);
        let mut happenings = self.tell_to_leave(&plan);
        for admission in &plan.admissions {
            if self.cache.assume(admission).is_err() {
                continue;
            }
            let patch = self.cache.admission_patch(admission, now);
            happenings.extend(patch.into_iter().flat_map(|patch| self.write(patch)));
            let replaced = self.cache.replacement_patch(admission, now);
            happenings.extend(replaced.into_iter().flat_map(|patch| self.write(patch)));
        }
        let settled = self.cache.settle(&report, now);
        for patch in settled.patches {
            happenings.extend(self.write(patch));
        }
        let told = settled.events.into_iter();
        happenings.extend(told.map(|(job, event)| Happening { job, event }));
        let after = self.cache.snapshot();
        self.stop_evicted(&plan);
        Some(Cycled {
            before: cycle.snapshot,
            after,
            plan,
            report,
            happenings,
        })
    }

    /// Those who have to leave are told so; they hold their quota until their jobs have stopped.
    fn tell_to_leave(&mut self, plan: &Plan) -> Vec<Happening> {
        let now = self.now;
        let mut happenings = Vec::new();
        for preemption in &plan.preemptions {
            let patch = self.cache.preemption_patch(preemption, now);
            happenings.extend(patch.into_iter().flat_map(|patch| self.write(patch)));
        }
        for eviction in &plan.evictions {
            let patch = self.cache.eviction_patch(eviction, now);
            happenings.extend(patch.into_iter().flat_map(|patch| self.write(patch)));
        }
        happenings
    }

    /// Their jobs stop.
    fn stop_evicted(&mut self, plan: &Plan) {
        let preempted = plan.preemptions.iter().map(|one| &one.target);
        let evicted = plan.evictions.iter().map(scheduler::Eviction::evicted);
        for gone in preempted.chain(evicted) {
            self.release(&gone.workload.key);
        }
    }

    /// The input of the next cycle; for measurements, which do not carry it out.
    pub fn begin_cycle(&mut self) -> Option<Cycle> {
        self.cache.begin_cycle(self.now)
    }

    /// A cycle with nothing written and nobody stopped; how long its parts took by the clock that was handed in: heads and snapshot, the
    /// decision, what it books.
    pub fn timed_cycle(&mut self, clock: &dyn Fn() -> f64) -> Option<[f64; 3]> {
        let began = clock();
        let cycle = self.cache.begin_cycle(self.now)?;
        let looked = clock();
        let (plan, report) = cycle.decide();
        let decided = clock();
        for admission in &plan.admissions {
            let _ = self.cache.assume(admission);
        }
        let _ = self.cache.settle(&report, self.now);
        let booked = clock();
        Some([looked - began, decided - looked, booked - decided])
    }

    /// Cycles until everything that fits was admitted.
    pub fn fill(&mut self) {
        while self.has_work() && self.cycle().is_some() {}
    }

    /// Whether a cycle would find something to do.
    #[must_use]
    pub fn has_work(&self) -> bool {
        let due = self.cache.next_second_pass();
        self.cache.has_work() || due.is_some_and(|due| due <= self.now)
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
