//! The table of paths, as the reference names them, and the router that serves it.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;

use crate::handlers::{Context, Handler, job, kinds};
use crate::review::{Request, Verdict};

/// The API server sends the new and the old object in one review; each may have 3 MiB.
const MAX_BODY: usize = 8 * 1024 * 1024;

/// Every path that is served.
pub const PATHS: &[&str] = &[
    "/mutate-kueue-x-k8s-io-v1beta2-clusterqueue",
    "/validate-kueue-x-k8s-io-v1beta2-clusterqueue",
    "/validate-kueue-x-k8s-io-v1beta2-cohort",
    "/mutate-kueue-x-k8s-io-v1beta2-resourceflavor",
    "/validate-kueue-x-k8s-io-v1beta2-resourceflavor",
    "/mutate-kueue-x-k8s-io-v1beta2-workload",
    "/validate-kueue-x-k8s-io-v1beta2-workload",
    "/mutate-batch-v1-job",
    "/validate-batch-v1-job",
];

fn handler(path: &str) -> Option<Handler> {
    Some(match path {
        "/mutate-kueue-x-k8s-io-v1beta2-clusterqueue" => kinds::keep_cluster_queue,
        "/validate-kueue-x-k8s-io-v1beta2-clusterqueue" => kinds::check_cluster_queue,
        "/validate-kueue-x-k8s-io-v1beta2-cohort" => kinds::check_cohort,
        "/mutate-kueue-x-k8s-io-v1beta2-resourceflavor" => kinds::keep_resource_flavor,
        "/validate-kueue-x-k8s-io-v1beta2-resourceflavor" => kinds::check_resource_flavor,
        "/mutate-kueue-x-k8s-io-v1beta2-workload" => kinds::default_workload,
        "/validate-kueue-x-k8s-io-v1beta2-workload" => kinds::check_workload,
        "/mutate-batch-v1-job" => job::default_batch_job,
        "/validate-batch-v1-job" => job::check_batch_job,
        _ => return None,
    })
}

/// The webhooks as a router; whatever is not in the table is not found.
pub fn router(context: Arc<Context>) -> Router {
    let known = PATHS
        .iter()
        .filter_map(|path| Some((*path, handler(path)?)));
    let router = known.fold(Router::new(), |router, (path, handler)| {
        router.route(
            path,
            post(move |state: State<Arc<Context>>, body: Bytes| async move {
                answer(path, handler, &state.0, &body)
            }),
        )
    });
    router
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(context)
}

fn answer(path: &str, handler: Handler, context: &Context, body: &[u8]) -> Response {
    let request = match Request::read(body) {
        Ok(request) => request,
        Err(message) => {
            tracing::warn!(path, message, "admission review refused");
            return (StatusCode::BAD_REQUEST, message).into_response();
        }
    };
    let verdict = handler(&request, context);
    let Request {
        namespace,
        operation,
        ..
    } = &request;
    match &verdict {
        // The usual case, several times a job: of interest only to whoever looks for a single review.
        Verdict::Allow | Verdict::Change(_) => {
            tracing::trace!(path, namespace, operation, "admission review answered");
        }
        Verdict::Deny(why) | Verdict::Malformed(why) => {
            tracing::info!(path, namespace, operation, why, "object refused");
        }
    }
    axum::Json(verdict.to_review(&request.uid)).into_response()
}
