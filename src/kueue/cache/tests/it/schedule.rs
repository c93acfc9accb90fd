//! Whole cycles: objects in, statuses, admissions, events and queues out.

use std::collections::BTreeMap;

use cache::{Cache, EventKind, Options, WorkloadKey, WorkloadPatch};
use k8s_openapi::api::core::v1::Namespace;
use kueue_api::v1beta2::{LocalQueue, Workload};
use serde_json::{Value, json};

use crate::corpus::{Corpus, apply, each, load, name, now};

/// Cases that need what is not built yet, by what they need.
const NOT_YET: &[(&str, &[&str])] = &[
    (
        "preemption",
        &[
            "PreemptionOverBorrowing preference: preempt in first flavor instead of borrowing in second",
            "admit to second flavor when first needs preemption; WhenCanPreempt: TryNextFlavor",
            "minimal preemptions when target queue is exhausted",
            "multiple CQs need preemption",
            "multiple preemptions skip preemption when shared limited resource",
            "multiple preemptions without borrowing",
            "partial admission single variable pod set, preempt with partial admission",
            "preempt when workload requests zero of a resource not defined in ClusterQueue",
            "preempt workloads in ClusterQueue and cohort",
            "prefer first preemption flavor when second flavor also requires cq preemption",
            "prefer first preemption flavor when second flavor requires both reclaim and cq priority preemption",
            "prefer reclamation over cq priority based preemption",
        ],
    ),
    (
        "limit ranges",
        &["container does not satisfy limitRange constraints"],
    ),
    (
        "workload slices",
        &["workload-slice fits in single clusterQueue"],
    ),
];

struct World {
    cache: Cache,
    workloads: BTreeMap<WorkloadKey, Workload>,
    events: Vec<(WorkloadKey, &'static str, String, String)>,
}

impl World {
    fn of(corpus: &Corpus, input: &Value) -> Self {
        let common = &corpus.common;
        let mut options = Options::default();
        options.features.partial_admission = input["featureGates"]["PartialAdmission"] != false;
        let mut cache = Cache::new(options);
        for namespace in each::<Namespace>(&common["namespaces"]) {
            let _ = cache.apply_namespace(&namespace);
        }
        for queue in each::<LocalQueue>(&common["queues"])
            .iter()
            .chain(&each(&input["additionalLocalQueues"]))
        {
            let _ = cache.apply_local_queue(queue, now());
        }
        apply(
            &mut cache,
            &common["resourceFlavors"],
            &common["clusterQueues"],
            &json!([]),
        );
        apply(
            &mut cache,
            &json!([]),
            &input["additionalClusterQueues"],
            &input["cohorts"],
        );
        let mut world = Self {
            cache,
            workloads: BTreeMap::new(),
            events: Vec::new(),
        };
        for workload in each::<Workload>(&input["workloads"]) {
            world.put(workload);
        }
        world
    }

    fn put(&mut self, workload: Workload) {
        let _ = self.cache.apply_workload(&workload, now());
        self.workloads.insert(
            WorkloadKey::new(workload.namespace(), workload.name()),
            workload,
        );
    }

    /// One cycle as a controller would run it.
    fn cycle(&mut self) {
        let Some(cycle) = self.cache.begin_cycle(now()) else {
            return;
        };
        let (plan, report) = cycle.run();
        let mut patches = Vec::new();
        for admission in &plan.admissions {
            let _ = self.cache.assume(admission).unwrap();
            patches.extend(self.cache.admission_patch(admission, now()));
        }
        patches.extend(self.cache.settle(&report, now()).patches);
        for patch in patches {
            self.write(patch);
        }
    }

    fn write(&mut self, patch: WorkloadPatch) {
        let WorkloadPatch {
            key,
            uid: _,
            status,
            events,
        } = patch;
        for event in events {
            let kind = if event.kind == EventKind::Normal {
                "Normal"
            } else {
                "Warning"
            };
            self.events
                .push((key.clone(), kind, event.reason, event.note));
        }
        let mut workload = self.workloads[&key].clone();
        workload.status = Some(status);
        self.put(workload);
    }
}

/// What does not count, and the order of what has none.
fn normal(workload: &Workload) -> Value {
    let mut value = json!(workload);
    if let Some(conditions) = value["status"]["conditions"].as_array_mut() {
        conditions.sort_by_key(|condition| condition["type"].to_string());
    }
    value
}

fn check(corpus: &Corpus, case: &Value) -> Result<(), String> {
    let (input, want) = (&case["in"], &case["want"]);
    let mut world = World::of(corpus, input);
    world.cycle();
    let violations = world.cache.check();
    if !violations.is_empty() {
        return Err(format!("{violations:?}"));
    }
    let got: Vec<Value> = world.workloads.values().map(normal).collect();
    let wanted: Vec<Value> = each::<Workload>(&want["wantWorkloads"])
        .iter()
        .map(normal)
        .collect();
    for (got, wanted) in got.iter().zip(&wanted) {
        if got != wanted {
            return Err(format!("got {got}\n     want {wanted}"));
        }
    }
    if let Some(wanted) = want["wantEvents"].as_array() {
        compare_events(&world, wanted, want["eventsIgnoreMessage"] == true)?;
    }
    compare_queues(&world, want)
}

fn compare_events(world: &World, wanted: &[Value], ignore_message: bool) -> Result<(), String> {
    let event = |(key, kind, reason, note): &(WorkloadKey, &str, String, String)| {
        let mut event = json!({"key": key.to_string(), "eventType": kind, "reason": reason});
        if !ignore_message {
            event["message"] = json!(note);
        }
        event
    };
    let mut got: Vec<_> = world.events.iter().map(event).collect();
    let mut wanted = wanted.to_vec();
    for event in got.iter_mut().chain(&mut wanted) {
        if ignore_message {
            event.as_object_mut().unwrap().remove("message");
        } else if let Some(text) = event["message"].as_str() {
            // The corpus has workloads that were created before time began.
            let text = text
                .split("was ")
                .map(|part| part.split_once("s; ").map_or(part, |(_, rest)| rest))
                .collect::<String>();
            event["message"] = json!(text);
        }
    }
    if got == wanted {
        Ok(())
    } else {
        Err(format!("events: got {got:?}\n     want {wanted:?}"))
    }
}

fn compare_queues(world: &World, want: &Value) -> Result<(), String> {
    let left = |wanted: &Value| -> BTreeMap<String, usize> {
        wanted
            .as_object()
            .into_iter()
            .flatten()
            .map(|(queue, keys)| (queue.clone(), keys.as_array().unwrap().len()))
            .collect()
    };
    let counts = |pick: fn(cache::ClusterQueueCounts) -> usize| -> BTreeMap<String, usize> {
        let all = world
            .cache
            .cluster_queues()
            .map(|name| (name.to_string(), pick(world.cache.counts(name).unwrap())));
        all.filter(|(_, count)| *count > 0).collect()
    };
    let got = (
        counts(|counts| counts.pending_active),
        counts(|counts| counts.pending_inadmissible),
    );
    let wanted = (left(&want["wantLeft"]), left(&want["wantInadmissibleLeft"]));
    if got == wanted {
        Ok(())
    } else {
        Err(format!("queues: got {got:?}, want {wanted:?}"))
    }
}

#[test]
fn cycles_end_as_in_the_reference() {
    let Some(corpus) = load("pkg-scheduler/TestSchedule.json") else {
        return;
    };
    let later: Vec<&str> = NOT_YET
        .iter()
        .flat_map(|(_, cases)| *cases)
        .copied()
        .collect();
    let mut failures = Vec::new();
    for case in &corpus.cases {
        if later.contains(&name(case)) {
            continue;
        }
        if let Err(difference) = check(&corpus, case) {
            failures.push(format!("{}: {difference}", name(case)));
        }
    }
    assert!(
        failures.is_empty(),
        "{} failed\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// Two cycles, without those cases that evict anybody.
#[test]
fn a_second_cycle_goes_on_where_the_first_one_stopped() {
    let Some(corpus) = load("pkg-scheduler/TestLastSchedulingContext.json") else {
        return;
    };
    let borrowing = [
        "borrow after all flavors",
        "borrow before next flavor",
        "when the next flavor is full, but can borrow on first",
    ];
    for case in corpus
        .cases
        .iter()
        .filter(|case| borrowing.contains(&name(case)))
    {
        let mut world = World::of(&corpus, &case["in"]);
        apply(&mut world.cache, &json!([]), &case["in"]["cqs"], &json!([]));
        world.cycle();
        let got: Vec<Value> = world.workloads.values().map(normal).collect();
        let wanted: Vec<Value> = each::<Workload>(&case["want"]["wantWorkloads"])
            .iter()
            .map(normal)
            .collect();
        assert_eq!(got, wanted, "{}: after the first cycle", name(case));
        world.cycle();
        let admitted = world.workloads.iter().filter_map(|(key, workload)| {
            let admission = workload.status.as_ref()?.admission.as_ref()?;
            Some((key.to_string(), json!(admission)))
        });
        let admitted = Value::Object(admitted.collect());
        assert_eq!(
            admitted,
            case["want"]["wantAdmissionsOnSecondSchedule"],
            "{}",
            name(case)
        );
    }
}
