//! What the webhooks say: objects of Kueue and Jobs are completed, changed and refused in the reference's words, in both versions.

use super::ground::{Ground, job};
use crate::commands::refused;

pub(super) async fn hold(ground: Ground) {
    ground.queue(1).await;
    what_is_wrong_is_refused(&ground).await;
    a_job_is_held_back_and_keeps_its_queue(&ground).await;
    a_job_without_a_queue_gets_the_default_one(&ground).await;
    the_older_version_is_served(&ground).await;
}

async fn what_is_wrong_is_refused(ground: &Ground) {
    for (name, manifest, words) in REFUSED {
        let message = refused(ground.applying(manifest)).await;
        assert!(message.contains(words), "{name}: {message}");
    }
}

async fn a_job_is_held_back_and_keeps_its_queue(ground: &Ground) {
    ground.job("runs", 1, 600).await;
    ground.wait("job/runs", "jsonpath={.status.ready}=1").await;
    ground.job("waits", 1, 600).await;
    let suspended = ground.get("job/waits", "{.spec.suspend}").await;
    assert_eq!(suspended, "true");
    let label = "kueue.x-k8s.io/queue-name=other";
    let change = ground.command(&["label", "--overwrite", "job/runs", label]);
    let message = refused(change).await;
    assert!(message.contains("field is immutable"), "{message}");
    // One that waits may go elsewhere.
    ground
        .kubectl(&["label", "--overwrite", "job/waits", label])
        .await;
}

async fn a_job_without_a_queue_gets_the_default_one(ground: &Ground) {
    let plain =
        |name: &str| job(name, 1, 1).replace(", labels: {kueue.x-k8s.io/queue-name: NS}", "");
    ground.apply(&plain("free")).await;
    ground.wait("job/free", "condition=complete").await;
    ground
        .apply("{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: default}, spec: {clusterQueue: NS}}")
        .await;
    ground.wait("localqueue/default", "condition=Active").await;
    ground.apply(&plain("adopted")).await;
    let queue = "{.metadata.labels.kueue\\.x-k8s\\.io/queue-name}";
    assert_eq!(ground.get("job/adopted", queue).await, "default");
}

async fn the_older_version_is_served(ground: &Ground) {
    ground
        .apply("{apiVersion: kueue.x-k8s.io/v1beta1, kind: ClusterQueue, metadata: {name: NS-old}, spec: {cohort: NS}}")
        .await;
    let older = "clusterqueues.v1beta1.kueue.x-k8s.io/NS-old";
    assert_eq!(ground.get(older, "{.spec.cohort}").await, ground.name);
    let newer = ground
        .get("clusterqueue/NS-old", "{.spec.cohortName}")
        .await;
    assert_eq!(newer, ground.name);
}

/// Name, manifest, and what the refusal has to say.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        "a negative quota",
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: NS-x}, spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: a, resources: [{name: cpu, nominalQuota: -1}]}]}]}}",
        "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value",
    ),
    (
        "a flavor twice",
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: NS-x}, spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: a, resources: [{name: cpu, nominalQuota: 1}]}]}, {coveredResources: [memory], flavors: [{name: a, resources: [{name: memory, nominalQuota: 1}]}]}]}}",
        "Duplicate value: \"a\"",
    ),
    (
        "a taint without effect",
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: NS-x}, spec: {nodeTaints: [{key: a, value: b, effect: c}]}}",
        "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'",
    ),
    (
        "a taint whose key is no name",
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: NS-x}, spec: {nodeTaints: [{key: '@a', value: b, effect: NoSchedule}]}}",
        "spec.nodeTaints[0].key: Invalid value",
    ),
    (
        "a Job whose queue's name is no name",
        "{apiVersion: batch/v1, kind: Job, metadata: {name: x, labels: {kueue.x-k8s.io/queue-name: Not_A_Name}}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}",
        "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value",
    ),
];
