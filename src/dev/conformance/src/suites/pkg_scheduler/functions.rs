//! Parts of a cycle on their own: who comes first, what is kept of a search, what is reserved, how a workload goes back.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use cache::{Cache, ClusterQueueName, Options, PodsReadyTimestamp};
use kueue_api::v1beta2::{ClusterQueue, Workload as Object};
use scheduler::{
    AdmissionFairSharing, Assignment, Contender, Entry, Head, LastAssignment, Outcome, Preemptor,
    Share, Turn, Usage, Weight, Workload, messages, reserved,
};
use serde_json::{Value, json};

use crate::corpus::{Case, flavor_resource, now, parse, read, usage};
use crate::verdict::Verdict;
use crate::world::{World, key, options};

/// A Workload object as the scheduler sees it.
fn workload(object: &Value, options: Options) -> Arc<Workload> {
    let object: Object = parse(object);
    let mut cache = Cache::new(options);
    let _ = cache.apply_workload(&object, now());
    cache.workload(&key(&object)).unwrap()
}

fn share(case: &Case<'_>, of: &str) -> Share {
    let all: Vec<Value> = read(&case.input["drsValues"]);
    let own = |one: &&Value| {
        one["key"]["workloadKey"] == of && one["key"]["parentCohort"] == case.common["cohort"]
    };
    let value = all
        .iter()
        .find(own)
        .map_or(&Value::Null, |one| &one["value"]);
    let weight = value["fairWeight"].as_f64().unwrap_or(0.0);
    let ratio = value["unweightedRatio"].as_f64().unwrap_or(0.0);
    let borrowed: Vec<String> = read(&value["borrowedFRs"]);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "weights of the corpus are small"
    )]
    let weight = Weight::from_nano((weight * 1e9) as i128);
    Share::from_parts(ratio, weight)
        .borrowing(borrowed.iter().map(|of| flavor_resource(of)).collect())
}

fn preemptor(entry: &Value) -> Preemptor {
    if entry["head"]["isPreemptor"] == true {
        Preemptor::Waits
    } else {
        Preemptor::No
    }
}

/// Which of two entries wins in a cohort.
pub(super) fn entry_comparer_less(case: Case<'_>) -> Verdict {
    let options = options(&case);
    let object = |side: &str| &case.input[side]["head"]["info"]["obj"];
    let name = |side: &str| parse::<Object>(object(side)).key();
    let asked = |side: &str| usage(&case.input["requestedFRs"][name(side).as_str()]);
    let (shares, workloads) = (
        ["a", "b"].map(|side| share(&case, &name(side))),
        ["a", "b"].map(|side| workload(object(side), options.clone())),
    );
    let asked: [Usage; 2] = ["a", "b"].map(asked);
    let contender = |index: usize, side: &str| Contender {
        preemptor: preemptor(&case.input[side]),
        share: &shares[index],
        asked: &asked[index],
        priority: workloads[index].priority,
        queued: workloads[index].queued,
    };
    let (a, b) = (contender(0, "a"), contender(1, "b"));
    let wanted = case.want["wantLess"] == true;
    Verdict::equal("a before b", &a.wins_over(&b, &options.policy()), &wanted)
}

/// The order of entries without fair sharing.
pub(super) fn entry_ordering(case: Case<'_>) -> Verdict {
    let ordering = &case.input["workloadOrdering"]["podsReadyRequeuingTimestamp"];
    let options = Options {
        pods_ready_timestamp: if ordering == "Creation" {
            PodsReadyTimestamp::Creation
        } else {
            PodsReadyTimestamp::Eviction
        },
        ..options(&case)
    };
    let policy = options.policy();
    let turn = |entry: &Value| {
        let object = &entry["head"]["info"]["obj"];
        let workload = workload(object, options.clone());
        let turn = Turn {
            reserved: parse::<Object>(object).has_quota_reservation(),
            preemptor: preemptor(entry),
            borrowing: read(&entry["assignment"]["borrowing"]),
            priority: workload.priority,
            queued: workload.queued,
        };
        (turn, workload.key.name.to_string())
    };
    let mut entries: Vec<_> = read::<Vec<Value>>(&case.input["input"])
        .iter()
        .map(turn)
        .collect();
    entries.sort_by_cached_key(|(turn, _)| turn.rank(&policy));
    let got: Vec<String> = entries.into_iter().map(|(_, name)| name).collect();
    Verdict::equal("order", &got, &read::<Vec<String>>(&case.want["wantOrder"]))
}

/// Whether what is remembered of a search still holds.
pub(super) fn last_assignment_outdated(case: Case<'_>) -> Verdict {
    let args = &case.input["args"];
    let shape = |text: &Value| {
        let text = text
            .as_str()
            .filter(|text| !["", "unknown"].contains(text))?;
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Some(hasher.finish())
    };
    let mut last = LastAssignment::default();
    last.generation = read(&args["last"]["clusterQueueGeneration"]);
    last.cycle = read(&args["last"]["schedulingCycle"]);
    last.shape = shape(&args["last"]["schedulingHash"]);
    let got = last.outdated(
        read(&args["currentCQGeneration"]),
        read(&args["currentSchedulingCycle"]),
        shape(&args["currentSchedulingHash"]),
        &options(&case).policy(),
    );
    Verdict::equal("outdated", &got, &(case.want["want"] == true))
}

/// What a preemptor keeps for itself within the cycle.
pub(super) fn resources_to_reserve(case: Case<'_>) -> Verdict {
    let queue: ClusterQueue = parse(&case.common["cq"]);
    let name = ClusterQueueName::from(queue.name());
    let mut cache = Cache::new(options(&case));
    let _ = cache.apply_cluster_queue(&queue, now());
    let mut snapshot = cache.snapshot();
    snapshot.tree.add(&name, &usage(&case.input["cqUsage"]));
    let asked = usage(&case.input["assignmentUsage"]);
    let got = if case.input["assignmentMode"] == "Preempt" {
        let node = snapshot.tree.cluster_queue(&name).unwrap();
        let borrows = read::<usize>(&case.input["borrowing"]) > 0;
        let queue = &snapshot.cluster_queues[&name];
        reserved(&snapshot.tree, node, queue, &asked, borrows)
    } else {
        asked
    };
    Verdict::equal("reserved", &got, &usage(&case.want["wantReserved"]))
}

/// An entry about a workload without anything else.
fn entry(outcome: Outcome, options: &Options) -> Entry {
    let object = json!({"metadata": {"name": "wl", "namespace": "ns"}, "spec": {}});
    let head = Head {
        workload: workload(&object, options.clone()),
        cluster_queue: ClusterQueueName::from("cq"),
        generation: 0,
        namespace: None,
        last: None,
        preemptor: Preemptor::No,
    };
    let kept = outcome.keeps_progress(&options.policy());
    Entry::of(&head, outcome, kept.then(LastAssignment::default))
}

/// What is said and kept after workloads were told to leave.
pub(super) fn mark_preemption_outcome(case: Case<'_>) -> Verdict {
    let failed: usize = read(&case.input["errors"]);
    let outcome = Outcome::Preempting {
        assignment: Assignment::default(),
        issued: read::<usize>(&case.input["preempted"]) + failed,
        failed,
    };
    let entry = entry(outcome, &options(&case));
    let message = format!("fits with preemption{}", messages::pending(&entry).unwrap());
    let reason = entry.requeue_reason().map(|reason| format!("{reason:?}"));
    Verdict::all([
        Verdict::equal("message", &json!(message), &case.want["wantMessage"]),
        Verdict::equal("reason", &json!(reason), &case.want["wantRequeueReason"]),
        Verdict::equal(
            "dropped",
            &entry.last.is_none(),
            &(case.want["wantLastAssignmentNil"] == true),
        ),
    ])
}

/// What is kept when somebody else was faster.
pub(super) fn mark_skipped(case: Case<'_>) -> Verdict {
    let entry = entry(Outcome::NoLongerFits, &options(&case));
    let wanted = case.want["wantLastAssignmentNil"] == true;
    Verdict::equal("dropped", &entry.last.is_none(), &wanted)
}

/// Whether an admission raises the usage of its LocalQueue at once.
pub(super) fn should_apply_entry_penalty(case: Case<'_>) -> Verdict {
    let mut options = options(&case);
    let configured = !case.input["afsConfig"].is_null();
    options.admission_fair_sharing = configured.then(AdmissionFairSharing::default);
    let mut spec = json!({});
    if !case.input["admissionMode"].is_null() {
        spec = json!({"admissionScope": {"admissionMode": case.input["admissionMode"]}});
    }
    let queue = json!({"metadata": {"name": "cq"}, "spec": spec});
    let mut cache = Cache::new(options.clone());
    let _ = cache.apply_cluster_queue(&parse::<ClusterQueue>(&queue), now());
    let workload = workload(&case.input["wl"], options.clone());
    let got =
        cache.snapshot().cluster_queues["cq"].owes_entry_penalty(&workload, &options.policy());
    Verdict::equal("penalty", &got, &(case.want["want"] == true))
}

/// How an entry that was not admitted goes back, and what is written about it.
pub(super) fn requeue_and_update(case: Case<'_>) -> Verdict {
    let mut world = World::new(options(&case));
    let _ = world
        .cache
        .apply_cluster_queue(&parse(&case.common["cq"]), now());
    let _ = world
        .cache
        .apply_local_queue(&parse(&case.common["q1"]), now());
    world.put(parse(&case.common["w1"]));
    let cycle = world.cache.begin_cycle(now()).unwrap();
    let stated = &case.input["e"];
    let outcome = match stated["status"].as_str().unwrap_or_default() {
        "assumed" | "nominated" => Outcome::Admitted(Assignment::default()),
        "preemptionGated" => Outcome::PreemptionGated,
        "skipped" => Outcome::NoLongerFits,
        _ => Outcome::NoCandidates(Assignment::default()),
    };
    let entry = Entry::of(&cycle.heads[0], outcome, None);
    let said = messages::pending(&entry).unwrap_or_default();
    let mut written = 0;
    for _ in 0..2 {
        if let Some(patch) = world.cache.pending_patch(&entry, now()) {
            written += 1;
            let mut object = world.api[&patch.key].clone();
            object.status = Some(patch.status);
            world.put(object);
        }
    }
    let report = scheduler::Report {
        entries: vec![entry.clone()],
        ..scheduler::Report::default()
    };
    let _ = world.cache.settle(&report, now());
    let status = world
        .api
        .values()
        .next()
        .and_then(|object| object.status.clone());
    let wanted = case.want["wantStatusUpdates"].as_i64().unwrap_or(0);
    Verdict::all([
        Verdict::equal("writes", &i64::from(written), &wanted),
        compare_status(&json!(status), &case, &said),
        world
            .compare_queues(&json!({
                "wantLeft": case.want["wantWorkloads"],
                "wantInadmissibleLeft": case.want["wantInadmissible"],
            }))
            .into(),
        Verdict::equal(
            "goes back",
            &entry.requeue_reason().is_none(),
            &matches!(entry.outcome, Outcome::Admitted(_)),
        ),
    ])
}

/// Our own words in the place of those that the case made up.
fn compare_status(status: &Value, case: &Case<'_>, said: &str) -> Verdict {
    let stated = case.input["e"]["inadmissibleMsg"]
        .as_str()
        .unwrap_or_default();
    let conditions = |value: &Value, replace: bool| -> BTreeMap<String, Value> {
        let mut all = BTreeMap::new();
        for mut condition in read::<Vec<Value>>(&value["conditions"]) {
            let map = condition.as_object_mut().unwrap();
            map.remove("lastTransitionTime");
            map.remove("observedGeneration");
            if replace && map.get("message").is_none_or(|message| *message == stated) {
                map.insert("message".to_owned(), json!(said));
            }
            all.insert(condition["type"].to_string(), condition);
        }
        all
    };
    let wanted = conditions(&case.want["wantStatus"], true);
    Verdict::equal("conditions", &conditions(status, false), &wanted)
}
