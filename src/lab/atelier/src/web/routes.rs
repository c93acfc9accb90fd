//! The table of the site, and the layers that every request passes.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use http::HeaderMap;
use http::header::{CONTENT_TYPE, UPGRADE};
use tower_http::catch_panic::CatchPanicLayer;

use super::error::{Met, explain};
use super::guard::{self, Refusal, TOKEN_HEADER};
use super::headers::secure;
use super::pages::{environment, home, lab, report};
use super::state::App;
use super::terminal::doors;
use super::{events, visitor};

/// No form and no answer is longer.
const BODY_LIMIT: usize = 64 * 1024;
const FORM: &str = "application/x-www-form-urlencoded";

/// The whole site.
pub fn router(app: App) -> Router {
    let base = app.address().base.clone();
    let site = Router::new()
        .route("/", get(home::get))
        .route("/labs/{lab}", get(lab::resume))
        .route("/labs/{lab}/answers", post(lab::answer))
        .route("/labs/{lab}/{step}", get(lab::get))
        .route("/reports/{lab}", get(report::get))
        .route("/environment", get(environment::get))
        .route("/environment/kubeconfig", get(environment::kubeconfig))
        .route("/environment/logs/{name}", get(environment::log))
        .route("/environment/{act}", post(environment::act))
        .route("/events", get(events::get))
        .route("/terminals", get(doors::list).post(doors::open))
        .route("/terminals/{number}", delete(doors::close))
        .route("/terminals/{number}/socket", get(doors::socket))
        .route("/healthz", get(healthy))
        .route("/assets/{file}", get(asset))
        .with_state(app.clone());
    // A proxy may hand paths over with its prefix or without.
    let site = if base.is_empty() {
        site
    } else {
        Router::new().nest(&base, site.clone()).merge(site)
    };
    // The last layer is the first to see a request. Refusals too get their page, their headers and their cookies.
    site.layer(CatchPanicLayer::new())
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(from_fn_with_state(app.clone(), guard_request))
        .layer(from_fn_with_state(app.clone(), explain))
        .layer(from_fn_with_state(app, visitor::know))
        .layer(from_fn(secure))
}

async fn healthy() -> &'static str {
    "ok"
}

async fn asset(State(app): State<App>, Path(file): Path<String>, headers: HeaderMap) -> Response {
    app.assets().serve(&file, &headers)
}

/// Turns away what no page of ours sends.
async fn guard_request(State(app): State<App>, request: Request, next: Next) -> Response {
    match guarded(&app, request).await {
        Ok(request) => next.run(request).await,
        Err(refusal) => Met::from(refusal).into_response(),
    }
}

async fn guarded(app: &App, request: Request) -> Result<Request, Refusal> {
    let (parts, body) = request.into_parts();
    guard::check_host(&app.address().names(), &parts)?;
    guard::check_origin(&parts)?;
    let upgrade = parts.headers.contains_key(UPGRADE);
    if upgrade {
        guard::check_session(app.secret(), &parts.headers)?;
    }
    if guard::is_reading(&parts.method) {
        return Ok(Request::from_parts(parts, body));
    }
    guard::check_session(app.secret(), &parts.headers)?;
    let is_form = parts
        .headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(FORM.as_bytes()));
    if !is_form {
        let token = parts
            .headers
            .get(TOKEN_HEADER)
            .and_then(|value| value.to_str().ok());
        guard::check_token(app.secret(), token)?;
        return Ok(Request::from_parts(parts, body));
    }
    // A form carries its token inside.
    let bytes = to_bytes(body, BODY_LIMIT)
        .await
        .map_err(|_| Refusal::Token)?;
    guard::check_token(app.secret(), token_of_form(&bytes))?;
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// The token is hexadecimal, so that it needs no decoding.
fn token_of_form(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    text.split('&').find_map(|pair| pair.strip_prefix("token="))
}
