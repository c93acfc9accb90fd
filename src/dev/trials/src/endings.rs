//! How the objects end that nothing really runs for.

use serde_json::{Value, json};

use crate::clock::stamp;

/// The status of a Job all of whose pods succeeded.
#[must_use]
pub fn complete(pods: i32) -> Value {
    let now = stamp();
    let condition = |kind: &str| {
        json!({
            "type": kind,
            "status": "True",
            "reason": "CompletionsReached",
            "message": "Reached expected number of succeeded pods",
            "lastTransitionTime": now,
            "lastProbeTime": now,
        })
    };
    json!({
        "active": 0,
        "ready": 0,
        "terminating": 0,
        "succeeded": pods,
        "completionTime": now,
        "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
    })
}
