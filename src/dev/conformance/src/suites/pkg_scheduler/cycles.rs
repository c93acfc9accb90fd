//! Whole cycles: objects in; Workloads, admissions, events, queues and counters out.

use std::collections::BTreeMap;
use std::time::Duration;

use cache::{FairSharing, LocalQueueKey, Options, WorkloadKey};
use kueue_api::v1beta2::{ClusterQueue, Topology, Workload};
use scheduler::{AdmissionFairSharing, Recomputation};
use serde_json::{Value, json};

use crate::corpus::{Case, each, now, parse, read};
use crate::verdict::Verdict;
use crate::world::{World, keys, options};

/// One cycle, then everything is compared.
pub(super) fn one(case: Case<'_>) -> Verdict {
    let mut world = World::of(&case);
    world.cycle();
    let compared = || {
        world.compare_workloads(&case.want["wantWorkloads"])?;
        world.compare_assignments(&case.want["wantAssignments"])?;
        world.compare_events(case.want, true)?;
        world.compare_queues(case.want)?;
        compare_counters(&world, case.want)
    };
    let result: Result<(), String> = compared();
    result.and_then(|()| world.check()).into()
}

/// What is counted, of the ClusterQueues that are named.
fn compare_counters(world: &World, want: &Value) -> Result<(), String> {
    let reports = || world.decided.iter().map(|(_, report)| report);
    for (queue, wanted) in want["wantSkippedPreemptions"]
        .as_object()
        .into_iter()
        .flatten()
    {
        let skipped = reports()
            .next_back()
            .and_then(|report| report.skipped_preemptions.get(queue.as_str()));
        let got = skipped.copied().unwrap_or(0);
        if json!(got) != *wanted {
            return Err(format!(
                "skipped preemptions of {queue}\n  decided:  {got}\n  expected: {wanted}"
            ));
        }
    }
    let wanted = &want["wantPreemptionTargetRecomputations"];
    for (queue, wanted) in wanted.as_object().into_iter().flatten() {
        let mut got: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, result) in reports().flat_map(|report| &report.recomputations) {
            if name.as_str() == queue {
                *got.entry(result_name(*result)).or_default() += 1;
            }
        }
        let wanted: BTreeMap<String, usize> = read(wanted);
        let same = wanted
            .iter()
            .all(|(result, number)| got.get(result.as_str()).unwrap_or(&0) == number);
        if !same {
            return Err(format!(
                "recomputations of {queue}\n  decided:  {got:?}\n  expected: {wanted:?}"
            ));
        }
    }
    Ok(())
}

fn result_name(result: Recomputation) -> &'static str {
    match result {
        Recomputation::NewTargets => "new_targets",
        Recomputation::DeferredFit => "deferred_fit",
        Recomputation::Skipped => "skipped",
    }
}

/// A cycle, then some workloads are deleted, then another cycle.
pub(super) fn two(case: Case<'_>) -> Verdict {
    let mut world = World::of(&case);
    world.cycle();
    if let Err(difference) = world.compare_workloads(&case.want["wantWorkloads"]) {
        return Verdict::Failed(format!("after the first cycle\n{difference}"));
    }
    for key in keys(&case.input["deleteWorkloads"]) {
        world.delete(&key);
    }
    world.cycle();
    let wanted = &case.want["wantAdmissionsOnSecondSchedule"];
    world.compare_assignments(wanted).into()
}

/// As many cycles as there are workloads, LocalQueues served by what they used before.
pub(super) fn by_past_usage(case: Case<'_>) -> Verdict {
    let on = case.gate("AdmissionFairSharing");
    let rules = &case.common["afsConfig"];
    let time = |name: &str| {
        let text = rules[name].as_str().unwrap_or("0s").trim_end_matches('s');
        Duration::from_secs(text.parse().unwrap())
    };
    let options = Options {
        fair_sharing: on.then(FairSharing::default),
        admission_fair_sharing: Some(AdmissionFairSharing {
            half_life: time("usageHalfLifeTime"),
            sampling_interval: time("usageSamplingInterval"),
            ..AdmissionFairSharing::default()
        }),
        ..options(&case)
    };
    let mut world = World::with(&case, options);
    for (queue, used) in case.input["initialUsage"].as_object().into_iter().flatten() {
        let door = LocalQueueKey::new("default", queue.as_str());
        world.cache.set_past_usage(&door, &parse(used), now());
    }
    for _ in each::<Value>(&case.input["workloads"]) {
        world.cycle();
    }
    world.compare_workloads(&case.want["wantWorkloads"]).into()
}

/// Quota changes after every cycle; what a search remembers has to survive that.
pub(super) fn preserve_progress(case: Case<'_>) -> Verdict {
    let common = case.common;
    let mut world = World::with(
        &case,
        Options {
            fair_sharing: Some(FairSharing::default()),
            ..options(&case)
        },
    );
    let mut queue: ClusterQueue = parse(&common["clusterQueue"]);
    let _ = world
        .cache
        .apply_topology(&parse::<Topology>(&common["singleLevelTopology"]));
    let _ = world.cache.apply_cluster_queue(&queue, now());
    world.put(parse::<Workload>(&common["blocker"]));
    world.put(parse::<Workload>(&common["pending"]));
    for number in 0..read::<usize>(&common["preserveProgressCycles"]) {
        world.cycle();
        if case.input["noChurn"] != true {
            let flavor = &mut queue.spec.resource_groups[0].flavors[1];
            let quota = if number % 2 == 0 { "5" } else { "4" };
            flavor.resources[0].nominal_quota = kueue_api::Quantity(quota.to_owned());
            let _ = world.cache.apply_cluster_queue(&queue, now());
        }
        let _ = world.cache.retry(&queue.name().into());
    }
    let flavor = |name: &str| {
        let workload = &world.api[&WorkloadKey::new("default", name)];
        let admission = workload.status.as_ref()?.admission.as_ref()?;
        admission.pod_set_assignments[0].flavors.get("cpu").cloned()
    };
    let wanted = case.want["wantPendingFlavor"].as_str().map(str::to_owned);
    Verdict::all([
        Verdict::equal(
            "blocker",
            &flavor("blocker").as_deref(),
            &Some("tas-flavor-1"),
        ),
        Verdict::equal("pending", &flavor("pending"), &wanted),
    ])
}
