//! The quota tree, the usage of queues, and whether ClusterQueues are ready.

use cache::{Cache, LocalQueueKey, Options};
use kueue_api::v1beta2::ClusterQueue;
use scheduler::{Granular, Mode, Possibility, Preference};
use serde_json::{Value, json};

use crate::corpus::{
    amount, apply, each, flavor_resource, load, name, now, queue_name, read, usage,
};

#[test]
fn available_quota_is_that_of_the_reference() {
    let Some(corpus) = load("pkg-cache-scheduler/TestAvailable.json") else {
        return;
    };
    for case in &corpus.cases {
        let (input, want) = (&case["in"], &case["want"]);
        let mut cache = Cache::new(Options::default());
        apply(
            &mut cache,
            &Value::Null,
            &input["clusterQueues"],
            &input["cohorts"],
        );
        let mut tree = cache.snapshot().tree;
        let check = |tree: &scheduler::QuotaTree, want: &Value, potential: bool| {
            for (queue, wanted) in want.as_object().unwrap() {
                let id = tree.cluster_queue(&queue_name(queue)).unwrap();
                for (of, wanted) in wanted.as_object().unwrap() {
                    let of = flavor_resource(of);
                    let got = if potential {
                        tree.potential(id, &of)
                    } else {
                        tree.available(id, &of)
                    };
                    assert_eq!(
                        got,
                        amount(wanted),
                        "{}: {queue} {of}, potential: {potential}",
                        name(case)
                    );
                }
            }
        };
        check(&tree, &want["wantPotentiallyAvailable"], true);
        check(&tree, &want["wantPotentiallyAvailable"], false);
        for (queue, used) in input["usage"].as_object().into_iter().flatten() {
            tree.add(&queue_name(queue), &usage(used));
        }
        check(&tree, &want["wantPotentiallyAvailable"], true);
        check(&tree, &want["wantAvailable"], false);
    }
}

#[test]
fn cluster_queues_report_the_usage_of_their_workloads() {
    let Some(corpus) = load("pkg-cache-scheduler/TestClusterQueueUsage.json") else {
        return;
    };
    for case in &corpus.cases {
        let (input, want) = (&case["in"], &case["want"]);
        let mut cache = Cache::new(Options::default());
        let queue: ClusterQueue = serde_json::from_value(input["clusterQueue"].clone()).unwrap();
        let _ = cache.apply_cluster_queue(&queue, now());
        for workload in each(&input["workloads"]) {
            let _ = cache.apply_workload(&workload, now());
        }
        let status = cache
            .cluster_queue_status(&queue_name(queue.name()), now())
            .unwrap();
        let got = json!({
            "reserved": status.flavors_reservation, "used": status.flavors_usage,
            "reserving": status.reserving_workloads, "admitted": status.admitted_workloads,
        });
        let wanted = json!({
            "reserved": want["wantReservedResources"], "used": want["wantUsedResources"],
            "reserving": want["wantReservingWorkloads"], "admitted": want["wantAdmittedWorkloads"],
        });
        assert_eq!(got, wanted, "{}", name(case));
    }
}

#[test]
fn local_queues_report_the_usage_of_their_workloads() {
    let Some(corpus) = load("pkg-cache-scheduler/TestLocalQueueUsage.json") else {
        return;
    };
    let queue: kueue_api::v1beta2::LocalQueue = read(&corpus.common["localQueue"]);
    for case in &corpus.cases {
        let (input, want) = (&case["in"], &case["want"]);
        let mut cache = Cache::new(Options::default());
        let _ = cache.apply_local_queue(&queue, now());
        if !input["cq"].is_null() {
            let _ = cache.apply_cluster_queue(&read(&input["cq"]), now());
        }
        for workload in each(&input["wls"]) {
            let _ = cache.apply_workload(&workload, now());
        }
        let key = LocalQueueKey::new(
            queue.metadata.namespace.as_deref().unwrap_or_default(),
            queue.name(),
        );
        let status = cache.local_queue_status(&key, now()).unwrap();
        let wanted = if want["wantUsage"].is_null() {
            json!([])
        } else {
            want["wantUsage"].clone()
        };
        assert_eq!(json!(status.flavors_reservation), wanted, "{}", name(case));
    }
}

#[test]
fn readiness_has_the_reasons_and_messages_of_the_reference() {
    let Some(corpus) = load("pkg-cache-scheduler/TestClusterQueueReadiness.json") else {
        return;
    };
    for case in &corpus.cases {
        let (input, want) = (&case["in"], &case["want"]);
        let mut cache = Cache::new(Options::default());
        for check in each(&input["admissionChecks"]) {
            let _ = cache.apply_admission_check(&check);
        }
        apply(
            &mut cache,
            &input["resourceFlavors"],
            &json!([]),
            &json!([]),
        );
        for mut queue in each::<ClusterQueue>(&input["clusterQueues"]) {
            if input["terminate"] == true {
                queue.metadata.deletion_timestamp = Some(kueue_api::Time(now()));
            }
            let _ = cache.apply_cluster_queue(&queue, now());
        }
        let readiness = cache.readiness(&queue_name(input["clusterQueueName"].as_str().unwrap()));
        let Some(readiness) = readiness else {
            assert_eq!(want["wantReason"], "NotFound", "{}", name(case));
            continue;
        };
        let got = json!([readiness.active, readiness.reason, readiness.message]);
        let wanted = json!([want["wantActive"], want["wantReason"], want["wantMessage"]]);
        assert_eq!(got, wanted, "{}", name(case));
    }
}

#[test]
fn flavors_are_preferred_as_by_the_reference() {
    let Some(corpus) = load("pkg-scheduler-flavorassigner/TestIsPreferred.json") else {
        return;
    };
    let granular = |value: &Value| {
        let (mode, possibility) = match value["preemptionMode"].as_u64().unwrap() {
            0 => (Mode::NoFit, None),
            1 => (Mode::Preempt, Some(Possibility::NoCandidates)),
            2 => (Mode::Preempt, Some(Possibility::Preempt)),
            3 => (Mode::Preempt, Some(Possibility::Reclaim)),
            _ => (Mode::Fit, None),
        };
        Granular {
            mode,
            possibility,
            borrow: usize::try_from(value["borrowingLevel"].as_u64().unwrap()).unwrap(),
        }
    };
    for case in &corpus.cases {
        let input = &case["in"];
        let preference = match input["config"]["preference"].as_str() {
            Some("PreemptionOverBorrowing") => Preference::PreemptionOverBorrowing,
            _ => Preference::BorrowingOverPreemption,
        };
        let got = granular(&input["a"]).preferred_over(granular(&input["b"]), preference);
        assert_eq!(
            Value::Bool(got),
            case["want"]["wantPreferred"],
            "{}",
            name(case)
        );
    }
}
