//! Admission reviews on the wire (`admission.k8s.io/v1`): what is asked, and how each verdict is said.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json_patch::Patch;
use serde::Deserialize;
use serde_json::{Value, json};

const API_VERSION: &str = "admission.k8s.io/v1";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    #[serde(default)]
    api_version: String,
    request: Option<Request>,
}

/// What the API server asks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Request {
    pub uid: String,
    pub namespace: String,
    pub operation: String,
    pub sub_resource: String,
    /// The object as it would be stored; null on deletion.
    pub object: Value,
    /// The object as it is stored; null on creation.
    pub old_object: Value,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Allow,
    /// Allowed with these changes.
    Change(Patch),
    /// Allowed, with something to tell whoever asked.
    Warn(String),
    /// Refused by a rule.
    Deny(String),
    /// Refused because the object cannot be read.
    Malformed(String),
}

impl Request {
    /// Reads a review, and says what is wrong with it otherwise.
    pub(crate) fn read(body: &[u8]) -> Result<Self, String> {
        let review: Review = serde_json::from_slice(body)
            .map_err(|error| format!("body is not an AdmissionReview: {error}"))?;
        if review.api_version != API_VERSION {
            return Err(format!(
                "AdmissionReview has apiVersion {:?}: want {API_VERSION}",
                review.api_version
            ));
        }
        review
            .request
            .ok_or_else(|| "AdmissionReview has no request".to_owned())
    }

    pub(crate) fn creates(&self) -> bool {
        self.operation == "CREATE"
    }

    pub(crate) fn updates(&self) -> bool {
        self.operation == "UPDATE"
    }
}

impl Verdict {
    /// The review that goes back.
    pub(crate) fn to_review(&self, uid: &str) -> Value {
        let mut response = json!({"uid": uid, "allowed": matches!(self, Self::Allow | Self::Change(_) | Self::Warn(_))});
        match self {
            Self::Allow => {}
            Self::Warn(text) => response["warnings"] = json!([text]),
            Self::Change(patch) => {
                let text = serde_json::to_vec(patch).unwrap_or_default();
                response["patchType"] = json!("JSONPatch");
                response["patch"] = json!(STANDARD.encode(text));
            }
            Self::Deny(message) => {
                response["status"] =
                    json!({"code": 403, "reason": "Forbidden", "message": message});
            }
            Self::Malformed(message) => {
                response["status"] =
                    json!({"code": 400, "reason": "BadRequest", "message": message});
            }
        }
        json!({"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response})
    }
}
