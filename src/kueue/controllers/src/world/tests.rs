//! Who is asked to look again when something changes.

use jiff::Timestamp;
use jobs::KINDS;
use jobs::kind::BATCH_JOB;
use kueue_api::v1beta2::{ClusterQueue, LocalQueue, Workload};
use serde_json::{Value, json};

use super::World;
use crate::key::Key;
use crate::watch::Seen;

fn world() -> World {
    World::new(cache::Options::default(), KINDS, || Timestamp::UNIX_EPOCH)
}

fn seen<K: serde::de::DeserializeOwned>(value: Value) -> Seen<K> {
    Seen::Object(Box::new(serde_json::from_value(value).unwrap()))
}

fn workload(version: &str) -> Workload {
    let owner = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "ju", "controller": true}]);
    let value = json!({
        "metadata": {"name": "w", "namespace": "reef", "uid": "wu", "resourceVersion": version, "ownerReferences": owner},
        "spec": {"queueName": "lq", "podSets": [{"name": "main", "count": 1, "template": {"spec": {"containers": []}}}]}
    });
    serde_json::from_value(value).unwrap()
}

/// Empties a queue.
fn asked(queue: &crate::work_queue::WorkQueue) -> Vec<String> {
    queue.drain().iter().map(ToString::to_string).collect()
}

#[test]
fn a_workload_asks_for_itself_and_its_job() {
    let world = world();
    world.saw_workload(workload("1"));
    assert_eq!(
        (asked(&world.queues.workloads), asked(&world.queues.jobs[0])),
        (vec!["reef/w".to_owned()], vec!["reef/j".to_owned()])
    );
    world.saw_workload(workload("1"));
    assert!(asked(&world.queues.workloads).is_empty(), "not news");
    assert_eq!(
        world
            .stores
            .workloads_of(&BATCH_JOB, &Key::new("reef", "j"))
            .len(),
        1
    );
    world.lost_workload(&Key::new("reef", "w"), Some("wu"));
    assert_eq!(asked(&world.queues.jobs[0]), ["reef/j"]);
    assert!(
        world
            .stores
            .workloads_of(&BATCH_JOB, &Key::new("reef", "j"))
            .is_empty()
    );
}

#[test]
fn a_job_that_is_gone_asks_for_its_workloads() {
    let world = world();
    world.saw_workload(workload("1"));
    asked(&world.queues.workloads);
    world.lost_job(0, &Key::new("reef", "j"), Some("ju"));
    assert_eq!(asked(&world.queues.workloads), ["reef/w"]);
}

#[test]
fn a_changed_queue_asks_for_flavors_and_workloads_a_written_status_does_not() {
    let world = world();
    let queue = |version: &str, stop: &str, pending: i32| {
        let groups = json!([{"coveredResources": ["cpu"], "flavors": [{"name": "plain", "resources": [{"name": "cpu", "nominalQuota": "1"}]}]}]);
        seen::<ClusterQueue>(json!({
            "metadata": {"name": "cq", "uid": "u", "resourceVersion": version},
            "spec": {"resourceGroups": groups, "stopPolicy": stop}, "status": {"pendingWorkloads": pending}
        }))
    };
    world.on_local_queue(seen::<LocalQueue>(
        json!({"metadata": {"name": "lq", "namespace": "reef"}, "spec": {"clusterQueue": "cq"}}),
    ));
    world.saw_workload(workload("1"));
    asked(&world.queues.workloads);
    world.on_cluster_queue(queue("1", "None", 0));
    assert_eq!(asked(&world.queues.flavors), ["plain"]);
    assert_eq!(asked(&world.queues.workloads), ["reef/w"]);
    world.on_cluster_queue(queue("2", "None", 1));
    assert!(asked(&world.queues.flavors).is_empty() && asked(&world.queues.workloads).is_empty());
    world.on_cluster_queue(queue("3", "HoldAndDrain", 1));
    assert_eq!(asked(&world.queues.workloads), ["reef/w"]);
}

#[test]
fn a_limit_range_has_its_waiting_workloads_read_anew() {
    let world = world();
    world.saw_workload(workload("1"));
    asked(&world.queues.workloads);
    let range = |namespace: &str, cpu: &str| {
        let limits = json!([{"type": "Container", "defaultRequest": {"cpu": cpu}}]);
        seen(
            json!({"metadata": {"name": "r", "namespace": namespace, "uid": "u", "resourceVersion": cpu}, "spec": {"limits": limits}}),
        )
    };
    world.on_limit_range(range("other", "1"));
    assert!(asked(&world.queues.workloads).is_empty());
    world.on_limit_range(range("reef", "2"));
    assert_eq!(asked(&world.queues.workloads), ["reef/w"]);
}
