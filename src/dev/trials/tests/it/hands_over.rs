//! MultiKueue between two API servers: a Job waits here, runs there, and its end comes back.

use serde_json::{Value, json};

use crate::ground::{Ground, is, open, until};

fn job() -> Value {
    let container =
        json!({"name": "c", "image": "nowhere", "resources": {"requests": {"cpu": "1"}}});
    json!({
        "metadata": {"labels": {"kueue.x-k8s.io/queue-name": "lq"}},
        "spec": {
            "suspend": true, "parallelism": 2, "completions": 2, "managedBy": "kueue.x-k8s.io/multikueue",
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    })
}

async fn connect(here: &Ground, there: &Ground) {
    here.apply("Namespace", "kueue-system", json!({})).await;
    let secret = json!({"stringData": {"kubeconfig": there.kubeconfig()}});
    here.apply("Secret", "north", secret).await;
    let source = json!({"kubeConfig": {"locationType": "Secret", "location": "north"}});
    let cluster = json!({"spec": {"clusterSource": source}});
    here.apply("MultiKueueCluster", "north", cluster).await;
    here.apply(
        "MultiKueueConfig",
        "all",
        json!({"spec": {"clusters": ["north"]}}),
    )
    .await;
    let parameters =
        json!({"apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": "all"});
    let check =
        json!({"spec": {"controllerName": "kueue.x-k8s.io/multikueue", "parameters": parameters}});
    here.apply("AdmissionCheck", "elsewhere", check).await;
    here.queue(&["elsewhere"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_runs_in_another_cluster() {
    let (Some(here), Some(there)) = (open().await, open().await) else {
        return;
    };
    there.queue(&[]).await;
    connect(&here, &there).await;
    until("the queue here is active", async || {
        is(&here.get("ClusterQueue", "cq").await, "Active")
    })
    .await;
    here.apply("Job", "far", job()).await;
    until("its copy is started there", async || {
        there.get("Job", "far").await["spec"]["suspend"] == false
    })
    .await;
    let copy = there.get("Job", "far").await;
    assert_eq!(
        copy["spec"]["managedBy"],
        Value::Null,
        "whoever runs Jobs there takes it"
    );
    assert_eq!(
        here.get("Job", "far").await["spec"]["managedBy"],
        "kueue.x-k8s.io/multikueue",
        "nobody runs it here"
    );

    let start = json!({"startTime": "2026-12-01T08:00:00Z", "active": 2, "ready": 2});
    there.status("Job", "far", start).await;
    until("what it does is told here", async || {
        here.get("Job", "far").await["status"]["active"] == 2
    })
    .await;
    let workloads = here.list("Workload").await;
    assert_eq!(workloads[0]["status"]["clusterName"], "north");

    ends(&there).await;
    until("its end is told here", async || {
        is(&here.get("Job", "far").await, "Complete")
            && here
                .list("Workload")
                .await
                .iter()
                .all(|one| is(one, "Finished"))
    })
    .await;
    until("nothing is left there", async || {
        there.list("Workload").await.is_empty() && there.list("Job").await.is_empty()
    })
    .await;
    assert_eq!(here.used().await, "0");
    here.close().await;
    there.close().await;
}

/// As the Job controller ends a Job: criteria first, then the end.
async fn ends(there: &Ground) {
    let at = "2026-12-01T08:01:00Z";
    let condition = |kind: &str| json!({"type": kind, "status": "True", "reason": "CompletionsReached", "message": "", "lastTransitionTime": at, "lastProbeTime": at});
    let met = json!({"startTime": "2026-12-01T08:00:00Z", "succeeded": 2, "uncountedTerminatedPods": {}, "conditions": [condition("SuccessCriteriaMet")]});
    there.status("Job", "far", met.clone()).await;
    let mut over = met;
    over["completionTime"] = json!(at);
    over["conditions"] = json!([condition("SuccessCriteriaMet"), condition("Complete")]);
    there.status("Job", "far", over).await;
}
