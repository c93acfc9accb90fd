//! Conversion reviews on the wire (`apiextensions.k8s.io/v1`): all objects come back in the version that is asked for, or none does.

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use kueue_api::conversion::{Version, convert};
use serde::Deserialize;
use serde_json::{Value, json};

/// Where the API server asks.
pub(crate) const PATH: &str = "/convert";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    api_version: String,
    request: Request,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    uid: String,
    #[serde(rename = "desiredAPIVersion")]
    desired: String,
    #[serde(default)]
    objects: Vec<Value>,
}

/// Answers a review.
pub(crate) fn answer(body: &Bytes) -> Response {
    match serde_json::from_slice::<Review>(body) {
        Ok(review) => axum::Json(respond(review)).into_response(),
        Err(error) => {
            let message = format!("body is not a ConversionReview: {error}");
            (StatusCode::BAD_REQUEST, message).into_response()
        }
    }
}

fn respond(review: Review) -> Value {
    let Request {
        uid,
        desired,
        mut objects,
    } = review.request;
    let outcome = match Version::read(&desired) {
        None => Err(format!("version {desired:?} is not served")),
        Some(version) => objects.iter_mut().try_for_each(|object| {
            convert(object, version).map_err(|error| {
                let meta = &object["metadata"];
                let name = [&meta["namespace"], &meta["name"]]
                    .map(|part| part.as_str().unwrap_or_default());
                format!(
                    "{} cannot be converted to {desired}: {error}",
                    name.join("/")
                )
            })
        }),
    };
    let mut response = json!({"uid": uid, "result": {"status": "Success"}});
    match outcome {
        Ok(()) => response["convertedObjects"] = Value::Array(objects),
        Err(message) => {
            tracing::warn!("{message}");
            response["result"] = json!({"status": "Failure", "message": message});
        }
    }
    json!({"apiVersion": review.api_version, "kind": "ConversionReview", "response": response})
}
