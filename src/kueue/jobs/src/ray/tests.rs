//! Objects of Ray as a user writes them and as its operator reports on them.

use kueue_api::features::Features;
use serde_json::{Value, json};

use super::{RAY_CLUSTER, RAY_JOB, RAY_SERVICE};
use crate::admission::{Surroundings, validate_create};
use crate::job::GenericJob;

fn job(status: &Value) -> Box<dyn GenericJob> {
    (RAY_JOB.read)(json!({
        "apiVersion": "ray.io/v1", "kind": "RayJob",
        "metadata": {"name": "manta", "namespace": "reef", "labels": {"kueue.x-k8s.io/queue-name": "ray"}},
        "spec": {
            "submissionMode": "K8sJobMode", "shutdownAfterJobFinishes": true,
            "rayClusterSpec": {
                "headGroupSpec": {"template": {"spec": {"containers": [{"name": "head", "resources": {"requests": {"cpu": "1"}}}]}}},
                "workerGroupSpecs": [{"groupName": "GPUs", "replicas": 2, "numOfHosts": 3, "template": {"spec": {"containers": [{"name": "w"}]}}}]}},
        "status": status,
    }))
    .unwrap()
}

#[test]
fn a_job_is_its_head_its_workers_and_who_submits_it() {
    let sets = job(&json!({})).pod_sets().unwrap();
    let told: Vec<_> = sets
        .iter()
        .map(|set| (set.name.as_str(), set.count))
        .collect();
    assert_eq!(told, [("head", 1), ("gpus", 6), ("submitter", 1)]);
}

#[test]
fn a_refused_job_asks_for_nothing_unless_its_cluster_is_there() {
    let cases = [
        (json!({}), false, false),
        (
            json!({"jobDeploymentStatus": "Running", "rayClusterName": "manta-1"}),
            false,
            true,
        ),
        (
            json!({"jobDeploymentStatus": "ValidationFailed"}),
            true,
            false,
        ),
        (
            json!({"jobDeploymentStatus": "ValidationFailed", "rayClusterName": ""}),
            true,
            false,
        ),
        (
            json!({"jobDeploymentStatus": "ValidationFailed", "rayClusterName": "manta-1"}),
            false,
            true,
        ),
        (json!({"jobDeploymentStatus": "Suspended"}), false, false),
    ];
    for (status, on_hold, active) in cases {
        let job = job(&status);
        assert_eq!(
            (job.is_on_hold(), job.is_active()),
            (on_hold, active),
            "{status}"
        );
    }
}

#[test]
fn a_cluster_never_asks_to_be_held_and_never_ends() {
    let cluster = (RAY_CLUSTER.read)(
        json!({"metadata": {"name": "c"}, "spec": {}, "status": {"state": "ready"}}),
    );
    let cluster = cluster.unwrap();
    assert_eq!((cluster.on_hold(), cluster.finished()), (None, None));
    assert!(cluster.pods_ready());
}

#[test]
fn how_it_ended_is_the_jobs_word_not_the_deployments() {
    let ended = |deployment: &str, status: &str| {
        let told =
            json!({"jobDeploymentStatus": deployment, "jobStatus": status, "message": "why"});
        job(&told)
            .finished()
            .map(|finish| (finish.success, finish.message))
    };
    assert_eq!(
        ended("Complete", "SUCCEEDED"),
        Some((true, "why".to_owned()))
    );
    assert_eq!(ended("Complete", "FAILED"), Some((false, "why".to_owned())));
    assert_eq!(ended("Failed", "RUNNING"), Some((false, "why".to_owned())));
    assert_eq!(ended("Running", "RUNNING"), None);
}

#[test]
fn only_what_goes_through_a_queue_is_checked() {
    let bare = json!({"metadata": {"name": "j"}, "spec": {"rayClusterSpec": {}}});
    let bare = (RAY_JOB.read)(bare).unwrap();
    let faults = |around| validate_create(bare.as_ref(), around, &Features::default()).len();
    let all = Surroundings {
        namespace_managed: true,
        manage_without_queue_name: true,
        ..Surroundings::default()
    };
    let of_another = Surroundings {
        ancestor_managed: true,
        ..all
    };
    assert_eq!(
        (faults(Surroundings::default()), faults(of_another)),
        (0, 0)
    );
    assert_eq!(faults(all), 1);
}

#[test]
fn a_job_in_somebody_elses_cluster_is_left_alone() {
    let job =
        (RAY_JOB.read)(json!({"metadata": {"name": "j"}, "spec": {"clusterSelector": {"a": "b"}}}));
    assert!(job.unwrap().runs_elsewhere());
    assert!(!self::job(&json!({})).runs_elsewhere());
}

fn service(cluster: &Value, status: &Value) -> Box<dyn GenericJob> {
    let mut spec = json!({
        "headGroupSpec": {"template": {"spec": {"containers": [{"name": "head"}]}}},
        "workerGroupSpecs": [{"groupName": "w", "replicas": 2, "template": {"spec": {"containers": [{"name": "w"}]}}}],
    });
    crate::merge::apply(&mut spec, cluster);
    (RAY_SERVICE.read)(json!({
        "metadata": {"name": "chat", "namespace": "reef", "labels": {"kueue.x-k8s.io/queue-name": "ray"}},
        "spec": {"rayClusterConfig": spec},
        "status": status,
    }))
    .unwrap()
}

#[test]
fn a_service_is_suspended_with_its_cluster_and_never_ends() {
    let mut service = service(&json!({}), &json!({}));
    assert!(!service.is_suspended());
    service.suspend();
    let object = service.to_value().unwrap();
    assert_eq!(object["spec"]["rayClusterConfig"]["suspend"], true);
    assert!(object["spec"]["suspend"].is_null());
    let infos: Vec<_> = service
        .pod_sets()
        .unwrap()
        .iter()
        .map(crate::PodSetInfo::of_pod_set)
        .collect();
    service.run_with(&infos).unwrap();
    assert!(!service.is_suspended() && service.finished().is_none());
}

#[test]
fn a_service_is_ready_when_it_says_so() {
    let with = |value: &str| json!({"conditions": [{"type": "Ready", "status": value}]});
    let ready = |status: &Value| service(&json!({}), status).pods_ready();
    assert!(ready(&with("True")) && !ready(&with("False")) && !ready(&json!({})));
}

#[test]
fn what_clears_away_behind_a_service_is_waited_for() {
    let survives = json!({"gcsFaultToleranceOptions": {"redisAddress": "redis:6379"}});
    assert!(service(&survives, &json!({})).clears_away());
    assert!(!service(&json!({}), &json!({})).clears_away());
    assert!(!job(&json!({})).clears_away());
}
