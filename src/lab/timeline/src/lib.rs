//! The recorded history of one cluster, the facts that follow from it, and the verdicts of a lab's criteria.
//! Entries go in, verdicts come out: no client, no clock, no store. Start at [`Timeline::push`] and [`verdict`].

mod attempt;
mod board;
mod entry;
mod evidence;
mod facts;
mod json;
mod judge;
mod memo;
mod objects;
mod outcome;
mod place;
mod prune;
mod quantity;
mod reservations;
mod rule;
mod silence;
mod timeline;
mod verdict;

pub use attempt::{Attempt, Details, JobFact, JobName};
pub use board::{
    Board, BoardNode, BoardPod, BoardQueue, BoardWorkload, FlavorUse, WorkloadState, board,
};
pub use entry::{Entry, ObjectEntry, Seen, Verb, What};
pub use evidence::Evidence;
pub use judge::Judge;
pub use objects::{Life, Version};
pub use outcome::Reason;
pub use place::Place;
pub use prune::prune;
pub use quantity::quantity;
pub use timeline::{Answer, Timeline};
pub use verdict::{LabVerdicts, State, StepVerdicts, Verdict, verdict};
