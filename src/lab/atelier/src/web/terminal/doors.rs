//! Terminals over HTTP: list, open, close, and the WebSocket of one.

use axum::Json;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Deserialize;

use super::registry::Tab;
use super::socket;
use crate::web::error::Met;
use crate::web::frame::Frame;
use crate::web::pages::lab::find;
use crate::web::state::App;

/// `GET /terminals`
pub async fn list(State(app): State<App>) -> Json<Vec<Tab>> {
    Json(app.terminals().tabs())
}

/// What a page sends to open a terminal.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// The lab whose files the shell works with.
    lab: String,
}

/// `POST /terminals`
pub async fn open(
    State(app): State<App>,
    frame: Frame,
    Json(Opening { lab }): Json<Opening>,
) -> Result<Response, Met> {
    let lab = find(&app, &lab)?;
    Ok(match app.terminals().open(&lab.rules.id, frame.now).await {
        Ok(tab) => (StatusCode::CREATED, Json(tab)).into_response(),
        Err(error) => {
            tracing::warn!(%error, "no terminal was opened");
            let message = frame.t(&format!("terminal-{}", error.key()));
            let mut response = Json(serde_json::json!({ "message": message })).into_response();
            // Not an error status: the page shows these words in place of the terminal.
            *response.status_mut() = StatusCode::ACCEPTED;
            response
        }
    })
}

/// `DELETE /terminals/{number}`
pub async fn close(State(app): State<App>, Path(number): Path<u32>) -> Result<StatusCode, Met> {
    if app.terminals().close(number) {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Met::NoSuchPage)
    }
}

/// `GET /terminals/{number}/socket`
pub async fn socket(
    State(app): State<App>,
    Path(number): Path<u32>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let (terminals, secret) = (app.terminals().clone(), app.secret().clone());
    upgrade
        .max_message_size(socket::FRAME_LIMIT)
        .max_frame_size(socket::FRAME_LIMIT)
        .on_upgrade(move |socket| socket::run(socket, terminals, number, secret))
}
