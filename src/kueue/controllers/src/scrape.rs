//! Who may read `/metrics`: bearers of a token that the API server knows and allows to `get` that path, as with the
//! reference's manager.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use kube::Client;
use webhooks::visibility::Asked;

use crate::access;

/// Puts the check before every path of a router.
pub fn guard(router: Router, client: Client) -> Router {
    router.layer(from_fn_with_state(client, check))
}

async fn check(State(client): State<Client>, request: Request, next: Next) -> Response {
    let Some(token) = access::bearer(request.headers()) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    match refuse(&client, token, request.uri().path()).await {
        Ok(None) => next.run(request).await,
        Ok(Some(refusal)) => refusal.into_response(),
        Err(error) => {
            tracing::warn!("cannot ask the API server who reads the metrics: {error}");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

async fn refuse(
    client: &Client,
    token: &str,
    path: &str,
) -> Result<Option<StatusCode>, kube::Error> {
    let Some(person) = access::person_of(client, token).await? else {
        return Ok(Some(StatusCode::UNAUTHORIZED));
    };
    let asked = Asked::Path {
        path: path.to_owned(),
        verb: "get".to_owned(),
    };
    let allowed = access::may(client, &person, &asked).await?;
    Ok((!allowed).then_some(StatusCode::FORBIDDEN))
}
