//! Equivalence hashing: which workloads are set aside with an equal one, and how many different ones are counted.

use std::collections::BTreeMap;

use cache::pending::Place;
use scheduler::RequeueReason;
use serde_json::{Value, json};

use super::replay::{Replay, made, operations, shape};
use crate::corpus::{Case, now, read};
use crate::verdict::Verdict;

fn answer_all(replay: &mut Replay, calls: &[Value]) -> Result<(), String> {
    calls.iter().try_for_each(|call| replay.answer(call))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// Sets aside all with this hash, as after one of them did not fit. Returns how many.
fn fails(replay: &mut Replay, hash: &str) -> usize {
    let moved = |shape| replay.queue.bypass(shape, RequeueReason::NoFit, None).len();
    shape(hash).map_or(0, moved)
}

/// Whether the reason for which one goes back sets equal ones aside.
pub(super) fn trigger(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    if let Err(difference) = answer_all(&mut replay, operations(&case)) {
        return Verdict::Failed(difference);
    }
    let last = operations(&case).last().unwrap();
    let hash = last["args"]["wInfo"]["schedulingHash"].as_str().unwrap();
    let equal = replay.waiting(&made("equal", hash));
    let aside = replay.queue.push_or_update(equal, now()) == Place::Parked;
    Verdict::equal(
        "sets aside",
        &json!(aside),
        &json!(case.want["wantHash"] == true),
    )
}

pub(super) fn respected(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    for hash in read::<Vec<String>>(&case.input["inadmissibleHashes"]) {
        fails(&mut replay, &hash);
    }
    answer_all(&mut replay, operations(&case)).into()
}

pub(super) fn recorded(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    let (last, first) = operations(&case).split_last().unwrap();
    if let Err(difference) = answer_all(&mut replay, first) {
        return Verdict::Failed(difference);
    }
    let moved = fails(
        &mut replay,
        case.input["hashToRecord"].as_str().unwrap_or_default(),
    );
    Verdict::all([
        Verdict::equal(
            "moved",
            &json!(moved),
            &json!(number(&case.want["wantMoved"])),
        ),
        replay.answer(last).into(),
    ])
}

/// Equal ones are set aside, come back, and nothing is remembered.
pub(super) fn cleared(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    let calls = operations(&case);
    let hash = calls[0]["args"]["wInfo"]["schedulingHash"]
        .as_str()
        .unwrap();
    for (at, call) in calls.iter().enumerate() {
        if at == 1 {
            fails(&mut replay, hash);
        }
        if at == 2 {
            replay.queue.unpark(now(), |_| true);
        }
        if let Err(difference) = replay.answer(call) {
            return Verdict::Failed(difference);
        }
    }
    let equal = replay.waiting(&made("equal", hash));
    let place = replay.queue.push_or_update(equal, now());
    Verdict::equal("an equal one", &place, &Place::Active)
}

/// Counts of hashes that are there already.
pub(super) fn counted(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    let input = case.input;
    if input["hasInflight"] == true {
        let hash = input["inflightHash"].as_str().unwrap_or_default();
        let first = replay.waiting(&made("flying", hash));
        replay.queue.push_or_update(first, now());
        replay.queue.pop(cache::pending::Order::Plain);
    }
    for (number, hash) in read::<Vec<String>>(&input["activeHashes"])
        .iter()
        .enumerate()
    {
        let waiting = replay.waiting(&made(&format!("active-{number}"), hash));
        replay.queue.push_or_update(waiting, now());
    }
    for (number, hash) in read::<Vec<String>>(&input["inadmissibleHashes"])
        .iter()
        .enumerate()
    {
        park(&mut replay, &format!("parked-{number}"), hash);
    }
    counts(&replay, case.want)
}

fn park(replay: &mut Replay, named: &str, hash: &str) {
    // A time in the future keeps it aside whatever happened before.
    let mut info = made(named, hash);
    info["obj"]["status"] = json!({"requeueState": {"requeueAt": "2026-08-22T13:00:00Z"}});
    let waiting = replay.waiting(&info);
    replay.queue.push_or_update(waiting, now());
}

fn counts(replay: &Replay, want: &Value) -> Verdict {
    let shapes = replay.queue.shapes();
    let all = replay.queue.all_shapes();
    Verdict::all([
        Verdict::equal(
            "active",
            &json!(shapes.active),
            &json!(number(&want["wantActive"])),
        ),
        Verdict::equal(
            "parked",
            &json!(shapes.parked),
            &json!(number(&want["wantInadmissible"])),
        ),
        Verdict::equal("together", &json!(all), &json!(number(&want["wantUnion"]))),
    ])
}

/// Hashes come, change and go. What a case sets aside without a call is read from what it wants: a hash that is pushed by a call and wanted
/// aside failed, one that is not pushed was set aside.
pub(super) fn mutations(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    let calls = operations(&case);
    let wanted: BTreeMap<String, usize> = read(&case.want["wantInadmissibleCounts"]);
    let pushed = |hash: &str| {
        let infos = calls
            .iter()
            .filter(|call| call["op"] == "ClusterQueue.PushOrUpdate");
        infos
            .filter(|call| call["args"]["wInfo"]["schedulingHash"] == hash)
            .count()
    };
    let popped = calls.iter().any(|call| call["op"] == "ClusterQueue.Pop");
    for (hash, count) in &wanted {
        // One that changes where it is set aside: as it was before.
        if pushed(hash) == 1 && *count == 1 && !popped {
            let mut before = calls[0]["args"]["wInfo"].clone();
            before["schedulingHash"] = json!("before");
            replay.requeue(&json!({"wInfo": before}), false);
        }
    }
    let (last, first) = calls.split_last().unwrap();
    if let Err(difference) = answer_all(&mut replay, first) {
        return Verdict::Failed(difference);
    }
    for (hash, count) in &wanted {
        if popped {
            (0..*count).for_each(|number| park(&mut replay, &format!("parked-{number}"), hash));
        } else if pushed(hash) > 1 {
            fails(&mut replay, hash);
        }
    }
    Verdict::all([replay.answer(last).into(), counts(&replay, case.want)])
}

/// One that is set aside and known to its LocalQueue with another hash; the queue's own hash counts.
pub(super) fn transitions(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    let calls = operations(&case);
    let items: BTreeMap<String, Value> = read(&calls[0]["args"]["q"]["items"]);
    for info in items.values() {
        let mut stored = info.clone();
        stored["schedulingHash"] = json!("stored-hash");
        replay.requeue(&json!({"wInfo": stored}), false);
    }
    for call in calls {
        if call["op"] == "ClusterQueue.Pending" && number(&case.want["wantActive"]) > 0 {
            replay.queue.unpark(now(), |_| true);
        }
        if let Err(difference) = replay.answer(call) {
            return Verdict::Failed(difference);
        }
    }
    Verdict::Passed
}
