//! The place of a workload in the queue.

use cache::{Cache, Options, PodsReadyTimestamp};
use kueue_api::v1beta2::{ClusterQueue, LocalQueue, Workload};
use serde_json::json;

use crate::corpus::{load, name, now, read};

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
