//! What visitors run into, as one type at the HTTP edge. Causes are logged under a reference number, never shown.

use askama::Template;
use axum::Json;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use course::Language;
use http::StatusCode;
use http::header::{ACCEPT, CONTENT_TYPE};

use super::frame::{Frame, Page};
use super::guard::Refusal;
use super::state::App;
use super::visitor::Theme;

/// What the visitor met.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Met {
    #[error("there is no such page")]
    NoSuchPage,
    #[error("the request was refused: {0}")]
    Refused(#[from] Refusal),
    #[error("the request could not be read: {0}")]
    Unreadable(String),
    /// A state of things that the visitor can change; the key of the sentence that says how.
    #[error("not now: {0}")]
    NotNow(&'static str),
    #[error("internal: {0}")]
    Internal(String),
}

impl Met {
    const fn status(&self) -> StatusCode {
        match self {
            Self::NoSuchPage => StatusCode::NOT_FOUND,
            Self::Refused(Refusal::Host) => StatusCode::MISDIRECTED_REQUEST,
            Self::Refused(_) => StatusCode::FORBIDDEN,
            Self::Unreadable(_) => StatusCode::BAD_REQUEST,
            Self::NotNow(_) => StatusCode::CONFLICT,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Names the family of sentences about it: what happened, what is safe, what to do.
    const fn key(&self) -> &'static str {
        match self {
            Self::NoSuchPage => "error-not-found",
            Self::Refused(Refusal::Host) => "error-host",
            Self::Refused(_) => "error-refused",
            Self::Unreadable(_) => "error-unreadable",
            Self::NotNow(key) => key,
            Self::Internal(_) => "error-internal",
        }
    }
}

/// The bare answer; [`explain`] makes a page of it.
impl IntoResponse for Met {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

#[derive(Debug, Template)]
#[template(path = "error.html")]
struct ErrorPage {
    frame: Frame,
    key: &'static str,
    safe: String,
    advice: String,
    reference: String,
}

/// Gives every failed answer its page (or JSON, for scripts), unless its handler did, and logs it once, with the reference the visitor sees.
pub async fn explain(State(app): State<App>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let Ok(frame) =
        <Frame as axum::extract::FromRequestParts<App>>::from_request_parts(&mut parts, &app).await;
    let wants_page = parts
        .headers
        .get(ACCEPT)
        .is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
    let path = parts.uri.path().to_owned();
    let response = next.run(Request::from_parts(parts, body)).await;
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let explained = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind == "application/json");
    if explained {
        return response;
    }
    let met = response
        .extensions()
        .get::<Met>()
        .cloned()
        .unwrap_or_else(|| of_status(status));
    let reference = reference();
    if status.is_server_error() {
        tracing::error!(reference, path, error = %met, "request failed");
    } else {
        tracing::info!(reference, path, error = %met, "request refused");
    }
    let key = met.key();
    let mut answer = if wants_page {
        let (safe, advice) = (format!("{key}-safe"), format!("{key}-do"));
        Page(ErrorPage {
            frame,
            key,
            safe,
            advice,
            reference,
        })
        .into_response()
    } else {
        let message = frame.t(key);
        Json(serde_json::json!({ "message": message, "reference": reference })).into_response()
    };
    *answer.status_mut() = status;
    answer
}

/// What an answer without our mark means: one of axum's own, or a caught panic.
fn of_status(status: StatusCode) -> Met {
    match status {
        StatusCode::NOT_FOUND => Met::NoSuchPage,
        status if status.is_client_error() => Met::Unreadable(status.to_string()),
        status => Met::Internal(status.to_string()),
    }
}

/// A short number that a trainee can read out.
fn reference() -> String {
    let number: u32 = rand::random();
    format!("{:04X}-{:04X}", number >> 16, number & 0xffff)
}
