//! The cache's books: what was applied and deleted in which order, and what queues, cohorts and workloads look like afterwards.

use std::collections::{BTreeMap, BTreeSet};

use cache::{Cache, ClusterQueueName, CohortName, LocalQueueKey, Options, WorkloadKey};
use kueue_api::conditions;
use kueue_api::v1beta2::{
    AdmissionCheck, ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Workload,
};
use scheduler::{Holder, QuotaTree, Usage};
use serde_json::{Value, json};

use crate::corpus::{Case, each, flavor_resource, now, parse, read, usage};
use crate::verdict::Verdict;
use crate::world;

fn calls<'a>(case: &Case<'a>) -> &'a [Value] {
    case.input["operations"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

/// Admission waits for pods here, so that the cache looks at them.
fn new() -> Cache {
    Cache::new(Options {
        block_admission: true,
        ..Options::default()
    })
}

/// Tells the cache what one call tells the reference's. Returns the answer, if the call asks for one.
fn call(cache: &mut Cache, operation: &Value) -> Option<Value> {
    let args = &operation["args"];
    let name = |field: &str| {
        args[field]["metadata"]["name"]
            .as_str()
            .or(args[field].as_str())
            .unwrap_or_default()
    };
    let of_key = |field: &str| {
        let text = args[field].as_str().unwrap_or_default();
        let (namespace, name) = text.split_once('/').unwrap_or(("", text));
        WorkloadKey::new(namespace, name)
    };
    let _ = match operation["op"].as_str().unwrap_or_default() {
        "Cache.AddOrUpdateResourceFlavor" => {
            cache.apply_resource_flavor(&parse::<ResourceFlavor>(&args["rf"]))
        }
        "Cache.AddOrUpdateAdmissionCheck" => {
            cache.apply_admission_check(&parse::<AdmissionCheck>(&args["ac"]))
        }
        "Cache.AddClusterQueue" | "Cache.UpdateClusterQueue" => {
            cache.apply_cluster_queue(&parse(&args["cq"]), now())
        }
        "Cache.DeleteClusterQueue" => cache.delete_cluster_queue(&name("cq").into()),
        "Cache.AddOrUpdateCohort" => cache.apply_cohort(&parse::<Cohort>(&args["apiCohort"])),
        "Cache.DeleteCohort" => cache.delete_cohort(&name("cohortName").into()),
        "Cache.AddLocalQueue" => cache.apply_local_queue(&parse(&args["q"]), now()),
        "Cache.DeleteLocalQueue" => {
            let queue: LocalQueue = parse(&args["q"]);
            cache.delete_local_queue(&door(&queue), now())
        }
        "Cache.AddOrUpdateWorkload" => {
            let workload: Workload = parse(&args["w"]);
            let _ = cache.apply_workload(&workload, now());
            return Some(json!(holds(cache, &workload)));
        }
        "Cache.DeleteWorkload" => cache.delete_workload(&of_key("wlKey")),
        "Cache.PodsReadyForAllAdmittedWorkloads" => return Some(json!(!cache.pods_not_ready())),
        "Cache.WaitForPodsReady" | "Cache.ResyncGaugeMetrics" => return None,
        other => return Some(ask(cache, other, args)),
    };
    None
}

/// Questions about who has to do with what.
fn ask(cache: &Cache, name: &str, args: &Value) -> Value {
    let text = |field: &str| args[field].as_str().unwrap_or_default();
    let names =
        |all: Vec<ClusterQueueName>| json!(all.iter().map(ToString::to_string).collect::<Vec<_>>());
    match name {
        "Cache.ClusterQueuesForResources" => {
            let resources: Vec<String> = read(&args["resourceNames"]);
            let resources: Vec<_> = resources.iter().map(|name| name.as_str().into()).collect();
            names(cache.cluster_queues_covering(&resources))
        }
        "Cache.ClusterQueuesUsingAdmissionCheck" => {
            names(cache.cluster_queues_using_check(text("ac")))
        }
        "Cache.ClusterQueuesUsingFlavor" => {
            names(cache.cluster_queues_using_flavor(&text("flavor").into()))
        }
        "Cache.MatchingClusterQueues" => {
            names(cache.cluster_queues_open_to(&read(&args["nsLabels"])))
        }
        other => panic!("{other} is not known"),
    }
}

fn door(queue: &LocalQueue) -> LocalQueueKey {
    let namespace = queue.metadata.namespace.as_deref().unwrap_or_default();
    LocalQueueKey::new(namespace, queue.name())
}

/// Whether a workload holds quota of a ClusterQueue that is there.
fn holds(cache: &mut Cache, workload: &Workload) -> bool {
    let snapshot = cache.snapshot();
    let key = world::key(workload);
    let there = |name: &ClusterQueueName| snapshot.cluster_queues.contains_key(name);
    let mut held = snapshot.admitted.iter().filter(|(name, _)| there(name));
    held.any(|(_, all)| all.contains_key(&key))
}

fn set(value: &Value) -> BTreeSet<String> {
    read::<Vec<String>>(value).into_iter().collect()
}

/// Calls that ask, compared as sets.
pub(super) fn asked(case: Case<'_>) -> Verdict {
    let mut cache = new();
    let mut verdicts = Vec::new();
    for operation in calls(&case) {
        let answer = call(&mut cache, operation);
        if let Some(got) = answer.filter(|got| got.is_array()) {
            verdicts.push(Verdict::equal(
                "answer",
                &set(&got),
                &set(&operation["ret"]),
            ));
        }
    }
    Verdict::all(verdicts)
}

/// Whether everybody who holds quota has its pods ready.
pub(super) fn pods_ready(case: Case<'_>) -> Verdict {
    let mut cache = new();
    let mut verdicts = Vec::new();
    for operation in calls(&case) {
        if let Some(got) = call(&mut cache, operation) {
            verdicts.push(Verdict::equal("answer", &got, &operation["ret"]));
        }
    }
    let want = json!(case.want["wantReady"] == true);
    verdicts.push(Verdict::equal(
        "ready",
        &json!(!cache.pods_not_ready()),
        &want,
    ));
    Verdict::all(verdicts)
}

fn without_zeros(usage: &Usage) -> Usage {
    let there = usage.iter().filter(|(_, amount)| amount.value() != 0);
    there.map(|(of, amount)| (of.clone(), *amount)).collect()
}

/// Usage of a status: `flavor/resource` and amount.
fn of_status(flavors: &Value) -> Usage {
    let mut found = Usage::new();
    for flavor in flavors.as_array().into_iter().flatten() {
        for resource in flavor["resources"].as_array().into_iter().flatten() {
            let name = format!(
                "{}/{}",
                flavor["name"].as_str().unwrap(),
                resource["name"].as_str().unwrap()
            );
            let of = flavor_resource(&name);
            let total: quantity::Quantity =
                resource["total"].as_str().unwrap_or("0").parse().unwrap();
            let amount = quantity::Amount::of(&of.resource, total);
            found.insert(of, amount);
        }
    }
    found
}

/// LocalQueues and what their workloads hold.
pub(super) fn local_queues(case: Case<'_>) -> Verdict {
    let mut cache = new();
    // The test's client has these from the beginning; deleting a ClusterQueue deletes what is known of its LocalQueues, too.
    let mut gone = BTreeSet::new();
    for operation in calls(&case) {
        let _ = call(&mut cache, operation);
        if operation["op"] == "Cache.DeleteClusterQueue" {
            gone.insert(
                operation["args"]["cq"]["metadata"]["name"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
            );
        }
    }
    let mut verdicts = Vec::new();
    for (name, want) in case.want["wantLocalQueues"]
        .as_object()
        .into_iter()
        .flatten()
    {
        let (namespace, short) = name.split_once('/').unwrap();
        let status = cache.local_queue_status(&LocalQueueKey::new(namespace, short), now());
        let status = json!(status);
        let number = |value: &Value| value.as_i64().unwrap_or(0);
        let got = (
            number(&status["reservingWorkloads"]),
            number(&status["admittedWorkloads"]),
            without_zeros(&of_status(&status["flavorsReservation"])),
            without_zeros(&of_status(&status["flavorsUsage"])),
        );
        let want = (
            number(&want["reservingWorkloads"]),
            number(&want["admittedWorkloads"]),
            without_zeros(&usage(&want["totalReserved"])),
            without_zeros(&usage(&want["admittedUsage"])),
        );
        verdicts.push(Verdict::equal(name, &got, &want));
    }
    Verdict::all(verdicts)
}

/// Workloads of ClusterQueues and what they hold. The test's client has `a` and `b` in `one`, and `c` in `two`, before the first call.
pub(super) fn workloads(case: Case<'_>) -> Verdict {
    let mut cache = new();
    let made = |name: &str, queue: &str, assignments: &Value, pod_sets: &Value| -> Workload {
        parse(&json!({
            "metadata": {"name": name}, "spec": {"podSets": pod_sets},
            "status": {
                "admission": {"clusterQueue": queue, "podSetAssignments": assignments},
                "conditions": [{"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": "", "lastTransitionTime": "2026-08-22T12:00:00Z"}],
            },
        }))
    };
    let (full, none) = (&case.common["psAssignments"], &json!([]));
    for workload in [
        made("a", "one", full, &case.common["podSets"]),
        made("b", "one", none, none),
        made("c", "two", none, none),
    ] {
        let _ = cache.apply_workload(&workload, now());
    }
    let mut verdicts = Vec::new();
    for operation in calls(&case) {
        if let Some(got) = call(&mut cache, operation) {
            verdicts.push(Verdict::equal("answer", &got, &operation["ret"]));
        }
    }
    let snapshot = cache.snapshot();
    for (name, want) in case.want["wantResults"].as_object().into_iter().flatten() {
        let queue = ClusterQueueName::from(name.as_str());
        let held = snapshot.admitted.get(&queue);
        let held: BTreeSet<String> = held
            .into_iter()
            .flat_map(|all| all.keys())
            .map(ToString::to_string)
            .collect();
        verdicts.push(Verdict::equal(name, &held, &set(&want["workloads"])));
        let used = snapshot
            .tree
            .cluster_queue(&queue)
            .map(|id| snapshot.tree.usage_of(id).clone());
        let used = without_zeros(&used.unwrap_or_default());
        verdicts.push(Verdict::equal(
            "usage",
            &used,
            &without_zeros(&usage(&want["usedResources"])),
        ));
    }
    Verdict::all(verdicts)
}

/// ClusterQueues and Cohorts as they are after all calls. The counter that invalidates remembered searches is compared where it is alone,
/// in `TestClusterQueueUpdate`: how often a tree was built is nobody's concern.
pub(super) fn cluster_queues(case: Case<'_>) -> Verdict {
    let mut cache = new();
    for workload in in_client(&case) {
        let _ = cache.apply_workload(&workload, now());
    }
    for operation in calls(&case) {
        let _ = call(&mut cache, operation);
    }
    let snapshot = cache.snapshot();
    let mut verdicts = Vec::new();
    let wanted = case.want["wantClusterQueues"].as_object();
    for (name, want) in wanted.into_iter().flatten() {
        let queue = ClusterQueueName::from(name.as_str());
        let Some(spec) = snapshot.cluster_queues.get(&queue) else {
            return Verdict::Failed(format!("{name} is missing"));
        };
        let active = json!(if spec.active { "active" } else { "pending" });
        verdicts.push(Verdict::equal(name, &active, &want["status"]));
        let id = snapshot.tree.cluster_queue(&queue).unwrap();
        if !want["resourceNode"].is_null() {
            verdicts.push(node(&snapshot.tree, id, name, &want["resourceNode"]));
        }
        let held = snapshot.admitted.get(&queue);
        let held: BTreeSet<String> = held
            .into_iter()
            .flat_map(|all| all.keys())
            .map(ToString::to_string)
            .collect();
        let there = want["workloads"].as_object().into_iter().flatten();
        let there = there.map(|(key, _)| key.clone()).collect();
        verdicts.push(Verdict::equal("workloads", &held, &there));
    }
    let known: BTreeSet<String> = snapshot
        .cluster_queues
        .keys()
        .map(ToString::to_string)
        .collect();
    let want: BTreeSet<String> = wanted
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect();
    verdicts.push(Verdict::equal("ClusterQueues", &known, &want));
    verdicts.push(members(&snapshot.tree, &case.want["wantCohorts"]));
    Verdict::all(verdicts)
}

/// Workloads that the test's client has before the first call. The data show of them what the cache shows: what they hold, and where.
fn in_client(case: &Case<'_>) -> Vec<Workload> {
    let queues = case.want["wantClusterQueues"].as_object();
    let states = queues.into_iter().flat_map(|all| all.values());
    let infos = states.filter_map(|state| state["workloads"].as_object());
    let unseen = infos.flatten().filter(|(_, info)| info["obj"].is_null());
    unseen.map(|(key, info)| reserving(key, info)).collect()
}

fn reserving(key: &str, info: &Value) -> Workload {
    let (namespace, name) = key.split_once('/').unwrap_or(("", key));
    let of = |total: &Value| {
        let requests: BTreeMap<String, i64> = read(&total["requests"]);
        let text = |(name, amount): (String, i64)| {
            let resource = quantity::ResourceName::from(name.as_str());
            let amount = quantity::Amount::new(amount).to_quantity(&resource);
            (name, amount.to_string())
        };
        let usage: BTreeMap<String, String> = requests.into_iter().map(text).collect();
        json!({"name": total["name"], "count": total["count"], "flavors": total["flavors"], "resourceUsage": usage})
    };
    let totals: Vec<Value> = read(&info["totalRequests"]);
    let pod_set =
        |total: &Value| json!({"name": total["name"], "count": total["count"], "template": {}});
    parse(&json!({
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"podSets": totals.iter().map(pod_set).collect::<Vec<_>>()},
        "status": {
            "admission": {
                "clusterQueue": info["clusterQueue"],
                "podSetAssignments": totals.iter().map(of).collect::<Vec<_>>(),
            },
            "conditions": [{"type": conditions::workload::QUOTA_RESERVED, "status": "True", "reason": "QuotaReserved", "message": "", "lastTransitionTime": "2026-08-22T12:00:00Z"}],
        },
    }))
}

fn node(tree: &QuotaTree, id: scheduler::NodeId, name: &str, want: &Value) -> Verdict {
    let used = without_zeros(tree.usage_of(id));
    let wanted = without_zeros(&usage(&want["usage"]));
    Verdict::equal(&format!("{name} usage"), &used, &wanted)
}

/// The ClusterQueues directly below each cohort.
fn members(tree: &QuotaTree, want: &Value) -> Verdict {
    let mut got: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let names: BTreeMap<_, _> = tree.nodes().collect();
    for (id, holder) in tree.nodes() {
        let (Holder::ClusterQueue(name), Some(parent)) = (holder, tree.parent(id)) else {
            continue;
        };
        if let Some(Holder::Cohort(cohort)) = names.get(&parent) {
            got.entry(cohort.to_string())
                .or_default()
                .insert(name.to_string());
        }
    }
    let list = |value: &Value| {
        if value.is_array() {
            set(value)
        } else {
            value
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| name.clone())
                .collect()
        }
    };
    let want = want.as_object().into_iter().flatten();
    let want: BTreeMap<String, BTreeSet<String>> = want
        .map(|(name, all)| (name.clone(), list(all)))
        .filter(|(_, all)| !all.is_empty())
        .collect();
    Verdict::equal("cohorts", &got, &want)
}

/// Whether changing quotas makes searches begin anew.
pub(super) fn generation(case: Case<'_>) -> Verdict {
    let mut cache = new();
    for flavor in each::<ResourceFlavor>(&case.common["resourceFlavors"]) {
        let _ = cache.apply_resource_flavor(&flavor);
    }
    let queue: ClusterQueue = parse(&case.input["cq"]);
    let _ = cache.apply_namespace(&parse(&json!({"metadata": {"name": "ns"}})));
    let _ = cache.apply_local_queue(&parse(&json!({"metadata": {"name": "door", "namespace": "ns"}, "spec": {"clusterQueue": queue.name()}})), now());
    let mut generations = Vec::new();
    for queue in [queue, parse(&case.input["newcq"])] {
        let _ = cache.apply_cluster_queue(&queue, now());
        let workload = json!({"metadata": {"name": format!("w{}", generations.len()), "namespace": "ns"}, "spec": {"queueName": "door", "podSets": []}});
        let _ = cache.apply_workload(&parse(&workload), now());
        let cycle = cache.begin_cycle(now()).unwrap();
        let generation = cycle.heads[0].generation;
        let _ = cache.delete_workload(&cycle.heads[0].workload.key);
        generations.push(generation);
    }
    let want = case.want["wantLastAssignmentGeneration"]
        .as_u64()
        .unwrap_or(1);
    Verdict::equal("advanced", &(generations[1] > generations[0]), &(want > 1))
}

/// Calls that fail in the reference because cohorts form a circle.
pub(super) fn cycles(case: Case<'_>) -> Verdict {
    let mut cache = new();
    for operation in calls(&case) {
        let _ = call(&mut cache, operation);
        let args = &operation["args"];
        let name = |field: &str| args[field]["metadata"]["name"].as_str().map(str::to_owned);
        let caught = if let Some(queue) = name("cq") {
            cache.snapshot().tree.in_cycle(&queue.as_str().into())
        } else if let Some(cohort) = name("apiCohort") {
            cache.cohorts_from(&CohortName::new(cohort)).is_none()
        } else {
            false
        };
        if caught != operation["ret"].is_string() {
            return Verdict::Failed(format!("{} {args}: in a circle: {caught}", operation["op"]));
        }
    }
    Verdict::Passed
}

fn ancestors(case: &Case<'_>, from: Option<&str>, without_root: bool) -> Verdict {
    let mut cache = new();
    for queue in each::<ClusterQueue>(&case.input["cqs"]) {
        let _ = cache.apply_cluster_queue(&queue, now());
    }
    for cohort in each::<Cohort>(&case.input["cohorts"]) {
        let _ = cache.apply_cohort(&cohort);
    }
    let found = from.map_or_else(|| Some(Vec::new()), |name| cache.cohorts_from(&name.into()));
    let got = found.map(|mut all| {
        if without_root {
            all.pop();
        }
        all.iter().map(ToString::to_string).collect::<Vec<_>>()
    });
    let wanted = (!case.want["wantErr"].is_string())
        .then(|| read::<Vec<String>>(&case.want["wantAncestors"]));
    Verdict::equal("ancestors", &got, &wanted)
}

pub(super) fn above_cohort(case: Case<'_>) -> Verdict {
    ancestors(&case, case.input["cohortName"].as_str(), false)
}

pub(super) fn above_queue(case: Case<'_>) -> Verdict {
    ancestors(&case, case.input["cq"]["spec"]["cohortName"].as_str(), true)
}

pub(super) fn above_workload(case: Case<'_>) -> Verdict {
    let queue = case.input["wl"]["status"]["admission"]["clusterQueue"].as_str();
    let queues = case.input["cqs"].as_array().into_iter().flatten();
    let mut queues = queues.filter(|object| object["metadata"]["name"].as_str() == queue);
    let cohort = queues
        .next()
        .and_then(|object| object["spec"]["cohortName"].as_str());
    ancestors(&case, cohort, false)
}

/// What a cohort could lend, by resource.
pub(super) fn lendable(case: Case<'_>) -> Verdict {
    let mut cache = new();
    for queue in each::<ClusterQueue>(&case.input["setup"]) {
        let _ = cache.apply_cluster_queue(&queue, now());
    }
    let tree = cache.snapshot().tree;
    let id = tree.cohort(&"test-cohort".into()).unwrap();
    let want: BTreeMap<String, i64> = read(&case.want["wantLendable"]);
    let one = |name: &String| {
        (
            name.clone(),
            tree.lendable(id, &name.as_str().into()).value(),
        )
    };
    let got: BTreeMap<_, _> = want.keys().map(one).collect();
    Verdict::equal("lendable", &got, &want)
}

/// Whether a ClusterQueue borrows at all, and any of what is asked for.
pub(super) fn borrowing(case: Case<'_>) -> Verdict {
    let mut cache = new();
    for queue in each::<ClusterQueue>(&case.input["setup"]) {
        let _ = cache.apply_cluster_queue(&queue, now());
    }
    let mut tree = cache.snapshot().tree;
    let used = usage(&case.input["usage"]);
    tree.add(&"cq".into(), &used);
    let id = tree.cluster_queue(&"cq".into()).unwrap();
    let asked = usage(&case.input["requestedFRs"]);
    let borrows =
        |of: &scheduler::FlavorResource| tree.borrows_with(id, of, quantity::Amount::ZERO);
    let got = (used.keys().any(borrows), asked.keys().any(borrows));
    let want = (
        case.want["wantBorrowing"] == true,
        case.want["wantBorrowingOnRequested"] == true,
    );
    Verdict::equal("borrows", &got, &want)
}

/// A LocalQueue of a ClusterQueue.
pub(super) fn local_queue(case: Case<'_>) -> Verdict {
    let mut cache = new();
    let mut found = None;
    for operation in calls(&case) {
        if operation["op"] != "Cache.GetCacheLocalQueue" {
            let _ = call(&mut cache, operation);
            continue;
        }
        let args = &operation["args"];
        let queue = ClusterQueueName::new(args["cqName"].as_str().unwrap());
        let (namespace, name) = args["lqKey"].as_str().unwrap().split_once('/').unwrap();
        let status = cache.local_queue_status(&LocalQueueKey::new(namespace, name), now());
        found = Some(status.is_some() && cache.cluster_queues().any(|known| *known == queue));
    }
    let want = !case.want["wantErr"].is_string();
    Verdict::equal("found", &found, &Some(want))
}

/// Whether a workload holds quota.
pub(super) fn added(case: Case<'_>) -> Verdict {
    let mut cache = new();
    for (queue, state) in case.input["clusterQueues"]
        .as_object()
        .into_iter()
        .flatten()
    {
        let _ = cache.apply_cluster_queue(
            &parse(&json!({"metadata": {"name": queue}, "spec": {}})),
            now(),
        );
        for info in state["workloads"]
            .as_object()
            .into_iter()
            .flat_map(|all| all.values())
        {
            let mut object = info["obj"].clone();
            // What the reference's cache has in a ClusterQueue holds its quota, whatever the record of the test leaves out.
            object["status"] = json!({
                "admission": {"clusterQueue": queue},
                "conditions": [{"type": conditions::workload::QUOTA_RESERVED, "status": "True", "reason": "QuotaReserved", "message": "", "lastTransitionTime": "2026-08-22T12:00:00Z"}],
            });
            object["spec"] = json!({"podSets": []});
            let _ = cache.apply_workload(&parse(&object), now());
        }
    }
    let mut asked = case.input["workload"]["obj"].clone();
    asked["spec"] = json!({"podSets": []});
    let got = holds(&mut cache, &parse(&asked));
    Verdict::equal(
        "holds quota",
        &json!(got),
        &json!(case.want["expected"] == true),
    )
}
