//! Refusals in the form that Kubernetes clients read: `Status` objects.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use kueue_api::visibility::GROUP;
use serde_json::{Value, json};

/// A refusal with a reason of the API conventions.
pub fn failure(code: StatusCode, reason: &str, message: &str, details: Option<Value>) -> Response {
    let mut status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code.as_u16(),
    });
    if let Some(details) = details {
        status["details"] = details;
    }
    (code, Json(status)).into_response()
}

/// Nobody known is asking.
#[must_use]
pub fn unauthorized() -> Response {
    failure(
        StatusCode::UNAUTHORIZED,
        "Unauthorized",
        "Unauthorized",
        None,
    )
}

/// Whoever is asking may not.
#[must_use]
pub fn forbidden(message: &str) -> Response {
    failure(StatusCode::FORBIDDEN, "Forbidden", message, None)
}

pub(super) fn not_found(kind: &str, name: &str) -> Response {
    let message = format!("{kind}.{GROUP} {name:?} not found");
    let details = json!({"name": name, "group": GROUP, "kind": kind});
    failure(StatusCode::NOT_FOUND, "NotFound", &message, Some(details))
}

pub(super) fn nowhere() -> Response {
    let message = "the server could not find the requested resource";
    failure(StatusCode::NOT_FOUND, "NotFound", message, None)
}

pub(super) fn method_not_allowed() -> Response {
    let message = "the server does not allow this method on the requested resource";
    failure(
        StatusCode::METHOD_NOT_ALLOWED,
        "MethodNotAllowed",
        message,
        None,
    )
}

pub(super) fn not_a_number(name: &str, text: &str) -> Response {
    let message = format!("parameter {name} is {text:?}: want a whole number");
    failure(StatusCode::BAD_REQUEST, "BadRequest", &message, None)
}

pub(super) fn starting() -> Response {
    let message = "the controller is starting and has not seen every workload yet";
    failure(
        StatusCode::SERVICE_UNAVAILABLE,
        "ServiceUnavailable",
        message,
        None,
    )
}
