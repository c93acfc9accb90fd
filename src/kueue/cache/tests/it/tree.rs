//! The quota tree as a whole: quotas, what subtrees bring in, and usage at every node, also after workloads left and came back.

use cache::{Cache, Options, WorkloadKey};
use kueue_api::v1beta2::Workload;
use scheduler::{NodeId, QuotaTree, Usage};
use serde_json::Value;

use crate::corpus::{apply, each, load, name, now, read, usage};

fn node(tree: &QuotaTree, kind: &str, named: &str) -> Option<NodeId> {
    match kind {
        "cohorts" => tree.cohort(&named.into()),
        _ => tree.cluster_queue(&named.into()),
    }
}

/// Usage without zeros: the reference drops some and keeps others.
fn without_zeros(usage: Usage) -> Usage {
    usage
        .into_iter()
        .filter(|(_, amount)| amount.value() != 0)
        .collect()
}

fn compare(tree: &QuotaTree, case: &Value, wanted: &Value) {
    for kind in ["cohorts", "clusterQueues"] {
        for (named, wanted) in wanted["manager"][kind].as_object().into_iter().flatten() {
            let id = node(tree, kind, named)
                .unwrap_or_else(|| panic!("{}: {kind} {named} is missing", name(case)));
            let wanted = &wanted["resourceNode"];
            let subtree = tree.subtree_quotas(id).clone();
            assert_eq!(
                without_zeros(subtree),
                without_zeros(usage(&wanted["subtreeQuota"])),
                "{}: {named} subtree",
                name(case)
            );
            let used = without_zeros(tree.usage_of(id).clone());
            assert_eq!(
                used,
                without_zeros(usage(&wanted["usage"])),
                "{}: {named} usage",
                name(case)
            );
        }
    }
}

#[test]
fn snapshots_are_those_of_the_reference() {
    let Some(corpus) = load("pkg-cache-scheduler/TestSnapshot.json") else {
        return;
    };
    for case in &corpus.cases {
        let (input, wanted) = (&case["in"], &case["want"]["wantSnapshot"]);
        if wanted.is_null() {
            continue; // Usage by topology is not built yet.
        }
        let mut cache = Cache::new(Options::default());
        apply(&mut cache, &input["rfs"], &input["cqs"], &input["cohorts"]);
        for workload in each(&input["wls"]) {
            let _ = cache.apply_workload(&workload, now());
        }
        let snapshot = cache.snapshot();
        compare(&snapshot.tree, case, wanted);
        let circular = |queue: &&str| snapshot.tree.in_cycle(&(*queue).into());
        let known: Vec<_> = snapshot
            .cluster_queues
            .keys()
            .map(|queue| queue.as_str())
            .collect();
        let caught: Vec<_> = known.into_iter().filter(circular).collect();
        for queue in &caught {
            assert!(
                wanted["manager"]["clusterQueues"][queue].is_null(),
                "{}: {queue}",
                name(case)
            );
        }
    }
}

#[test]
fn usage_follows_workloads_that_leave_and_come_back() {
    let files = [
        "TestSnapshotAddRemoveWorkload",
        "TestSnapshotAddRemoveWorkloadWithLendingLimit",
    ];
    for file in files {
        let Some(corpus) = load(&format!("pkg-cache-scheduler/{file}.json")) else {
            return;
        };
        let common = &corpus.common;
        for case in &corpus.cases {
            let mut cache = Cache::new(Options::default());
            apply(
                &mut cache,
                &common["flavors"],
                &common["clusterQueues"],
                &Value::Null,
            );
            let all: Vec<Workload> = each(&common["workloads"]);
            for workload in &all {
                let _ = cache.apply_workload(workload, now());
            }
            for gone in case["in"]["remove"].as_array().into_iter().flatten() {
                let (namespace, named) = gone.as_str().unwrap().split_once('/').unwrap();
                let _ = cache.delete_workload(&WorkloadKey::new(namespace, named));
            }
            for back in case["in"]["add"].as_array().into_iter().flatten() {
                let workload = all
                    .iter()
                    .find(|workload| workload.key() == back.as_str().unwrap());
                let _ = cache.apply_workload(workload.unwrap(), now());
            }
            compare(&cache.snapshot().tree, case, &case["want"]["want"]);
            let wrong: Vec<_> = cache
                .check()
                .into_iter()
                .filter(|found| matches!(found, cache::Violation::WrongSum { .. }))
                .collect();
            assert_eq!(wrong, [], "{}", name(case));
        }
    }
}

#[test]
fn a_deleted_cohort_takes_its_quota_from_all_above() {
    let file = "pkg-cache-scheduler/TestDeleteCohortUpdatesAncestorSubtreeQuota.json";
    let Some(corpus) = load(file) else {
        return;
    };
    let check = |cache: &mut Cache, case: &Value, wanted: &Value| {
        let tree = cache.snapshot().tree;
        for (cohort, wanted) in wanted.as_object().unwrap() {
            let id = tree.cohort(&cohort.as_str().into()).unwrap();
            assert_eq!(
                tree.subtree_quotas(id),
                &usage(wanted),
                "{}: {cohort}",
                name(case)
            );
        }
    };
    for case in &corpus.cases {
        let mut cache = Cache::new(Options::default());
        for operation in case["in"]["operations"].as_array().into_iter().flatten() {
            let args = &operation["args"];
            match operation["op"].as_str().unwrap() {
                "Cache.AddOrUpdateCohort" => drop(cache.apply_cohort(&read(&args["apiCohort"]))),
                "Cache.AddClusterQueue" => {
                    drop(cache.apply_cluster_queue(&read(&args["cq"]), now()));
                }
                "Cache.DeleteCohort" => {
                    check(&mut cache, case, &case["want"]["wantBefore"]);
                    let _ = cache.delete_cohort(&args["cohortName"].as_str().unwrap().into());
                }
                other => panic!("{}: {other} {args}", name(case)),
            }
        }
        check(&mut cache, case, &case["want"]["wantAfter"]);
    }
}
