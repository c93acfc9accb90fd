//! The patch that puts a CA bundle into all webhooks of a configuration.

use k8s_openapi::ByteString;
use serde_json::{Value, json};

/// None when every webhook trusts `ca` already. Lists cannot be patched in part, so the patch holds for one version only.
pub(super) fn patch(configuration: &Value, version: Option<&str>, ca: &str) -> Option<Value> {
    let wanted = serde_json::to_value(ByteString(ca.as_bytes().to_vec())).ok()?;
    let mut webhooks = configuration.get("webhooks")?.as_array()?.clone();
    let mut changed = false;
    for webhook in &mut webhooks {
        let Some(client) = webhook
            .get_mut("clientConfig")
            .filter(|client| client.get("service").is_some())
        else {
            continue;
        };
        if client.get("caBundle") != Some(&wanted) {
            client["caBundle"] = wanted.clone();
            changed = true;
        }
    }
    changed.then(|| json!({"metadata": {"resourceVersion": version}, "webhooks": webhooks}))
}
