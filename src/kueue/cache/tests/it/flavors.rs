//! Flavor assignment with an oracle that answers as the case says.

use std::collections::BTreeMap;

use cache::{Cache, Options, WorkloadKey};
use kueue_api::v1beta2::{ClusterQueue, Workload};
use quantity::Amount;
use scheduler::{
    Assigner, Assignment, Attempt, FairSharing, FlavorResource, Mode, Oracle, PodSetAssignment,
    Policy, Possibility, messages,
};
use serde_json::{Value, json};

use crate::corpus::{apply, each, flavor_resource, load, name, now, queue_name, read, usage};

/// Answers what the case says, else that preemption would help.
struct Scripted(BTreeMap<FlavorResource, (Possibility, usize)>);

impl Oracle for Scripted {
    fn ask(&self, of: &FlavorResource, _: Amount, _: usize) -> (Possibility, usize) {
        self.0.get(of).copied().unwrap_or((Possibility::Preempt, 0))
    }
}

fn scripted(value: &Value) -> Scripted {
    let answer = |(key, answer): (&String, &Value)| {
        let possibility = match answer["preemptionPossiblity"].as_str().unwrap() {
            "NoCandidates" => Possibility::NoCandidates,
            "Preempt" => Possibility::Preempt,
            _ => Possibility::Reclaim,
        };
        let height =
            usize::try_from(answer["borrowingAfterSimulation"].as_u64().unwrap_or(0)).unwrap();
        (flavor_resource(key), (possibility, height))
    };
    Scripted(
        value
            .as_object()
            .into_iter()
            .flatten()
            .map(answer)
            .collect(),
    )
}

/// Assigns flavors to a workload of these pod sets in the first ClusterQueue.
fn assign(
    flavors: &Value,
    queues: &[(&Value, &Value)],
    workload: &Workload,
    input: &Value,
    options: Options,
) -> Assignment {
    let mut cache = Cache::new(options);
    apply(&mut cache, flavors, &json!([]), &json!([]));
    for (queue, _) in queues {
        let _ = cache.apply_cluster_queue(&read(queue), now());
    }
    let _ = cache.apply_workload(workload, now());
    let mut snapshot = cache.snapshot();
    for (queue, used) in queues {
        let queue: ClusterQueue = read(queue);
        snapshot.tree.add(&queue_name(queue.name()), &usage(used));
    }
    let first: ClusterQueue = read(queues[0].0);
    let oracle = scripted(&input["simulationResult"]);
    let policy = Policy {
        fair_sharing: (input["enableFairSharing"] == true).then(FairSharing::default),
        ..Policy::default()
    };
    let assigner = Assigner {
        tree: &snapshot.tree,
        cluster_queue: &snapshot.cluster_queues[&queue_name(first.name())],
        node: snapshot
            .tree
            .cluster_queue(&queue_name(first.name()))
            .unwrap(),
        flavors: &snapshot.flavors,
        oracle: &oracle,
        policy: &policy,
    };
    let key = WorkloadKey::new(workload.namespace(), workload.name());
    assigner.assign(&cache.workload(&key).unwrap(), None, None)
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::NoFit => "NoFit",
        Mode::Preempt => "Preempt",
        Mode::Fit => "Fit",
    }
}

fn attempt(attempt: &Attempt) -> Value {
    let mut value = json!({"flavor": attempt.flavor.as_str(), "mode": mode(attempt.mode), "borrow": attempt.borrow});
    if let Some(possibility) = attempt.possibility {
        value["preemptionPossibility"] = json!(format!("{possibility:?}"));
    }
    if let Some(reason) = attempt.no_fit {
        value["noFitReason"] = json!(messages::no_fit_reason(reason));
    }
    if !attempt.blockers.is_empty() {
        value["reasons"] = attempt.blockers.iter().map(messages::blocker).collect();
    }
    value
}

fn sorted(values: &Value) -> Vec<String> {
    let mut all: Vec<String> = read(values);
    all.sort();
    all
}

fn same(what: &str, got: &Value, wanted: &Value) -> Result<(), String> {
    if got == wanted {
        Ok(())
    } else {
        Err(format!("{what}: got {got}, want {wanted}"))
    }
}

/// An absent map as an empty one.
fn map(value: &Value) -> Value {
    if value.is_null() {
        json!({})
    } else {
        value.clone()
    }
}

fn compare(case: &Value, assignment: &Assignment) -> Result<(), String> {
    let want = &case["want"]["wantAssignment"];
    same(
        "mode",
        &json!(mode(assignment.mode())),
        &case["want"]["wantRepMode"],
    )?;
    same(
        "borrowing",
        &json!(assignment.borrowing),
        &want["borrowing"],
    )?;
    same(
        "reason",
        &json!(assignment.no_fit_reason().map(messages::no_fit_reason)),
        &want["noFitReason"],
    )?;
    if assignment.mode() != Mode::NoFit {
        let used = assignment
            .usage
            .iter()
            .map(|(of, amount)| (of.to_string(), json!(amount.value())));
        same(
            "usage",
            &Value::Object(used.collect()),
            &map(&want["usage"]["quota"]["assigned"]),
        )?;
    }
    let pod_sets: Vec<Value> = read(&want["podSets"]);
    same(
        "pod sets",
        &json!(assignment.pod_sets.len()),
        &json!(pod_sets.len()),
    )?;
    assignment
        .pod_sets
        .iter()
        .zip(&pod_sets)
        .try_for_each(|(got, want)| compare_pod_set(got, want))
}

fn compare_pod_set(got: &PodSetAssignment, want: &Value) -> Result<(), String> {
    let flavors = got.flavors.iter().map(|(resource, choice)| {
        let tried = choice.tried.0.map_or(-1, |index| i64::try_from(index).unwrap());
        let choice = json!({"name": choice.flavor.as_str(), "mode": mode(choice.mode), "triedFlavorIdx": tried});
        (resource.to_string(), choice)
    });
    same(
        "flavors",
        &Value::Object(flavors.collect()),
        &map(&want["flavors"]),
    )?;
    let requests = got.requests.iter().map(|(resource, amount)| {
        (
            resource.to_string(),
            json!(amount.to_quantity(resource).to_string()),
        )
    });
    same(
        "requests",
        &Value::Object(requests.collect()),
        &want["requests"],
    )?;
    same("count", &json!(got.count), &want["count"])?;
    let mut reasons: Vec<_> = got.blockers.iter().map(messages::blocker).collect();
    reasons.sort();
    same(
        "reasons",
        &json!(reasons),
        &json!(sorted(&want["status"]["reasons"])),
    )?;
    compare_attempts(
        &got.attempts,
        &read::<Vec<Value>>(&want["flavorAssignmentAttempts"]),
    )
}

/// With a fit, everything tried must be wanted; without one, everything wanted must have been tried.
fn compare_attempts(got: &[Attempt], wanted: &[Value]) -> Result<(), String> {
    if wanted.is_empty() {
        return Ok(());
    }
    let fits = got.iter().any(|attempt| attempt.mode == Mode::Fit);
    let got: Vec<_> = got.iter().map(attempt).collect();
    let strangers: Vec<_> = if fits {
        let known = |one: &&Value| {
            wanted.contains(one)
                || wanted
                    .iter()
                    .any(|want| want["flavor"] == one["flavor"] && only_lacks(want))
        };
        got.iter().filter(|one| !known(one)).collect()
    } else {
        wanted.iter().filter(|one| !got.contains(one)).collect()
    };
    if strangers.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "attempts: {strangers:?}, got {got:?}, want {wanted:?}"
        ))
    }
}

fn only_lacks(want: &Value) -> bool {
    sorted(&want["reasons"])
        .iter()
        .any(|reason| reason.contains("does not provide resource"))
}

#[test]
fn flavors_are_assigned_as_by_the_reference() {
    let Some(corpus) = load("pkg-scheduler-flavorassigner/TestAssignFlavors.json") else {
        return;
    };
    let mut failures = Vec::new();
    for case in &corpus.cases {
        let input = &case["in"];
        if !input["preemptWorkloadSlice"].is_null() {
            continue; // Workload slices are not built yet.
        }
        let workload: Workload = read(&json!({
            "metadata": {"name": "wl", "namespace": "default"},
            "spec": {"podSets": input["wlPods"]},
            "status": {"reclaimablePods": input["wlReclaimablePods"].as_array().cloned().unwrap_or_default()},
        }));
        let mut queues = vec![(&input["clusterQueue"], &input["clusterQueueUsage"])];
        if !input["secondaryClusterQueue"].is_null() {
            queues.push((
                &input["secondaryClusterQueue"],
                &input["secondaryClusterQueueUsage"],
            ));
        }
        let mut options = Options::default();
        options.features.reclaimable_pods = input["featureGates"]["ReclaimablePods"] != false;
        let assignment = assign(
            &corpus.common["resourceFlavors"],
            &queues,
            &workload,
            input,
            options,
        );
        if let Err(difference) = compare(case, &assignment) {
            failures.push(format!("{}: {difference}", name(case)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn allowed_flavors_are_respected() {
    let Some(corpus) =
        load("pkg-scheduler-flavorassigner/TestAssignFlavorsWithAllowedFlavors.json")
    else {
        return;
    };
    for case in &corpus.cases {
        let workload: Workload = read(&case["in"]["setup"]["wl"]);
        let queues = [(&corpus.common["cq"], &Value::Null)];
        let mut options = Options::default();
        options.features.concurrent_admission = true;
        let assignment = assign(
            &corpus.common["resourceFlavors"],
            &queues,
            &workload,
            &case["in"],
            options,
        );
        let wanted = &case["want"];
        assert_eq!(
            json!(mode(assignment.mode())),
            wanted["wantRepMode"],
            "{}",
            name(case)
        );
        if assignment.mode() == Mode::Fit {
            let flavor = &assignment.pod_sets[0].flavors["cpu"].flavor;
            assert_eq!(
                json!(flavor.as_str()),
                wanted["wantFlavor"],
                "{}",
                name(case)
            );
        }
    }
}

#[test]
fn nothing_fits_for_the_reasons_of_the_reference() {
    let Some(corpus) = load("pkg-scheduler-flavorassigner/TestIsNoFitDueToCapacityAndLimits.json")
    else {
        return;
    };
    for case in &corpus.cases {
        let input = &case["in"];
        if name(case).contains("tas") || name(case).contains("TAS") || !input["replaceWl"].is_null()
        {
            continue; // Topology is not built yet.
        }
        let own = if input["cq"].is_null() {
            &corpus.common["cq"]
        } else {
            &input["cq"]
        };
        let flavors = if input["resourceFlavors"].is_null() {
            &corpus.common["resourceFlavors"]
        } else {
            &input["resourceFlavors"]
        };
        let siblings: Vec<Value> = each(&input["siblingCQs"]);
        let mut queues = vec![(own, &input["cqUsage"])];
        queues.extend(siblings.iter().map(|queue| {
            (
                queue,
                &input["siblingCQUsage"][queue["metadata"]["name"].as_str().unwrap()],
            )
        }));
        let workload: Workload = read(&input["setup"]["wl"]);
        let mut options = Options::default();
        options.features.concurrent_admission = true;
        let assignment = assign(flavors, &queues, &workload, input, options);
        let reason = assignment.no_fit_reason().map(messages::no_fit_reason);
        assert_eq!(
            json!(reason),
            case["want"]["wantNoFitReason"],
            "{}",
            name(case)
        );
        for attempt in &assignment.pod_sets[0].attempts {
            let wanted = &case["want"]["wantFlavorAttempts"][attempt.flavor.as_str()];
            if !wanted.is_null() {
                assert_eq!(
                    json!(attempt.no_fit.map_or("", messages::no_fit_reason)),
                    *wanted,
                    "{} {}",
                    name(case),
                    attempt.flavor
                );
            }
        }
    }
}

#[test]
fn reclaiming_is_preferred_to_preempting_by_priority() {
    for file in ["TestReclaimBeforePriorityPreemption", "TestHierarchical"] {
        let Some(corpus) = load(&format!("pkg-scheduler-flavorassigner/{file}.json")) else {
            return;
        };
        for case in &corpus.cases {
            reclaims(case);
        }
    }
}

fn reclaims(case: &Value) {
    let (input, setup) = (&case["in"], &case["in"]["setup"]);
    let mut cache = Cache::new(Options::default());
    apply(
        &mut cache,
        &setup["resourceFlavors"],
        &json!([setup["testCq"], setup["otherCq"]]),
        &setup["cohorts"],
    );
    let workload: Workload = read(&json!({
        "metadata": {"name": "wl", "namespace": "default"},
        "spec": {"podSets": [input["workloadRequests"]]},
    }));
    let _ = cache.apply_workload(&workload, now());
    let mut snapshot = cache.snapshot();
    let queue: ClusterQueue = read(&setup["testCq"]);
    let other: ClusterQueue = read(&setup["otherCq"]);
    snapshot.tree.add(
        &queue_name(queue.name()),
        &usage(&input["testClusterQueueUsage"]),
    );
    snapshot.tree.add(
        &queue_name(other.name()),
        &usage(&input["otherClusterQueueUsage"]),
    );
    let oracle = scripted(&input["simulationResult"]);
    let policy = Policy::default();
    let assigner = Assigner {
        tree: &snapshot.tree,
        cluster_queue: &snapshot.cluster_queues[&queue_name(queue.name())],
        node: snapshot
            .tree
            .cluster_queue(&queue_name(queue.name()))
            .unwrap(),
        flavors: &snapshot.flavors,
        oracle: &oracle,
        policy: &policy,
    };
    let assignment = assigner.assign(
        &cache.workload(&WorkloadKey::new("default", "wl")).unwrap(),
        None,
        None,
    );
    let chosen: serde_json::Map<_, _> = assignment.pod_sets[0]
        .flavors
        .iter()
        .map(|(resource, choice)| (resource.to_string(), json!(choice.flavor.as_str())))
        .collect();
    let got = json!([mode(assignment.mode()), chosen]);
    assert_eq!(
        got,
        json!([case["want"]["wantMode"], case["want"]["wantAssigment"]]),
        "{}",
        name(case)
    );
}
