//! The quota tree as a whole, usage as statuses say it, and whether ClusterQueues can admit anything.

use std::collections::BTreeMap;

use cache::{Cache, LocalQueueKey, Options, WorkloadKey};
use k8s_openapi::api::core::v1::Node;
use kueue_api::v1beta2::{
    AdmissionCheck, ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Workload,
};
use scheduler::{NodeId, QuotaTree, Usage};
use serde_json::{Value, json};

use crate::corpus::{Case, amount, each, flavor_resource, now, parse, read, usage};
use crate::verdict::Verdict;
use crate::world;

/// A cache with these flavors, ClusterQueues and Cohorts.
fn cache_of(flavors: &Value, queues: &Value, cohorts: &Value) -> Cache {
    let mut cache = Cache::new(Options::default());
    for flavor in each::<ResourceFlavor>(flavors) {
        let _ = cache.apply_resource_flavor(&flavor);
    }
    for queue in each::<ClusterQueue>(queues) {
        let _ = cache.apply_cluster_queue(&queue, now());
    }
    for cohort in each::<Cohort>(cohorts) {
        let _ = cache.apply_cohort(&cohort);
    }
    cache
}

/// What is available, with and without usage.
pub(super) fn available(case: Case<'_>) -> Verdict {
    let (input, want) = (case.input, case.want);
    let mut cache = cache_of(&Value::Null, &input["clusterQueues"], &input["cohorts"]);
    let mut tree = cache.snapshot().tree;
    let mut verdicts = Vec::new();
    let mut check = |tree: &QuotaTree, want: &Value, potential: bool| {
        for (queue, wanted) in want.as_object().into_iter().flatten() {
            let id = tree.cluster_queue(&queue.as_str().into()).unwrap();
            for (of, wanted) in wanted.as_object().into_iter().flatten() {
                let of = flavor_resource(of);
                let got = if potential {
                    tree.potential(id, &of)
                } else {
                    tree.available(id, &of)
                };
                let what = format!("{queue} {of}, potential: {potential}");
                verdicts.push(Verdict::equal(&what, &got, &amount(wanted)));
            }
        }
    };
    check(&tree, &want["wantPotentiallyAvailable"], true);
    check(&tree, &want["wantPotentiallyAvailable"], false);
    for (queue, used) in input["usage"].as_object().into_iter().flatten() {
        tree.add(&queue.as_str().into(), &usage(used));
    }
    check(&tree, &want["wantPotentiallyAvailable"], true);
    check(&tree, &want["wantAvailable"], false);
    Verdict::all(verdicts)
}

/// What the status of a ClusterQueue says.
pub(super) fn queue_usage(case: Case<'_>) -> Verdict {
    let (input, want) = (case.input, case.want);
    let mut cache = Cache::new(Options::default());
    let queue: ClusterQueue = parse(&input["clusterQueue"]);
    let _ = cache.apply_cluster_queue(&queue, now());
    for workload in each::<Workload>(&input["workloads"]) {
        let _ = cache.apply_workload(&workload, now());
    }
    let status = cache
        .cluster_queue_status(&queue.name().into(), now())
        .unwrap();
    let got = json!({
        "reserved": status.flavors_reservation, "used": status.flavors_usage,
        "reserving": status.reserving_workloads, "admitted": status.admitted_workloads,
    });
    let wanted = json!({
        "reserved": want["wantReservedResources"], "used": want["wantUsedResources"],
        "reserving": want["wantReservingWorkloads"], "admitted": want["wantAdmittedWorkloads"],
    });
    Verdict::equal("usage", &got, &wanted)
}

/// What the status of a LocalQueue says.
pub(super) fn local_usage(case: Case<'_>) -> Verdict {
    let queue: LocalQueue = read(&case.common["localQueue"]);
    let mut cache = Cache::new(Options::default());
    let _ = cache.apply_local_queue(&queue, now());
    if !case.input["cq"].is_null() {
        let _ = cache.apply_cluster_queue(&parse(&case.input["cq"]), now());
    }
    for workload in each::<Workload>(&case.input["wls"]) {
        let _ = cache.apply_workload(&workload, now());
    }
    let namespace = queue.metadata.namespace.as_deref().unwrap_or_default();
    let key = LocalQueueKey::new(namespace, queue.name());
    let status = cache.local_queue_status(&key, now()).unwrap();
    let wanted: Vec<Value> = read(&case.want["wantUsage"]);
    Verdict::equal("usage", &json!(status.flavors_reservation), &json!(wanted))
}

/// Status, reason and message of the condition Active.
pub(super) fn readiness(case: Case<'_>) -> Verdict {
    let (input, want) = (case.input, case.want);
    let mut cache = cache_of(&input["resourceFlavors"], &Value::Null, &Value::Null);
    for check in each::<AdmissionCheck>(&input["admissionChecks"]) {
        let _ = cache.apply_admission_check(&check);
    }
    for mut queue in each::<ClusterQueue>(&input["clusterQueues"]) {
        if input["terminate"] == true {
            queue.metadata.deletion_timestamp = Some(kueue_api::Time(now()));
        }
        let _ = cache.apply_cluster_queue(&queue, now());
    }
    let Some(readiness) = cache.readiness(&input["clusterQueueName"].as_str().unwrap().into())
    else {
        return Verdict::equal("missing", &json!("NotFound"), &want["wantReason"]);
    };
    let got = json!([readiness.active, readiness.reason, readiness.message]);
    let wanted = json!([want["wantActive"], want["wantReason"], want["wantMessage"]]);
    Verdict::equal("readiness", &got, &wanted)
}

/// The readiness of a ClusterQueue whose checks are known by what they say about themselves.
pub(super) fn with_checks(case: Case<'_>) -> Verdict {
    let input = case.input;
    let queue: ClusterQueue = parse(&input["cq"]);
    let mut cache = Cache::new(Options::default());
    for flavor in queue
        .spec
        .resource_groups
        .iter()
        .flat_map(|group| &group.flavors)
    {
        let _ = cache.apply_resource_flavor(&ResourceFlavor::named(&flavor.name));
    }
    for (name, check) in input["admissionChecks"].as_object().into_iter().flatten() {
        let active = if check["active"] == true {
            "True"
        } else {
            "False"
        };
        let object = json!({
            "metadata": {"name": name}, "spec": {"controllerName": check["controller"]},
            "status": {"conditions": [{"type": "Active", "status": active, "reason": "ByTest", "message": "", "lastTransitionTime": "2026-08-22T12:00:00Z"}]},
        });
        let _ = cache.apply_admission_check(&parse(&object));
    }
    stands(case, &mut cache, queue, input["cqStatus"] == "terminating")
}

/// The readiness of a ClusterQueue among these flavors.
pub(super) fn with_flavors(case: Case<'_>) -> Verdict {
    let mut cache = cache_of(&case.input["flavors"], &Value::Null, &Value::Null);
    let terminating = case.input["curStatus"] == "terminating";
    stands(case, &mut cache, parse(&case.common["cq"]), terminating)
}

fn stands(case: Case<'_>, cache: &mut Cache, mut queue: ClusterQueue, leaving: bool) -> Verdict {
    if leaving {
        queue.metadata.deletion_timestamp = Some(kueue_api::Time(now()));
    }
    let _ = cache.apply_cluster_queue(&queue, now());
    let readiness = cache.readiness(&queue.name().into()).unwrap();
    let status = match (leaving, readiness.active) {
        (true, _) => "terminating",
        (false, true) => "active",
        (false, false) => "pending",
    };
    let mut verdicts = vec![Verdict::equal(
        "status",
        &json!(status),
        &case.want["wantStatus"],
    )];
    if case.want["wantReason"].is_string() {
        let got = json!([readiness.reason, readiness.message]);
        let want = json!([case.want["wantReason"], case.want["wantMessage"]]);
        verdicts.push(Verdict::equal("readiness", &got, &want));
    }
    Verdict::all(verdicts)
}

/// Usage without zeros: the reference drops some and keeps others.
fn without_zeros(usage: Usage) -> Usage {
    usage
        .into_iter()
        .filter(|(_, amount)| amount.value() != 0)
        .collect()
}

fn node(tree: &QuotaTree, kind: &str, named: &str) -> Option<NodeId> {
    match kind {
        "cohorts" => tree.cohort(&named.into()),
        _ => tree.cluster_queue(&named.into()),
    }
}

fn compare(tree: &QuotaTree, wanted: &Value) -> Verdict {
    let mut verdicts = Vec::new();
    for kind in ["cohorts", "clusterQueues"] {
        for (named, wanted) in wanted["manager"][kind].as_object().into_iter().flatten() {
            let Some(id) = node(tree, kind, named) else {
                return Verdict::Failed(format!("{kind} {named} is missing"));
            };
            let wanted = &wanted["resourceNode"];
            let subtree = without_zeros(tree.subtree_quotas(id).clone());
            let used = without_zeros(tree.usage_of(id).clone());
            let want = |field: &str| without_zeros(usage(&wanted[field]));
            verdicts.push(Verdict::equal(
                &format!("{named} subtree"),
                &subtree,
                &want("subtreeQuota"),
            ));
            verdicts.push(Verdict::equal(
                &format!("{named} usage"),
                &used,
                &want("usage"),
            ));
        }
    }
    Verdict::all(verdicts)
}

/// Quotas, usage and workloads of everything. ClusterQueues below cohorts that form a circle take no part in decisions.
pub(super) fn snapshot(case: Case<'_>) -> Verdict {
    let wanted = &case.want["wantSnapshot"];
    if wanted.is_null() {
        return used_places(case);
    }
    let input = case.input;
    let mut cache = cache_of(&input["rfs"], &input["cqs"], &input["cohorts"]);
    for workload in each::<Workload>(&input["wls"]) {
        let _ = cache.apply_workload(&workload, now());
    }
    let snapshot = cache.snapshot();
    let queues = &wanted["manager"]["clusterQueues"];
    let mut verdicts = vec![compare(&snapshot.tree, wanted)];
    for (name, _) in snapshot.cluster_queues.iter() {
        if snapshot.tree.in_cycle(name) && !queues[name.as_str()].is_null() {
            verdicts.push(Verdict::Failed(format!("{name} is below a circle")));
        }
    }
    for (name, want) in queues.as_object().into_iter().flatten() {
        let held = snapshot.admitted.get(name.as_str());
        let held: Vec<String> = held
            .into_iter()
            .flat_map(|all| all.keys())
            .map(ToString::to_string)
            .collect();
        let want = want["workloads"].as_object().into_iter().flatten();
        let mut want: Vec<String> = want.map(|(key, _)| key.clone()).collect();
        want.sort();
        verdicts.push(Verdict::equal(name, &held, &want));
    }
    Verdict::all(verdicts)
}

/// What is used of nodes, as seen by each flavor that has them.
fn used_places(case: Case<'_>) -> Verdict {
    let input = case.input;
    let mut cache = Cache::new(world::options(&case));
    for topology in each(&input["topologies"]) {
        let _ = cache.apply_topology(&topology);
    }
    let nodes: Vec<Node> = each(&input["nodes"]);
    for node in &nodes {
        let _ = cache.apply_node(node);
    }
    for flavor in each::<ResourceFlavor>(&input["rfs"]) {
        let _ = cache.apply_resource_flavor(&flavor);
    }
    for queue in each::<ClusterQueue>(&input["cqs"]) {
        let _ = cache.apply_cluster_queue(&queue, now());
    }
    for (flavor, usage) in input["tasFlavorUsage"].as_object().into_iter().flatten() {
        for (at, usage) in usage.as_array().into_iter().flatten().enumerate() {
            let queue = &input["cqs"][0]["metadata"]["name"];
            let placed = placed(&format!("{flavor}-{at}"), queue, flavor, usage);
            let _ = cache.apply_workload(&placed, now());
        }
    }
    for flavor in each::<ResourceFlavor>(&input["relabeledFlavors"]) {
        let _ = cache.apply_resource_flavor(&flavor);
    }
    let snapshot = cache.snapshot();
    let mut verdicts = Vec::new();
    for (flavor, wanted) in case.want["wantTASUsage"].as_object().into_iter().flatten() {
        let topology = snapshot.topologies.get(flavor.as_str());
        for node in nodes.iter().filter_map(|node| node.metadata.name.clone()) {
            let used = topology.map(|topology| topology.used(std::slice::from_ref(&node)));
            let used: BTreeMap<String, i64> = used
                .iter()
                .flat_map(|used| used.iter())
                .map(|(name, amount)| (name.to_string(), amount.value()))
                .collect();
            let what = format!("{flavor} on {node}");
            verdicts.push(Verdict::equal(&what, &used, &read(&wanted[node.as_str()])));
        }
    }
    Verdict::all(verdicts)
}

/// A workload whose pods were sent to one domain.
fn placed(name: &str, queue: &Value, flavor: &str, usage: &Value) -> Workload {
    let count = usage["count"].as_i64().unwrap();
    let each = usage["singlePodRequests"].as_object().into_iter().flatten();
    let (mut flavors, mut used, mut asked) = (json!({}), json!({}), json!({}));
    let text = |resource: &str, amount: i64| match resource {
        "cpu" => json!(format!("{amount}m")),
        _ => json!(amount.to_string()),
    };
    for (resource, amount) in each {
        let amount = amount.as_i64().unwrap();
        flavors[resource] = json!(flavor);
        used[resource] = text(resource, amount * count);
        asked[resource] = text(resource, amount);
    }
    // What pods take from a node is what their template asks for, not what was charged.
    let container = json!({"name": "main", "resources": {"requests": asked}});
    let values = usage["values"].as_array().into_iter().flatten();
    let values: Vec<_> = values.map(|value| json!({"universal": value})).collect();
    let condition = |kind: &str| json!({"type": kind, "status": "True", "reason": "Test", "message": "", "lastTransitionTime": "2026-08-22T12:00:00Z"});
    parse(&json!({
        "metadata": {"name": name, "namespace": "ns", "uid": name},
        "spec": {"podSets": [{"name": "main", "count": count, "template": {"spec": {"containers": [container]}}}]},
        "status": {
            "conditions": [condition("QuotaReserved"), condition("Admitted")],
            "admission": {"clusterQueue": queue, "podSetAssignments": [{
                "name": "main",
                "count": count,
                "flavors": flavors,
                "resourceUsage": used,
                "topologyAssignment": {
                    "levels": ["kubernetes.io/hostname"],
                    "slices": [{"domainCount": 1, "podCounts": {"universal": count}, "valuesPerLevel": values}],
                },
            }]},
        },
    }))
}

/// Usage follows workloads that leave and come back.
pub(super) fn comings(case: Case<'_>) -> Verdict {
    let common = case.common;
    let mut cache = cache_of(&common["flavors"], &common["clusterQueues"], &Value::Null);
    let all: Vec<Workload> = each(&common["workloads"]);
    for workload in &all {
        let _ = cache.apply_workload(workload, now());
    }
    for gone in world::keys(&case.input["remove"]) {
        let _ = cache.delete_workload(&gone);
    }
    let known = |key: &WorkloadKey| all.iter().find(|workload| world::key(workload) == *key);
    for back in world::keys(&case.input["add"]) {
        let _ = cache.apply_workload(known(&back).unwrap(), now());
    }
    let compared = compare(&cache.snapshot().tree, &case.want["want"]);
    let wrong: Vec<_> = cache
        .check()
        .into_iter()
        .filter(|found| matches!(found, cache::Violation::WrongSum { .. }))
        .collect();
    Verdict::all([compared, Verdict::equal("sums", &wrong, &Vec::new())])
}

/// A deleted cohort takes its quota from all above.
pub(super) fn deleted_cohort(case: Case<'_>) -> Verdict {
    let mut cache = Cache::new(Options::default());
    let mut verdicts = Vec::new();
    let check = |cache: &mut Cache, wanted: &Value| {
        let tree = cache.snapshot().tree;
        let one = |(cohort, wanted): (&String, &Value)| {
            let id = tree.cohort(&cohort.as_str().into()).unwrap();
            Verdict::equal(cohort, tree.subtree_quotas(id), &usage(wanted))
        };
        Verdict::all(wanted.as_object().into_iter().flatten().map(one))
    };
    for operation in case.input["operations"].as_array().into_iter().flatten() {
        let args = &operation["args"];
        match operation["op"].as_str().unwrap() {
            "Cache.AddOrUpdateCohort" => drop(cache.apply_cohort(&read(&args["apiCohort"]))),
            "Cache.AddClusterQueue" => drop(cache.apply_cluster_queue(&read(&args["cq"]), now())),
            "Cache.DeleteCohort" => {
                verdicts.push(check(&mut cache, &case.want["wantBefore"]));
                let _ = cache.delete_cohort(&args["cohortName"].as_str().unwrap().into());
            }
            other => panic!("{other} is not known"),
        }
    }
    verdicts.push(check(&mut cache, &case.want["wantAfter"]));
    Verdict::all(verdicts)
}
