//! What a workload asks for, its place in the queue, and which workloads count as equal.

use cache::{Cache, Options, PodsReadyTimestamp, WorkloadKey};
use kueue_api::v1beta2::{ClusterQueue, LocalQueue, Workload};
use scheduler::Defect;
use serde_json::{Value, json};

use crate::corpus::{load, name, now, read};

fn converted(workload: &Workload, options: Options) -> std::sync::Arc<scheduler::Workload> {
    let mut cache = Cache::new(options);
    let _ = cache.apply_workload(workload, now());
    cache
        .workload(&WorkloadKey::new(workload.namespace(), workload.name()))
        .unwrap()
}

#[test]
fn pending_workloads_ask_for_what_the_reference_counts() {
    let Some(corpus) = load("pkg-workload/TestNewInfo.json") else {
        return;
    };
    let mut compared = 0;
    for case in &corpus.cases {
        let (input, wanted) = (&case["in"], &case["want"]["wantInfo"]["totalRequests"]);
        let option = &input["infoOptions"][0];
        let admitted = !input["workload"]["status"]["admission"].is_null();
        if !option["resourceTransformations"].is_null() || admitted {
            continue; // Transformations are not built yet; admitted workloads are counted by their admission.
        }
        let mut options = Options {
            exclude_resource_prefixes: read(&option["excludedResourcePrefixes"]),
            ..Options::default()
        };
        options.features.reclaimable_pods = input["featureGates"]["ReclaimablePods"] != false;
        let workload = converted(&read(&input["workload"]), options);
        let of_set = |pod_set: &scheduler::PodSet| {
            let total = pod_set.per_pod.times(pod_set.count);
            let requests: serde_json::Map<_, _> = total
                .iter()
                .map(|(resource, amount)| (resource.to_string(), json!(amount.value())))
                .collect();
            json!({"count": pod_set.count, "name": pod_set.name.as_str(), "requests": requests})
        };
        let got: Vec<Value> = workload.pod_sets.iter().map(of_set).collect();
        assert_eq!(json!(got), *wanted, "{}", name(case));
        compared += 1;
    }
    assert!(compared >= 4, "only {compared} cases were compared");
}

#[test]
fn requests_above_limits_are_found_where_the_reference_finds_them() {
    let Some(corpus) = load("pkg-workload/TestValidateResources.json") else {
        return;
    };
    for case in &corpus.cases {
        let workload: Workload = read(&case["in"]["workloadInfo"]["obj"]);
        let found = match &converted(&workload, Options::default()).defect {
            Some(Defect::RequestsAboveLimits(found)) => found.clone(),
            None => Vec::new(),
            other => panic!("{}: {other:?}", name(case)),
        };
        let text = |error: &Value| {
            let (field, detail) = (
                error["field"].as_str().unwrap(),
                error["detail"].as_str().unwrap(),
            );
            format!("{field}: Invalid value: {}: {detail}", error["badValue"])
        };
        let wanted: Vec<_> = read::<Vec<Value>>(&case["want"]["wantError"])
            .iter()
            .map(text)
            .collect();
        assert_eq!(found, wanted, "{}", name(case));
    }
}

#[test]
fn places_in_the_queue_are_those_of_the_reference() {
    let Some(corpus) = load("pkg-workload/TestGetQueueOrderTimestamp.json") else {
        return;
    };
    for case in &corpus.cases {
        for wanted in read::<Vec<Value>>(&case["want"]["want"]) {
            let by_creation = wanted["key"]["podsReadyRequeuingTimestamp"] == "Creation";
            let pods_ready_timestamp = if by_creation {
                PodsReadyTimestamp::Creation
            } else {
                PodsReadyTimestamp::Eviction
            };
            let got = converted(
                &read(&case["in"]["wl"]),
                Options {
                    pods_ready_timestamp,
                    ..Options::default()
                },
            )
            .queued;
            assert_eq!(
                json!(got.to_string()),
                wanted["value"],
                "{} {}",
                name(case),
                wanted["key"]
            );
        }
    }
}

#[test]
fn equal_workloads_are_those_of_the_reference() {
    let Some(corpus) = load("pkg-workload/TestSchedulingHash.json") else {
        return;
    };
    for case in &corpus.cases {
        let input = &case["in"];
        if input["wl1"].is_null() {
            continue; // Device requests are not built yet.
        }
        let mut options = Options::default();
        options.features.priority_boost = input["featureGates"]["PriorityBoost"] == true;
        options.features.concurrent_admission =
            input["featureGates"]["ConcurrentAdmission"] == true;
        let shape = |workload: &Value| converted(&read(workload), options.clone()).shape;
        let same = shape(&input["wl1"]) == shape(&input["wl2"]);
        assert_eq!(same, case["want"]["wantSame"] == true, "{}", name(case));
    }
}

#[test]
fn the_first_in_the_queue_is_the_one_the_reference_takes() {
    let Some(corpus) = load("pkg-cache-queue/TestStrictFIFO.json") else {
        return;
    };
    for case in &corpus.cases {
        let input = &case["in"];
        let by_creation = input["workloadOrdering"]["podsReadyRequeuingTimestamp"] == "Creation";
        let pods_ready_timestamp = if by_creation {
            PodsReadyTimestamp::Creation
        } else {
            PodsReadyTimestamp::Eviction
        };
        let mut cache = Cache::new(Options {
            pods_ready_timestamp,
            ..Options::default()
        });
        let _ = cache.apply_cluster_queue(&ClusterQueue::named("cq"), now());
        let mut door = LocalQueue::named("door");
        door.metadata.namespace = Some("ns".to_owned());
        door.spec.cluster_queue = Some("cq".to_owned());
        let _ = cache.apply_local_queue(&door, now());
        for one in ["w1", "w2"] {
            let mut workload: Workload = read(&input[one]);
            workload.metadata.namespace = Some("ns".to_owned());
            workload.spec.queue_name = Some("door".to_owned());
            let _ = cache.apply_workload(&workload, now());
        }
        let first = cache.pending_workloads(&"cq".into()).unwrap()[0]
            .key
            .name
            .to_string();
        assert_eq!(json!(first), case["want"]["expected"], "{}", name(case));
    }
}
