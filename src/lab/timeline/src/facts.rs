//! Entries about objects → facts about jobs. Kueue rewrites its past (a re-admission turns `Evicted` False again), so a fact is
//! a transition that was seen, never a reading of the present.

mod job;
mod pod;
mod workload;

use crate::{
    attempt::{Attempt, Details, JobFact, JobName},
    entry::{ObjectEntry, Seen},
    objects::Step,
    place::Place,
    timeline::Timeline,
};
use course::FactName;

/// Adds the facts that follow from one change of one object.
pub(crate) fn derive(timeline: &mut Timeline, entry: &ObjectEntry, step: &Step, deleted: bool) {
    match entry.kind.as_str() {
        "Job" => job::derive(timeline, entry, step, deleted),
        "Workload" => workload::derive(timeline, entry, step, deleted),
        "Pod" if !deleted => pod::derive(timeline, step),
        _ => {}
    }
}

/// The attempt with that job uid, begun when it is new. A Workload may be seen before its job.
fn attempt<'a>(timeline: &'a mut Timeline, job: JobName, uid: &str) -> &'a mut Attempt {
    let index = *timeline.by_uid.entry(uid.to_owned()).or_insert_with(|| {
        timeline.attempts.push(Attempt {
            job,
            uid: uid.to_owned(),
            facts: Vec::new(),
            workloads: Vec::new(),
            workload_uids: Vec::new(),
            touched: Vec::new(),
        });
        timeline.attempts.len() - 1
    });
    &mut timeline.attempts[index]
}

/// Appends a fact; its rank keeps the order of facts that come from one entry.
fn add(attempt: &mut Attempt, name: FactName, place: Place, details: Details) {
    let rank = attempt
        .facts
        .iter()
        .rev()
        .take_while(|fact| fact.place.seq == place.seq)
        .map(|fact| fact.place.rank + 1)
        .max()
        .unwrap_or(0);
    attempt.facts.push(JobFact {
        name,
        place: Place { rank, ..place },
        details,
        inferred: false,
    });
}

fn found_by_listing(entry: &ObjectEntry) -> bool {
    entry.seen == Seen::Listed
}

/// The gap that a change found by listing falls into: the recorder tells the gap, then what it found.
fn fell_into(timeline: &Timeline, entry: &ObjectEntry) -> Option<u64> {
    let gap = timeline.silence.gaps().last()?;
    found_by_listing(entry).then_some(gap.seq)
}
