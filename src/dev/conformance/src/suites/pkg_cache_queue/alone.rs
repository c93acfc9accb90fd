//! One queue, and what the bodies of its tests do beside the calls that were recorded.

use std::collections::BTreeMap;

use cache::pending::{Pending, Place};
use quantity::Requests;
use scheduler::Preemptor;
use serde_json::{Value, json};

use super::replay::{Replay, operations, place, run};
use crate::corpus::{Case, now, read};
use crate::verdict::Verdict;

/// Whether a workload may be tried already.
pub(super) fn backoff(case: Case<'_>) -> Verdict {
    let replay = Replay::of(&case);
    let waiting = replay.waiting(&case.input["workloadInfo"]);
    Verdict::equal(
        "is over",
        &json!(!waiting.backoff.waits(now())),
        &case.want["want"],
    )
}

/// Put back once, it is where it belongs; put back twice, nothing happens.
pub(super) fn requeue(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    let mut verdicts = Vec::new();
    for (number, operation) in operations(&case).iter().enumerate() {
        verdicts.push(replay.answer(operation).into());
        if number != 1 {
            continue;
        }
        let workload = replay.waiting(&operation["args"]["wInfo"]).workload;
        let parked = place(&replay, &workload) == Some(Place::Parked);
        verdicts.push(Verdict::equal(
            "parked",
            &json!(parked),
            &case.want["wantInadmissible"],
        ));
        if !case.want["wantSticky"].is_null() {
            let sticky = replay.queue.preempts(&workload.key, 0) != Preemptor::No;
            verdicts.push(Verdict::equal(
                "sticky",
                &json!(sticky),
                &case.want["wantSticky"],
            ));
        }
    }
    Verdict::all(verdicts)
}

/// Everything a queue is asked for, in the order of the test's body.
pub(super) fn whole(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    let input = case.input;
    let list = |name: &str| -> Vec<Value> { read(&input[name]) };
    let info = |object: &Value| json!({"obj": object});
    for object in list("workloadsToAdd") {
        let waiting = replay.waiting(&info(&object));
        replay.queue.push_or_update(waiting, now());
    }
    for (name, immediate) in [
        ("inadmissibleWorkloadsToRequeue", false),
        ("admissibleWorkloadsToRequeue", true),
    ] {
        for one in list(name) {
            replay.requeue(&json!({"wInfo": one}), immediate);
        }
    }
    for object in list("workloadsToUpdate")
        .iter()
        .filter(|object| !object.is_null())
    {
        let waiting = replay.waiting(&info(object));
        replay.queue.push_or_update(waiting, now());
    }
    for object in list("workloadsToDelete") {
        let waiting = replay.waiting(&info(&object));
        replay.queue.remove(waiting.key());
    }
    let mut verdicts = Vec::new();
    if input["queueInadmissibleWorkloads"] == true {
        // The test's client knows the namespaces ns1 (dep=eng), ns2 (dep=sales) and ns3 (dep=marketing); the queue takes the first two.
        let moved = replay
            .queue
            .unpark(now(), |key| matches!(key.namespace.as_str(), "ns1" | "ns2"));
        let want = case.want["wantInadmissibleWorkloadsRequeued"]
            .as_u64()
            .unwrap_or(0);
        verdicts.push(Verdict::equal("moved", &json!(moved), &json!(want)));
    }
    let mut active: Vec<_> = replay.queue.active().map(ToString::to_string).collect();
    active.sort();
    let mut want: Vec<String> = read(&case.want["wantActiveWorkloads"]);
    want.sort();
    verdicts.push(Verdict::equal("active", &active, &want));
    let want = case.want["wantPending"].as_u64().unwrap_or(0);
    verdicts.push(Verdict::equal(
        "pending",
        &json!(replay.queue.len()),
        &json!(want),
    ));
    Verdict::all(verdicts)
}

/// How many wait, by the labels that metrics tell apart. Where the reference says zero of a label it knew before, nothing has to be said.
pub(super) fn trackers(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    let labels = replay.options.tracked_labels.len();
    for operation in operations(&case) {
        if operation["op"] == "ClusterQueue.PendingBreakdown" {
            continue;
        }
        let difference = replay.answer(operation);
        // Workloads without UIDs have no order among them.
        if let Err(difference) = difference
            && operation["op"] != "ClusterQueue.Pop"
        {
            return Verdict::Failed(difference);
        }
    }
    let breakdown = |replay: &Replay, of: fn(&Pending) -> usize| -> BTreeMap<Vec<String>, usize> {
        let counts = replay.queue.breakdown();
        let counts = counts
            .iter()
            .map(|(values, pending)| (values.clone(), of(pending)));
        counts.filter(|(_, count)| *count > 0).collect()
    };
    let wanted = |name: &str| -> BTreeMap<Vec<String>, usize> {
        let entries: Vec<Value> = read(&case.want[name]);
        let one = |entry: &Value| {
            let mut values: Vec<String> = read(&entry["key"]);
            values.truncate(labels);
            (values, read::<usize>(&entry["value"]))
        };
        entries
            .iter()
            .map(one)
            .filter(|(_, count)| *count > 0)
            .collect()
    };
    let before = breakdown(&replay, |pending| pending.active);
    if before != wanted("wantPending") {
        // A test body may have given all parked workloads another chance, which is no call of its own.
        replay.queue.unpark(now(), |_| true);
    }
    Verdict::all([
        Verdict::equal(
            "active",
            &breakdown(&replay, |pending| pending.active),
            &wanted("wantPending"),
        ),
        Verdict::equal(
            "parked",
            &breakdown(&replay, |pending| pending.parked),
            &wanted("wantInadmissible"),
        ),
    ])
}

/// Why an equal workload did not fit.
pub(super) fn no_fit(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    for operation in operations(&case) {
        if operation["op"] == "ClusterQueue.GetNoFitReason"
            && case.input["deleteFromInadmissible"] == true
        {
            let key = super::replay::key(&operation["args"]["wl"]);
            replay.queue.remove(&key);
        }
        if let Err(difference) = replay.answer(operation) {
            return Verdict::Failed(difference);
        }
    }
    Verdict::Passed
}

/// A LocalQueue takes its workloads away, those that were set aside included.
pub(super) fn leave(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    let mut calls = operations(&case).iter().peekable();
    while let Some(operation) = calls.next() {
        let last_push = operation["op"] == "ClusterQueue.PushOrUpdate"
            && calls
                .peek()
                .is_some_and(|next| next["op"] != operation["op"]);
        if let Err(difference) = replay.answer(operation) {
            return Verdict::Failed(difference);
        }
        if !last_push {
            continue;
        }
        let taken = operations(&case)
            .iter()
            .map(|call| &call["args"]["q"]["items"]);
        for item in taken
            .filter_map(Value::as_object)
            .flat_map(|items| items.values())
        {
            replay.requeue(&json!({"wInfo": item}), false);
        }
    }
    Verdict::Passed
}

/// What all ask for together, the one being tried and one that is set aside included.
pub(super) fn resources(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    let mut want = Requests::new();
    let aside = json!({"wInfo": {"obj": {
        "metadata": {"namespace": "default", "name": "aside"},
        "spec": {"podSets": [{"name": "main", "count": 1, "template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "512Mi"}}}]}}}]},
    }}});
    replay.requeue(&aside, false);
    let pushed = operations(&case).iter().map(|call| &call["args"]["wInfo"]);
    for info in pushed
        .chain([&aside["wInfo"]])
        .filter(|info| !info.is_null())
    {
        for pod_set in &replay.waiting(info).workload.pod_sets {
            want.add_all(&pod_set.per_pod.times(pod_set.count));
        }
    }
    for operation in operations(&case) {
        if let Err(difference) = replay.answer(operation) {
            return Verdict::Failed(difference);
        }
    }
    Verdict::equal("resources", &replay.queue.resources(), &want)
}

/// A LocalQueue shows its workloads again; the queue knows them already.
pub(super) fn resync(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    let mut key = None;
    for operation in operations(&case) {
        if operation["op"] == "ClusterQueue.AddFromLocalQueue" {
            let items: BTreeMap<String, Value> = read(&operation["args"]["q"]["items"]);
            for item in items.values() {
                let waiting = replay.waiting(item);
                key = Some(waiting.key().clone());
                if replay.queue.place(waiting.key()).is_none() {
                    replay.requeue(&json!({"wInfo": item}), false);
                }
            }
        }
        if let Err(difference) = replay.answer(operation) {
            return Verdict::Failed(difference);
        }
    }
    let key = key.unwrap();
    if case.want["wantInHeap"] == true && replay.queue.place(&key) == Some(Place::Parked) {
        replay.queue.unpark(now(), |_| true);
    }
    let at = |place: Place| json!(replay.queue.place(&key) == Some(place));
    let held = i64::from(replay.queue.place(&key).is_some());
    let total = replay.queue.resources().get(&"cpu".into()).value();
    Verdict::all([
        Verdict::equal("in the heap", &at(Place::Active), &case.want["wantInHeap"]),
        Verdict::equal(
            "set aside",
            &at(Place::Parked),
            &case.want["wantInInadmissible"],
        ),
        Verdict::equal(
            "being tried",
            &at(Place::InFlight),
            &case.want["wantInInflight"],
        ),
        Verdict::equal(
            "active",
            &json!(replay.queue.pending().active),
            &case.want["wantPendingActive"],
        ),
        Verdict::equal("cpu", &total, &(1000 * held)),
    ])
}

/// A workload changes while it is tried.
pub(super) fn generation(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    let mut popped = false;
    for operation in operations(&case) {
        if popped && operation["op"] == "ClusterQueue.PushOrUpdate" {
            replay.requeue(
                &json!({"wInfo": {"obj": case.input["updatedWorkload"]}}),
                false,
            );
        }
        popped |= operation["op"] == "ClusterQueue.Pop";
        if let Err(difference) = replay.answer(operation) {
            return Verdict::Failed(difference);
        }
    }
    Verdict::Passed
}

/// The order of all, those that are set aside included.
pub(super) fn order(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    let mut aside = false;
    for operation in operations(&case) {
        if operation["op"] == "ClusterQueue.Snapshot" && !aside {
            aside = true;
            for object in read::<Vec<Value>>(&case.input["inadmissibleWorkloads"]) {
                replay.requeue(&json!({"wInfo": {"obj": object}}), false);
            }
        }
        if let Err(difference) = replay.answer(operation) {
            return Verdict::Failed(difference);
        }
    }
    Verdict::Passed
}

/// What was pushed is popped, or set aside while it has to wait.
pub(super) fn push(case: Case<'_>) -> Verdict {
    let replayed = run(case);
    let wanted = case.want["wantInAdmissibleWorkloads"].as_object();
    let mut replay = Replay::of(&case);
    for operation in operations(&case) {
        let _ = replay.answer(operation);
    }
    let mut want: Vec<String> = wanted
        .into_iter()
        .flatten()
        .map(|(key, _)| key.clone())
        .collect();
    want.sort();
    let parked: Vec<_> = replay.queue.parked().map(ToString::to_string).collect();
    Verdict::all([replayed, Verdict::equal("parked", &parked, &want)])
}
