//! Each path with good, bad and broken objects, in process.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use jobs::integrations::Integrations;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kueue_api::config::Configuration;
use kueue_api::features::Features;
use kueue_api::v1beta2::Workload;
use serde_json::{Value, json};
use tower::ServiceExt as _;
use webhooks::{Cluster, Context, paths, router};

/// A cluster with two namespaces, of which `equipe-vision` has a default queue.
struct Two;

impl Cluster for Two {
    fn runtime(&self, _: &jobs::RuntimeRef) -> Option<Arc<Value>> {
        None
    }

    fn namespace_labels(&self, namespace: &str) -> Option<BTreeMap<String, String>> {
        let known = ["equipe-vision", "equipe-reco"].contains(&namespace);
        known.then(|| {
            BTreeMap::from([(
                "kubernetes.io/metadata.name".to_owned(),
                namespace.to_owned(),
            )])
        })
    }

    fn has_default_local_queue(&self, namespace: &str) -> bool {
        namespace == "equipe-vision"
    }

    fn has_default_priority_class(&self) -> bool {
        false
    }

    fn owner(&self, _: &str, _: &OwnerReference) -> Option<ObjectMeta> {
        None
    }

    fn leads_elsewhere(&self, _: &str, queue: &str) -> bool {
        queue == "ailleurs"
    }

    fn workload(&self, _: &str, _: &str) -> Option<Arc<Workload>> {
        None
    }
}

pub(crate) fn server(gates: &[(&str, bool)]) -> Router {
    router(Arc::new(Context {
        features: Features::with(
            gates
                .iter()
                .map(|(name, on)| ((*name).to_owned(), *on))
                .collect(),
        ),
        managed_jobs_namespace_selector: Configuration::defaults(None)
            .managed_jobs_namespace_selector,
        manage_jobs_without_queue_name: false,
        integrations: Integrations::new(
            &[
                "batch/job",
                "jobset.x-k8s.io/jobset",
                "deployment",
                "statefulset",
            ]
            .map(str::to_owned),
            &[],
        ),
        cluster: Arc::new(Two),
    }))
}

pub(crate) fn review(operation: &str, namespace: &str, object: &Value, old: &Value) -> Value {
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u-1", "operation": operation, "namespace": namespace, "object": object, "oldObject": old,
        "kind": {"group": "", "version": "v1", "kind": "X"}, "resource": {"group": "", "version": "v1", "resource": "x"}}})
}

async fn send(router: Router, path: &str, body: String) -> (StatusCode, String) {
    let request = Request::post(path)
        .header("content-type", "application/json")
        .body(Body::from(body))
        .unwrap();
    let response = router.oneshot(request).await.unwrap();
    let status = response.status();
    (
        status,
        String::from_utf8(
            response
                .into_body()
                .collect()
                .await
                .unwrap()
                .to_bytes()
                .to_vec(),
        )
        .unwrap(),
    )
}

async fn ask(router: Router, path: &str, review: Value) -> Value {
    let (status, text) = send(router, path, review.to_string()).await;
    assert_eq!(status, StatusCode::OK, "{path}: {text}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&answer["apiVersion"], &answer["response"]["uid"]),
        (&json!("admission.k8s.io/v1"), &json!("u-1"))
    );
    answer["response"].clone()
}

/// The object after the patch of an answer.
fn patched(object: &Value, response: &Value) -> Value {
    use base64::Engine as _;
    let mut object = object.clone();
    if let Some(patch) = response["patch"].as_str() {
        assert_eq!(response["patchType"], "JSONPatch");
        let text = base64::engine::general_purpose::STANDARD
            .decode(patch)
            .unwrap();
        json_patch::patch(
            &mut object,
            &serde_json::from_slice::<json_patch::Patch>(&text).unwrap(),
        )
        .unwrap();
    }
    object
}

fn queue(spec: &Value) -> Value {
    json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "x"}, "spec": spec})
}

fn job(labels: &Value) -> Value {
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "cinema", "labels": labels},
        "spec": {"futureField": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})
}

#[tokio::test]
async fn verdicts_of_the_rules() {
    let negative = json!({"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "-1"}]}]}]});
    let cases = [
        (
            "a good queue",
            "/validate-kueue-x-k8s-io-v1beta2-clusterqueue",
            queue(&json!({})),
            "",
        ),
        (
            "a negative quota",
            "/validate-kueue-x-k8s-io-v1beta2-clusterqueue",
            queue(&negative),
            "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: Invalid value: \"-1\": must be greater than or equal to 0",
        ),
        (
            "a flavor",
            "/validate-kueue-x-k8s-io-v1beta2-resourceflavor",
            queue(&json!({"nodeLabels": {"@abc": "foo"}})),
            "spec.nodeLabels: Invalid value: \"@abc\"",
        ),
        (
            "a cohort",
            "/validate-kueue-x-k8s-io-v1beta2-cohort",
            queue(&json!({"fairSharing": {"weight": "-1"}})),
            "spec.fairSharing.weight: Invalid value",
        ),
        (
            "a workload",
            "/validate-kueue-x-k8s-io-v1beta2-workload",
            queue(
                &json!({"podSets": [{"name": "a", "count": 2, "minCount": 1}, {"name": "b", "count": 2, "minCount": 1}]}),
            ),
            "spec.podSets: Invalid value: 2: at most one podSet can use minCount",
        ),
        (
            "a job",
            "/validate-batch-v1-job",
            job(&json!({"kueue.x-k8s.io/queue-name": "File 1"})),
            "metadata.labels[kueue.x-k8s.io/queue-name]: Invalid value: \"File 1\"",
        ),
        (
            "a broken job",
            "/validate-batch-v1-job",
            json!({"spec": {"parallelism": "many"}}),
            "object is not a valid Job",
        ),
        (
            "a broken queue",
            "/mutate-kueue-x-k8s-io-v1beta2-clusterqueue",
            queue(&json!({"stopPolicy": 5})),
            "object is not a valid ClusterQueue",
        ),
        (
            "nothing",
            "/validate-kueue-x-k8s-io-v1beta2-workload",
            Value::Null,
            "object is not a valid Workload",
        ),
    ];
    for (name, path, object, want) in cases {
        let response = ask(
            server(&[]),
            path,
            review("CREATE", "equipe-reco", &object, &Value::Null),
        )
        .await;
        let message = response["status"]["message"].as_str().unwrap_or_default();
        assert_eq!(response["allowed"], want.is_empty(), "{name}: {response}");
        assert!(message.contains(want), "{name}: {message}");
    }
}

#[tokio::test]
async fn changes_are_compared_with_what_was() {
    let old = queue(
        &json!({"admissionChecksStrategy": {"admissionChecks": [{"name": "a", "onFlavors": ["ghost"]}]}}),
    );
    let path = "/validate-kueue-x-k8s-io-v1beta2-clusterqueue";
    assert_eq!(
        ask(server(&[]), path, review("CREATE", "", &old, &Value::Null)).await["allowed"],
        false
    );
    assert_eq!(
        ask(server(&[]), path, review("UPDATE", "", &old, &old)).await["allowed"],
        true
    );
    let mut running = job(&json!({"kueue.x-k8s.io/queue-name": "a"}));
    let mut moved = job(&json!({"kueue.x-k8s.io/queue-name": "b"}));
    for (suspend, allowed) in [(false, false), (true, true)] {
        running["spec"]["suspend"] = json!(suspend);
        moved["spec"]["suspend"] = json!(suspend);
        let response = ask(
            server(&[]),
            "/validate-batch-v1-job",
            review("UPDATE", "equipe-reco", &moved, &running),
        )
        .await;
        assert_eq!(
            response["allowed"], allowed,
            "suspend {suspend}: {response}"
        );
    }
}

#[tokio::test]
async fn new_objects_get_their_defaults() {
    let finalizer = json!(["kueue.x-k8s.io/resource-in-use"]);
    for path in [
        "/mutate-kueue-x-k8s-io-v1beta2-clusterqueue",
        "/mutate-kueue-x-k8s-io-v1beta2-resourceflavor",
    ] {
        let mut object = queue(&json!({}));
        let response = ask(
            server(&[]),
            path,
            review("CREATE", "", &object, &Value::Null),
        )
        .await;
        assert_eq!(
            patched(&object, &response)["metadata"]["finalizers"],
            finalizer,
            "{path}"
        );
        object["metadata"]["finalizers"] = json!(["other"]);
        let response = ask(
            server(&[]),
            path,
            review("CREATE", "", &object, &Value::Null),
        )
        .await;
        assert_eq!(
            patched(&object, &response)["metadata"]["finalizers"],
            json!(["other", "kueue.x-k8s.io/resource-in-use"]),
            "{path}"
        );
        object["metadata"]["finalizers"] = finalizer.clone();
        let response = ask(
            server(&[]),
            path,
            review("CREATE", "", &object, &Value::Null),
        )
        .await;
        assert!(
            response["allowed"] == true && response["patch"].is_null(),
            "{path}: {response}"
        );
    }
    let workload =
        queue(&json!({"podSets": [{"name": "a", "count": 2, "minCount": 1, "future": 1}]}));
    let path = "/mutate-kueue-x-k8s-io-v1beta2-workload";
    for (on, min) in [(true, json!(1)), (false, Value::Null)] {
        let response = ask(
            server(&[("PartialAdmission", on)]),
            path,
            review("CREATE", "", &workload, &Value::Null),
        )
        .await;
        let set = &patched(&workload, &response)["spec"]["podSets"][0];
        assert_eq!((&set["minCount"], &set["future"]), (&min, &json!(1)));
    }
}

#[tokio::test]
async fn new_jobs_are_held_back_when_they_are_ours() {
    let named = json!({"kueue.x-k8s.io/queue-name": "file"});
    let cases = [
        (
            "with a queue",
            "equipe-reco",
            named.clone(),
            json!("file"),
            json!(true),
        ),
        (
            "without",
            "equipe-reco",
            json!({}),
            Value::Null,
            Value::Null,
        ),
        (
            "default queue of the namespace",
            "equipe-vision",
            json!({}),
            json!("default"),
            json!(true),
        ),
        (
            "namespace that is left alone",
            "kube-system",
            named.clone(),
            json!("file"),
            Value::Null,
        ),
        (
            "namespace that was not seen yet",
            "tout-neuf",
            named,
            json!("file"),
            json!(true),
        ),
    ];
    for (name, namespace, labels, queue, suspend) in cases {
        let object = job(&labels);
        let response = ask(
            server(&[]),
            "/mutate-batch-v1-job",
            review("CREATE", namespace, &object, &Value::Null),
        )
        .await;
        let job = patched(&object, &response);
        assert_eq!(
            (
                &job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"],
                &job["spec"]["suspend"]
            ),
            (&queue, &suspend),
            "{name}"
        );
        assert_eq!(
            job["spec"]["futureField"], 1,
            "{name}: a field that our types do not know was lost"
        );
    }
}

#[tokio::test]
async fn what_is_no_review_is_refused() {
    let old = review("CREATE", "", &Value::Null, &Value::Null)
        .to_string()
        .replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1");
    let cases = [
        ("{", "body is not an AdmissionReview"),
        ("{}", "want admission.k8s.io/v1"),
        (old.as_str(), "want admission.k8s.io/v1"),
        (
            r#"{"apiVersion": "admission.k8s.io/v1"}"#,
            "AdmissionReview has no request",
        ),
    ];
    for (body, want) in cases {
        let (status, text) = send(server(&[]), &paths()[0], body.to_owned()).await;
        assert!(
            status == StatusCode::BAD_REQUEST && text.contains(want),
            "{body}: {status} {text}"
        );
    }
    let big = format!("{{\"x\": \"{}\"}}", "x".repeat(9 * 1024 * 1024));
    assert_eq!(
        send(server(&[]), &paths()[0], big).await.0,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    assert_eq!(
        send(server(&[]), "/mutate--v1-secret", String::new())
            .await
            .0,
        StatusCode::NOT_FOUND
    );
    let get = Request::get(paths()[0].as_str())
        .body(Body::empty())
        .unwrap();
    assert_eq!(
        server(&[]).oneshot(get).await.unwrap().status(),
        StatusCode::METHOD_NOT_ALLOWED
    );
}
