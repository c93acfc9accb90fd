//! A Job that grows and shrinks while it runs: each size it has to ask for is a slice, and only as many of its pods start as were granted.

use serde_json::{Value, json};

use crate::ground::{Ground, is, open, until};

const GATE: &str = "kueue.x-k8s.io/elastic-job";

/// As the webhook leaves it, which nobody serves here.
fn job(pods: u32, suspended: bool) -> Value {
    let container =
        json!({"name": "c", "image": "nowhere", "resources": {"requests": {"cpu": "1"}}});
    let spec = json!({"restartPolicy": "Never", "containers": [container], "schedulingGates": [{"name": GATE}]});
    let mut job = json!({
        "metadata": {"labels": {"kueue.x-k8s.io/queue-name": "lq"}, "annotations": {GATE: "true"}},
        "spec": {"parallelism": pods, "completions": 9, "template": {"spec": spec}},
    });
    if suspended {
        job["spec"]["suspend"] = json!(true);
    }
    job
}

/// As the Job controller makes pods of the template.
async fn pods(ground: &Ground, numbers: std::ops::Range<u32>) {
    let job = ground.get("Job", "grows").await;
    let template = &job["spec"]["template"];
    for number in numbers {
        let meta = json!({"labels": template["metadata"]["labels"], "annotations": template["metadata"]["annotations"]});
        let pod = json!({"metadata": meta, "spec": template["spec"]});
        ground.apply("Pod", &format!("grows-{number}"), pod).await;
    }
}

/// Pods that no gate holds back.
async fn free(ground: &Ground) -> usize {
    let pods = ground.list("Pod").await;
    let gated = |pod: &&Value| {
        pod["spec"]["schedulingGates"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    };
    pods.iter().filter(|pod| !gated(pod)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_grows_into_its_quota_and_no_further() {
    let Some(ground) = open().await else {
        return;
    };
    ground.queue(&[]).await;
    ground.apply("Job", "grows", job(1, true)).await;
    until("it runs", async || {
        ground.get("Job", "grows").await["spec"]["suspend"] == false
    })
    .await;
    pods(&ground, 0..1).await;
    until("its pod is free", async || free(&ground).await == 1).await;

    // Its pods are there before the larger slice is.
    pods(&ground, 1..3).await;
    ground.apply("Job", "grows", job(3, false)).await;
    until("all three are free", async || free(&ground).await == 3).await;
    until("three are paid for", async || ground.used().await == "3").await;
    let slices = ground.list("Workload").await;
    let open = slices.iter().filter(|slice| !is(slice, "Finished")).count();
    assert_eq!((slices.len(), open), (2, 1), "the smaller one is replaced");

    // There is no room for six.
    ground.apply("Job", "grows", job(6, false)).await;
    pods(&ground, 3..6).await;
    until("the third slice waits", async || {
        let slices = ground.list("Workload").await;
        let waits = |slice: &Value| {
            slice["spec"]["podSets"][0]["count"] == 6
                && slice["status"]["conditions"][0]["status"] == "False"
        };
        slices.iter().any(waits)
    })
    .await;
    assert_eq!(free(&ground).await, 3);
    assert_eq!(ground.used().await, "3");

    ground.apply("Job", "grows", job(4, false)).await;
    until("it settles for four", async || {
        ground.used().await == "4" && free(&ground).await == 4
    })
    .await;
    ground.apply("Job", "grows", job(2, false)).await;
    until("what it gives back is free", async || {
        ground.used().await == "2"
    })
    .await;
    ground.close().await;
}
