//! The table of paths, as the reference names them, and the router that serves it.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use jobs::JobKind;

use crate::convert;
use crate::handlers::{Context, Handler, job, kinds, pod, serving};
use crate::review::{Request, Verdict};

/// The API server sends the new and the old object in one review; each may have 3 MiB.
const MAX_BODY: usize = 8 * 1024 * 1024;

/// A page of a list, as large as the API server sends it.
const MAX_LIST: usize = 256 * 1024 * 1024;

/// One rule at one path.
type Rule = Box<dyn Fn(&Request, &Context) -> Verdict + Send + Sync>;

/// The paths of Kueue's own kinds, and of pods.
const OWN: &[(&str, Handler)] = &[
    (
        "/mutate-kueue-x-k8s-io-v1beta2-clusterqueue",
        kinds::keep_cluster_queue,
    ),
    (
        "/validate-kueue-x-k8s-io-v1beta2-clusterqueue",
        kinds::check_cluster_queue,
    ),
    (
        "/validate-kueue-x-k8s-io-v1beta2-cohort",
        kinds::check_cohort,
    ),
    (
        "/mutate-kueue-x-k8s-io-v1beta2-resourceflavor",
        kinds::keep_resource_flavor,
    ),
    (
        "/validate-kueue-x-k8s-io-v1beta2-resourceflavor",
        kinds::check_resource_flavor,
    ),
    (
        "/mutate-kueue-x-k8s-io-v1beta2-workload",
        kinds::default_workload,
    ),
    (
        "/validate-kueue-x-k8s-io-v1beta2-workload",
        kinds::check_workload,
    ),
    ("/mutate--v1-pod", pod::default_pod),
    ("/validate--v1-pod", pod::check_pod),
    ("/mutate-apps-v1-deployment", serving::default_deployment),
    ("/validate-apps-v1-deployment", serving::check_deployment),
    ("/mutate-apps-v1-statefulset", serving::default_stateful_set),
    ("/validate-apps-v1-statefulset", serving::check_stateful_set),
    (
        "/mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset",
        serving::default_leader_worker_set,
    ),
    (
        "/validate-leaderworkerset-x-k8s-io-v1-leaderworkerset",
        serving::check_leader_worker_set,
    ),
];

/// The path of a job kind: `/mutate-batch-v1-job`.
fn path(verb: &str, kind: &JobKind) -> String {
    let group = kind.group.replace('.', "-");
    format!(
        "/{verb}-{group}-{}-{}",
        kind.version,
        kind.kind.to_lowercase()
    )
}

fn rules() -> Vec<(String, Rule)> {
    let own = OWN
        .iter()
        .map(|(path, handler)| ((*path).to_owned(), Box::new(handler) as Rule));
    let of_jobs = jobs::KINDS.iter().flat_map(|kind| {
        let default: Rule = Box::new(|request, context| job::default_job(kind, request, context));
        let check: Rule = Box::new(|request, context| job::check_job(kind, request, context));
        [
            (path("mutate", kind), default),
            (path("validate", kind), check),
        ]
    });
    own.chain(of_jobs).collect()
}

/// Every path that is served.
#[must_use]
pub fn paths() -> Vec<String> {
    rules().into_iter().map(|(path, _)| path).collect()
}

/// The conversions of objects between versions, which depend on nothing but the object.
pub fn conversions() -> Router {
    let convert = post(|body: Bytes| async move { convert::answer(&body) });
    // A list of objects comes in one review.
    Router::new()
        .route(convert::PATH, convert)
        .layer(DefaultBodyLimit::max(MAX_LIST))
}

/// The webhooks as a router; whatever is not in the table is not found.
pub fn router(context: Arc<Context>) -> Router {
    let router = rules()
        .into_iter()
        .fold(Router::new(), |router, (path, rule)| {
            let shared: Arc<(String, Rule)> = Arc::new((path.clone(), rule));
            router.route(
                &path,
                post(move |state: State<Arc<Context>>, body: Bytes| async move {
                    let (path, rule) = shared.as_ref();
                    answer(path, rule, &state.0, &body)
                }),
            )
        });
    router
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(context)
}

fn answer(path: &str, rule: &Rule, context: &Context, body: &[u8]) -> Response {
    let request = match Request::read(body) {
        Ok(request) => request,
        Err(message) => {
            tracing::warn!(path, message, "admission review refused");
            return (StatusCode::BAD_REQUEST, message).into_response();
        }
    };
    let verdict = rule(&request, context);
    let Request {
        namespace,
        operation,
        ..
    } = &request;
    match &verdict {
        // The usual case, several times a job: of interest only to whoever looks for a single review.
        Verdict::Allow | Verdict::Change(_) | Verdict::Warn(_) => {
            tracing::trace!(path, namespace, operation, "admission review answered");
        }
        Verdict::Deny(why) | Verdict::Malformed(why) => {
            tracing::info!(path, namespace, operation, why, "object refused");
        }
    }
    axum::Json(verdict.to_review(&request.uid)).into_response()
}
