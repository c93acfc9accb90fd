//! A Job that needs nodes which are not there yet: its Workload waits until an autoscaler, played here, says that they are.

use serde_json::{Value, json};

use crate::ground::{Ground, is, open, until};

/// The kind as an autoscaler brings it, without the details that nobody here looks at.
fn definition() -> Value {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = json!({"type": "object", "properties": {"spec": open, "status": open}});
    json!({"spec": {
        "group": "autoscaling.x-k8s.io", "scope": "Namespaced",
        "names": {"kind": "ProvisioningRequest", "plural": "provisioningrequests", "singular": "provisioningrequest", "listKind": "ProvisioningRequestList"},
        "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}, "schema": {"openAPIV3Schema": schema}}],
    }})
}

async fn says(ground: &Ground, request: &str, condition: &str) {
    let condition = json!({"type": condition, "status": "True", "reason": "Played", "message": condition, "lastTransitionTime": "2026-12-01T08:00:00Z"});
    let status = json!({"conditions": [condition]});
    ground.status("ProvisioningRequest", request, status).await;
}

/// The only request that there is now.
async fn asked(ground: &Ground) -> Option<Value> {
    let requests = ground.list("ProvisioningRequest").await;
    requests.into_iter().next()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_waits_for_the_nodes_that_are_asked_for() {
    let Some(ground) = open().await else {
        return;
    };
    let parameters = json!({"apiGroup": "kueue.x-k8s.io", "kind": "ProvisioningRequestConfig", "name": "queued"});
    let check = json!({"spec": {"controllerName": "kueue.x-k8s.io/provisioning-request", "parameters": parameters}});
    ground.apply("AdmissionCheck", "nodes", check).await;
    let strategy = json!({"backoffLimitCount": 3, "backoffBaseSeconds": 1, "backoffMaxSeconds": 1});
    let config =
        json!({"spec": {"provisioningClassName": "queued.example.com", "retryStrategy": strategy}});
    ground
        .apply("ProvisioningRequestConfig", "queued", config)
        .await;
    // The controller runs already; the kind comes later.
    let name = "provisioningrequests.autoscaling.x-k8s.io";
    ground
        .apply("CustomResourceDefinition", name, definition())
        .await;
    until("requests can be made", async || {
        is(
            &ground.get("CustomResourceDefinition", name).await,
            "Established",
        )
    })
    .await;
    ground.queue(&["nodes"]).await;
    let container =
        json!({"name": "c", "image": "nowhere", "resources": {"requests": {"cpu": "1"}}});
    let job = json!({
        "metadata": {"labels": {"kueue.x-k8s.io/queue-name": "lq"}},
        "spec": {"suspend": true, "parallelism": 2, "completions": 2, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    });
    ground.apply("Job", "hungry", job).await;
    until("nodes are asked for", async || {
        asked(&ground).await.is_some()
    })
    .await;
    let request = asked(&ground).await.expect("a request");
    assert_eq!(request["spec"]["podSets"][0]["count"], 2);
    let template = request["spec"]["podSets"][0]["podTemplateRef"]["name"]
        .as_str()
        .expect("a name")
        .to_owned();
    until("the template belongs to the request", async || {
        let owners =
            ground.get("PodTemplate", &template).await["metadata"]["ownerReferences"].clone();
        owners[0]["kind"] == "ProvisioningRequest"
            && owners.as_array().is_some_and(|all| all.len() == 1)
    })
    .await;
    assert_eq!(ground.get("Job", "hungry").await["spec"]["suspend"], true);

    let first = request["metadata"]["name"]
        .as_str()
        .expect("a name")
        .to_owned();
    says(&ground, &first, "Failed").await;
    until("it is asked for once more", async || {
        asked(&ground)
            .await
            .is_some_and(|request| request["metadata"]["name"] != *first)
    })
    .await;
    let second = asked(&ground).await.expect("a request");
    let second = second["metadata"]["name"]
        .as_str()
        .expect("a name")
        .to_owned();
    assert!(second.ends_with("-2"), "{second}");
    says(&ground, &second, "Provisioned").await;
    until("the Job starts", async || {
        ground.get("Job", "hungry").await["spec"]["suspend"] == false
    })
    .await;
    let job = ground.get("Job", "hungry").await;
    let notes = &job["spec"]["template"]["metadata"]["annotations"];
    assert_eq!(
        notes["autoscaling.x-k8s.io/consume-provisioning-request"],
        second
    );
    ground.close().await;
}
