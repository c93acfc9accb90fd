//! Whom to preempt: the search without and with fair sharing in a fixed snapshot, the order of candidates, what is said about it.

use std::collections::BTreeSet;
use std::sync::Arc;

use cache::{FairSharing, FairStrategy, Options};
use kueue_api::v1beta2::{ResourceFlavor, Workload};
use scheduler::preemption::{Finder, Target, compare};
use scheduler::{
    Admitted, ClusterQueueName, FlavorResource, PlannedPreemption, Usage, WorkloadKey, messages,
};
use serde_json::{Value, json};

use super::File;
use crate::corpus::{Case, each, now, parse, read};
use crate::verdict::Verdict;
use crate::world::{World, key, options};

pub(super) const FILES: &[File] = &[
    ("TestPreemption", classical),
    ("TestHierarchicalPreemptions", classical),
    ("TestFairPreemptions", fair),
    ("TestCandidatesOrdering", ordering),
    ("TestPreemptionMessage", message),
    ("TestPriorityInfo", priority),
];

/// The flavors, queues and admitted workloads of a case.
pub(super) fn world(case: &Case<'_>, options: Options) -> World {
    let mut world = World::with(case, options);
    let flavors = each::<ResourceFlavor>(&case.common["flavors"]);
    for flavor in flavors.into_iter().chain(each(&case.input["flavors"])) {
        let _ = world.cache.apply_resource_flavor(&flavor);
    }
    for workload in each::<Workload>(&case.input["admitted"]) {
        world.put(workload);
    }
    world
}

/// Which flavor the incoming workload is to have for which resource, and whether by preemption.
struct Assigned {
    pod_set: String,
    of: FlavorResource,
    preempts: bool,
}

/// The targets for the incoming workload. Asking must not change anything.
fn targets(case: &Case<'_>, options: Options, assigned: &[Assigned]) -> (World, Vec<Target>) {
    let policy = options.policy();
    let mut world = world(case, options);
    let workload = converted(case, &parse(&case.input["incoming"]));
    let mut contested = BTreeSet::new();
    let mut usage = Usage::new();
    for one in assigned {
        let pod_set = workload
            .pod_sets
            .iter()
            .find(|pod_set| pod_set.name.as_str() == one.pod_set)
            .unwrap();
        let amount = pod_set.per_pod.get(&one.of.resource).times(pod_set.count);
        *usage.entry(one.of.clone()).or_default() += amount;
        if one.preempts {
            contested.insert(one.of.clone());
        }
    }
    let queue = queue(case);
    let snapshot = world.cache.snapshot();
    let before = format!("{snapshot:?}");
    let finder = Finder::new(&snapshot, &policy, now());
    let found = finder.targets_for(&workload, &queue, contested, &usage, &Default::default());
    assert_eq!(
        before,
        format!("{snapshot:?}"),
        "asking changed the snapshot"
    );
    (world, found)
}

fn classical(case: Case<'_>) -> Verdict {
    let mut assigned = Vec::new();
    for pod_set in case.input["assignment"]["podSets"].as_array().unwrap() {
        for (resource, choice) in pod_set["flavors"].as_object().into_iter().flatten() {
            let flavor = choice["name"].as_str().unwrap();
            assigned.push(Assigned {
                pod_set: read(&pod_set["name"]),
                of: FlavorResource::new(flavor, resource.as_str()),
                preempts: choice["mode"] == "Preempt",
            });
        }
    }
    let (mut world, found) = targets(&case, options(&case), &assigned);
    for target in &found {
        tell_to_leave(&case, &mut world, target);
    }
    let number = case.want["wantPreempted"].as_u64().unwrap_or(0);
    Verdict::all([
        Verdict::equal("number", &(found.len() as u64), &number),
        world.compare_workloads(&case.want["wantWorkloads"]).into(),
    ])
}

/// Writes what a target is told, as a controller does.
fn tell_to_leave(case: &Case<'_>, world: &mut World, target: &Target) {
    let tree = world.cache.snapshot().tree;
    let path = |name: &ClusterQueueName| format!("/{}", tree.path(name).join("/"));
    let preemptor_queue = queue(case);
    let planned = PlannedPreemption {
        preemptor: converted(case, &parse(&case.input["incoming"])),
        preemptor_path: path(&preemptor_queue),
        cluster_queue: preemptor_queue,
        target_path: path(&target.admitted.cluster_queue),
        target: target.admitted.clone(),
        reason: target.reason,
    };
    if let Some(patch) = world.cache.preemption_patch(&planned, now()) {
        assert!(world.write(patch), "{target:?} is not in the API");
    }
}

fn queue(case: &Case<'_>) -> ClusterQueueName {
    ClusterQueueName::from(case.input["targetCQ"].as_str().unwrap())
}

fn told(target: &Target) -> (WorkloadKey, &'static str) {
    let key = target.admitted.workload.key.clone();
    (key, messages::preemption_reason(target.reason))
}

fn fair(case: Case<'_>) -> Verdict {
    let flavor = case.input["assignmentFlavor"].as_str().unwrap_or("default");
    let incoming: Workload = parse(&case.input["incoming"]);
    let assigned: Vec<_> = incoming
        .spec
        .pod_sets
        .iter()
        .map(|pod_set| Assigned {
            pod_set: pod_set.name.clone(),
            of: FlavorResource::new(flavor, "cpu"),
            preempts: true,
        })
        .collect();
    let options = Options {
        fair_sharing: Some(strategies(&case.input["strategies"])),
        ..options(&case)
    };
    let (_, found) = targets(&case, options, &assigned);
    let told: BTreeSet<_> = found
        .iter()
        .map(|target| {
            let (key, reason) = told(target);
            let name = match key.namespace.as_str() {
                "" => format!("/{}", key.name),
                namespace => format!("{namespace}/{}", key.name),
            };
            format!("{name}:{reason}")
        })
        .collect();
    let expected: BTreeSet<String> = each(&case.want["wantPreempted"]).into_iter().collect();
    Verdict::equal("preempted", &told, &expected)
}

fn strategies(value: &Value) -> FairSharing {
    let all = each::<String>(value);
    let read = |name: &String| match name.as_str() {
        "LessThanInitialShare" => FairStrategy::LessThanInitialShare,
        _ => FairStrategy::LessThanOrEqualToFinalShare,
    };
    match all.first() {
        None => FairSharing::default(),
        Some(first) => FairSharing {
            first: read(first),
            second: all.get(1).map(read),
        },
    }
}

fn ordering(case: Case<'_>) -> Verdict {
    let own = ClusterQueueName::from(case.common["preemptorCq"].as_str().unwrap());
    let by_past_usage = case.input["featureGates"]["AdmissionFairSharing"] == true;
    let mut candidates: Vec<(Admitted, Option<f64>)> = case.input["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|candidate| {
            let usage = candidate["localQueueFSUsage"].as_f64();
            (admitted(&case, candidate), usage.filter(|_| by_past_usage))
        })
        .collect();
    candidates.sort_by(|(a, of_a), (b, of_b)| compare(a, b, (*of_a, *of_b), &own, now()));
    let names: Vec<_> = candidates
        .iter()
        .map(|(one, _)| one.workload.key.name.to_string())
        .collect();
    Verdict::equal("order", &names, &each(&case.want["wantCandidates"]))
}

/// A candidate as a snapshot would show it.
fn admitted(case: &Case<'_>, candidate: &Value) -> Admitted {
    let object: Workload = parse(&candidate["obj"]);
    let mut world = World::new(options(case));
    let _ = world.cache.apply_workload(&object, now());
    let queue = ClusterQueueName::from(candidate["clusterQueue"].as_str().unwrap_or_default());
    let snapshot = world.cache.snapshot();
    let shown = snapshot
        .admitted
        .values()
        .flat_map(|all| all.values())
        .next();
    match shown {
        Some(shown) => Admitted {
            cluster_queue: queue,
            ..Admitted::clone(shown)
        },
        None => Admitted {
            workload: world.cache.workload(&key(&object)).unwrap(),
            cluster_queue: queue,
            usage: Usage::new(),
            places: Default::default(),
            reserved: None,
            admitted: false,
            evicted: kueue_api::conditions::is_true(object.conditions(), "Evicted"),
        },
    }
}

/// A Workload as the scheduler sees it.
pub(super) fn converted(case: &Case<'_>, object: &Workload) -> Arc<scheduler::Workload> {
    let mut world = World::new(options(case));
    let _ = world.cache.apply_workload(object, now());
    world.cache.workload(&key(object)).unwrap()
}

fn message(case: Case<'_>) -> Verdict {
    let preemptor = converted(&case, &parse(&case.input["preemptor"]));
    let reason = case.input["reason"].as_str().map(reason);
    let path = |name: &str| case.input[name].as_str().unwrap_or_default();
    let text = messages::preempted(
        &preemptor,
        reason,
        path("preemptorPath"),
        path("preempteePath"),
    );
    Verdict::same(&json!(text), &case.want["want"])
}

fn reason(name: &str) -> scheduler::PreemptionReason {
    use scheduler::PreemptionReason as Reason;
    match name {
        "InClusterQueue" => Reason::InClusterQueue,
        "InCohortReclamation" => Reason::InCohortReclamation,
        "InCohortFairSharing" => Reason::InCohortFairSharing,
        "InCohortReclaimWhileBorrowing" => Reason::InCohortReclaimWhileBorrowing,
        other => panic!("`{other}` is no reason of a preemption"),
    }
}

fn priority(case: Case<'_>) -> Verdict {
    let workload = converted(&case, &parse(&case.input["wl"]));
    let got = (
        workload.base_priority(),
        i64::from(workload.boost),
        workload.priority,
    );
    let want = |name: &str| case.want[name].as_i64().unwrap_or(0);
    let want = (want("wantBase"), want("wantBoost"), want("wantEffective"));
    Verdict::equal("base, boost, effective", &got, &want)
}
