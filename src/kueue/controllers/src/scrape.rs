//! Who may read `/metrics`: bearers of a token that the API server knows and allows to `get` that path, as with the
//! reference's manager.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::Client;
use kube::api::{Api, PostParams};

/// Puts the check before every path of a router.
pub fn guard(router: Router, client: Client) -> Router {
    router.layer(from_fn_with_state(client, check))
}

async fn check(State(client): State<Client>, request: Request, next: Next) -> Response {
    let Some(token) = bearer(request.headers()) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    match may_read(client, token, request.uri().path()).await {
        Ok(Access::Granted) => next.run(request).await,
        Ok(Access::Unknown) => StatusCode::UNAUTHORIZED.into_response(),
        Ok(Access::Denied) => StatusCode::FORBIDDEN.into_response(),
        Err(error) => {
            tracing::warn!("cannot ask the API server who reads the metrics: {error}");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers
        .get(AUTHORIZATION)?
        .to_str()
        .ok()?
        .strip_prefix("Bearer ")
        .map(str::trim)
        .filter(|token| !token.is_empty())
}

enum Access {
    Granted,
    Denied,
    /// Nobody the API server knows.
    Unknown,
}

async fn may_read(client: Client, token: &str, path: &str) -> Result<Access, kube::Error> {
    let review = TokenReview {
        spec: TokenReviewSpec {
            token: token.to_owned(),
            audiences: None,
        },
        ..TokenReview::default()
    };
    let review = Api::<TokenReview>::all(client.clone())
        .create(&PostParams::default(), &review)
        .await?;
    let known = review
        .status
        .filter(|status| status.authenticated == Some(true))
        .and_then(|status| status.user);
    let Some(UserInfo {
        username,
        groups,
        uid,
        extra,
    }) = known
    else {
        return Ok(Access::Unknown);
    };
    let spec = SubjectAccessReviewSpec {
        user: username,
        groups,
        uid,
        extra,
        non_resource_attributes: Some(NonResourceAttributes {
            path: Some(path.to_owned()),
            verb: Some("get".to_owned()),
        }),
        ..SubjectAccessReviewSpec::default()
    };
    let review = SubjectAccessReview {
        spec,
        ..SubjectAccessReview::default()
    };
    let review = Api::<SubjectAccessReview>::all(client)
        .create(&PostParams::default(), &review)
        .await?;
    Ok(if review.status.is_some_and(|status| status.allowed) {
        Access::Granted
    } else {
        Access::Denied
    })
}
