//! The visibility API as a client sees it: discovery, lists, pages, refusals; and conversions of objects.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use http_body_util::BodyExt as _;
use kueue_api::visibility::{Page, PendingMeta, PendingWorkload};
use serde_json::{Value, json};
use tower::ServiceExt as _;
use webhooks::visibility::{Queues, router};

const BASE: &str = "/apis/visibility.kueue.x-k8s.io";

/// One ClusterQueue, one LocalQueue, one waiting workload.
#[derive(Default)]
struct Fixed {
    pages: Mutex<Vec<Page>>,
    starting: bool,
}

fn waiting() -> PendingWorkload {
    PendingWorkload {
        metadata: PendingMeta {
            name: "w".to_owned(),
            namespace: "reef".to_owned(),
            ..PendingMeta::default()
        },
        local_queue_name: "lq".to_owned(),
        ..PendingWorkload::default()
    }
}

impl Queues for Fixed {
    fn is_complete(&self) -> bool {
        !self.starting
    }

    fn of_cluster_queue(&self, name: &str, page: Page) -> Option<Vec<PendingWorkload>> {
        self.pages.lock().unwrap().push(page);
        (name == "cq").then(|| vec![waiting()])
    }

    fn of_local_queue(
        &self,
        namespace: &str,
        name: &str,
        page: Page,
    ) -> Option<Vec<PendingWorkload>> {
        self.pages.lock().unwrap().push(page);
        ((namespace, name) == ("reef", "lq")).then(|| vec![waiting()])
    }
}

async fn ask(router: Router, method: &str, path: &str, accept: &str) -> (u16, String, Value) {
    let request = axum::http::Request::builder()
        .method(method)
        .uri(path)
        .header("accept", accept)
        .body(Body::empty())
        .unwrap();
    let answer = router.oneshot(request).await.unwrap();
    let code = answer.status().as_u16();
    let kind = answer.headers()["content-type"]
        .to_str()
        .unwrap()
        .to_owned();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (code, kind, serde_json::from_slice(&body).unwrap())
}

async fn get(path: &str) -> (u16, Value) {
    let (code, _, body) = ask(
        router(Arc::new(Fixed::default())),
        "GET",
        path,
        "application/json",
    )
    .await;
    (code, body)
}

#[tokio::test]
async fn lists_are_served_in_both_versions() {
    for version in ["v1beta1", "v1beta2"] {
        for queue in ["clusterqueues/cq", "namespaces/reef/localqueues/lq"] {
            let (code, body) = get(&format!("{BASE}/{version}/{queue}/pendingworkloads")).await;
            assert_eq!(code, 200, "{body}");
            assert_eq!(body["kind"], "PendingWorkloadsSummary");
            assert_eq!(
                body["apiVersion"],
                format!("visibility.kueue.x-k8s.io/{version}")
            );
            assert_eq!(
                body["items"][0]["metadata"],
                json!({"name": "w", "namespace": "reef"})
            );
        }
    }
}

#[tokio::test]
async fn pages_are_read_from_the_query() {
    let queues = Arc::new(Fixed::default());
    let path = |query: &str| format!("{BASE}/v1beta2/clusterqueues/cq/pendingworkloads{query}");
    for query in ["", "?limit=1&offset=2", "?limit=-1"] {
        let (code, ..) = ask(router(queues.clone()), "GET", &path(query), "*/*").await;
        assert_eq!(code, 200, "{query}");
    }
    let page = |offset, limit| Page { offset, limit };
    assert_eq!(
        *queues.pages.lock().unwrap(),
        [page(0, 1000), page(2, 1), page(0, 0)]
    );
    let (code, _, body) = ask(router(queues), "GET", &path("?limit=many"), "*/*").await;
    assert_eq!((code, &body["reason"]), (400, &json!("BadRequest")));
}

#[tokio::test]
async fn refusals_are_statuses() {
    let cases = [
        (
            "GET",
            "v1beta2/clusterqueues/none/pendingworkloads",
            404,
            "clusterqueue.visibility.kueue.x-k8s.io \"none\" not found",
        ),
        (
            "GET",
            "v1beta2/namespaces/other/localqueues/lq/pendingworkloads",
            404,
            "localqueue.visibility.kueue.x-k8s.io \"lq\" not found",
        ),
        (
            "GET",
            "v1beta2/clusterqueues/cq",
            404,
            "the server could not find the requested resource",
        ),
        (
            "GET",
            "v1alpha1/clusterqueues/cq/pendingworkloads",
            404,
            "the server could not find the requested resource",
        ),
        (
            "DELETE",
            "v1beta2/clusterqueues/cq/pendingworkloads",
            405,
            "the server does not allow this method on the requested resource",
        ),
    ];
    for (method, path, code, message) in cases {
        let (got, _, body) = ask(
            router(Arc::new(Fixed::default())),
            method,
            &format!("{BASE}/{path}"),
            "*/*",
        )
        .await;
        assert_eq!(
            (got, &body["kind"], &body["message"]),
            (code, &json!("Status"), &json!(message)),
            "{path}"
        );
    }
    let starting = Fixed {
        starting: true,
        ..Fixed::default()
    };
    let path = format!("{BASE}/v1beta2/clusterqueues/cq/pendingworkloads");
    let (code, _, body) = ask(router(Arc::new(starting)), "GET", &path, "*/*").await;
    assert_eq!((code, &body["reason"]), (503, &json!("ServiceUnavailable")));
}

#[tokio::test]
async fn discovery_names_groups_versions_and_resources() {
    let (_, group) = get(BASE).await;
    assert_eq!(group["preferredVersion"]["version"], "v1beta2");
    let (_, list) = get(&format!("{BASE}/v1beta2")).await;
    let names: Vec<_> = list["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "clusterqueues",
            "clusterqueues/pendingworkloads",
            "localqueues",
            "localqueues/pendingworkloads"
        ]
    );
    let (_, plain) = get("/apis").await;
    assert_eq!(plain["kind"], "APIGroupList");
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
    let (_, kind, whole) = ask(router(Arc::new(Fixed::default())), "GET", "/apis", accept).await;
    assert_eq!(
        kind,
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    );
    assert_eq!(
        whole["items"][0]["versions"][0]["resources"][1]["scope"],
        "Namespaced"
    );
}

/// Every reference of a description leads somewhere.
#[tokio::test]
async fn descriptions_are_whole() {
    for path in [
        "/openapi/v2",
        "/openapi/v3/apis/visibility.kueue.x-k8s.io/v1beta1",
        "/openapi/v3/apis/visibility.kueue.x-k8s.io/v1beta2",
    ] {
        let (code, document) = get(path).await;
        assert_eq!(code, 200, "{path}");
        let mut missing = Vec::new();
        references(&document, &document, &mut missing);
        assert!(missing.is_empty(), "{path}: {missing:?}");
    }
    let (_, index) = get("/openapi/v3").await;
    for (_, entry) in index["paths"].as_object().unwrap() {
        assert_eq!(
            get(entry["serverRelativeURL"].as_str().unwrap()).await.0,
            200
        );
    }
}

fn references(document: &Value, value: &Value, missing: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(target) = fields.get("$ref").and_then(Value::as_str)
                && document.pointer(target.trim_start_matches('#')).is_none()
            {
                missing.push(target.to_owned());
            }
            fields
                .values()
                .for_each(|value| references(document, value, missing));
        }
        Value::Array(items) => items
            .iter()
            .for_each(|value| references(document, value, missing)),
        _ => {}
    }
}

async fn convert(review: &Value) -> (u16, String) {
    let request = axum::http::Request::post("/convert")
        .body(Body::from(review.to_string()))
        .unwrap();
    let answer = webhooks::conversions().oneshot(request).await.unwrap();
    let code = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (code, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn objects_are_converted_together_or_not_at_all() {
    let queue = |spec: Value| json!({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "metadata": {"name": "cq"}, "spec": spec});
    let review = |objects: Value| {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
            "request": {"uid": "7", "desiredAPIVersion": "kueue.x-k8s.io/v1beta2", "objects": objects},
        })
    };
    let (code, body) = convert(&review(json!([
        queue(json!({"cohort": "a"})),
        queue(json!({}))
    ])))
    .await;
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (code, &body["response"]["result"]["status"]),
        (200, &json!("Success"))
    );
    assert_eq!(body["response"]["uid"], "7");
    assert_eq!(
        body["response"]["convertedObjects"][0]["spec"],
        json!({"cohortName": "a"})
    );

    let other = json!({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Secret", "metadata": {"name": "s"}});
    let (_, body) = convert(&review(json!([queue(json!({})), other]))).await;
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["response"]["result"]["status"], "Failure");
    assert!(body["response"]["convertedObjects"].is_null());

    let (code, body) = convert(&json!({"kind": "nothing"})).await;
    assert_eq!(code, 400, "{body}");
}
