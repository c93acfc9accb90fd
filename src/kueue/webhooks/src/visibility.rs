//! The visibility API as a router: an aggregated API of pending workloads (`kueue-reference.md` 1.13). Who asks, and whether they may,
//! is settled before a request arrives here; who waits is known to whoever implements [`Queues`]. Start reading at [`router`].

mod discovery;
mod openapi;
mod request;
mod status;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use kueue_api::visibility::{GROUP, Page, PendingWorkload, PendingWorkloadsSummary, VERSIONS};
use serde_json::Value;

pub use request::{Asked, asked};
pub use status::{failure, forbidden, unauthorized};

/// Where the lists come from. Answers come from memory.
pub trait Queues: Send + Sync {
    /// Whether everything there is was seen; before that, lists would be too short.
    fn is_complete(&self) -> bool;
    /// The pending workloads of a ClusterQueue; none if there is no such queue.
    fn of_cluster_queue(&self, name: &str, page: Page) -> Option<Vec<PendingWorkload>>;
    /// The pending workloads of a LocalQueue; none if there is no such queue.
    fn of_local_queue(
        &self,
        namespace: &str,
        name: &str,
        page: Page,
    ) -> Option<Vec<PendingWorkload>>;
}

type Shared = State<Arc<dyn Queues>>;
type Parameters = Query<BTreeMap<String, String>>;

/// Discovery, description and the two lists, in each version.
pub fn router(queues: Arc<dyn Queues>) -> Router {
    let fixed = |value: fn() -> Value| get(move || async move { Json(value()) });
    let mut router = Router::new()
        .route("/apis", get(groups))
        .route(&format!("/apis/{GROUP}"), fixed(discovery::group))
        .route("/openapi/v2", fixed(openapi::v2))
        .route("/openapi/v3", fixed(openapi::index))
        .route("/version", fixed(discovery::version));
    for version in VERSIONS {
        let base = format!("/apis/{GROUP}/{version}");
        router = router
            .route(
                &base,
                get(move || async move { Json(discovery::resources(version)) }),
            )
            .route(
                &format!("/openapi/v3{base}"),
                get(move || async move { Json(openapi::v3(version)) }),
            )
            .route(
                &format!("{base}/clusterqueues/{{name}}/pendingworkloads"),
                get(move |state: Shared, name: Path<String>, parameters: Parameters| async move {
                    of_cluster_queue(version, &*state.0, &name, &parameters)
                }),
            )
            .route(
                &format!("{base}/namespaces/{{namespace}}/localqueues/{{name}}/pendingworkloads"),
                get(
                    move |state: Shared, names: Path<(String, String)>, parameters: Parameters| async move {
                        of_local_queue(version, &*state.0, &names.0, &parameters)
                    },
                ),
            );
    }
    for path in ["/healthz", "/livez", "/readyz"] {
        router = router.route(path, get(|| async { "ok" }));
    }
    router
        .fallback(|| async { status::nowhere() })
        .method_not_allowed_fallback(|| async { status::method_not_allowed() })
        .with_state(queues)
}

/// The API server asks for everything in one document, and takes the old form from those who do not have it.
async fn groups(headers: HeaderMap) -> Response {
    let accepted = headers.get_all("accept").iter();
    let accepted: Vec<&str> = accepted.filter_map(|text| text.to_str().ok()).collect();
    match discovery::aggregated(&accepted.join(",")) {
        Some((content_type, body)) => {
            ([("content-type", content_type)], body.to_string()).into_response()
        }
        None => Json(discovery::groups()).into_response(),
    }
}

fn page(queues: &dyn Queues, parameters: &BTreeMap<String, String>) -> Result<Page, Box<Response>> {
    if !queues.is_complete() {
        return Err(Box::new(status::starting()));
    }
    let text = |name: &str| parameters.get(name).map(String::as_str);
    Page::read(text("offset"), text("limit"))
        .map_err(|(name, text)| Box::new(status::not_a_number(name, text)))
}

fn listed(version: &str, items: Vec<PendingWorkload>) -> Response {
    Json(PendingWorkloadsSummary::new(version, items)).into_response()
}

fn of_cluster_queue(
    version: &str,
    queues: &dyn Queues,
    name: &str,
    parameters: &BTreeMap<String, String>,
) -> Response {
    match page(queues, parameters) {
        Err(refused) => *refused,
        Ok(page) => match queues.of_cluster_queue(name, page) {
            Some(items) => listed(version, items),
            None => status::not_found("clusterqueue", name),
        },
    }
}

fn of_local_queue(
    version: &str,
    queues: &dyn Queues,
    (namespace, name): &(String, String),
    parameters: &BTreeMap<String, String>,
) -> Response {
    match page(queues, parameters) {
        Err(refused) => *refused,
        Ok(page) => match queues.of_local_queue(namespace, name, page) {
            Some(items) => listed(version, items),
            None => status::not_found("localqueue", name),
        },
    }
}
