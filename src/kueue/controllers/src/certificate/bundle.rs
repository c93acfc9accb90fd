//! The patches that put a CA bundle where the API server looks for it: webhooks, aggregated APIs, conversions of custom resources.

use k8s_openapi::ByteString;
use serde_json::{Value, json};

/// A function of an object and the bundle: what to change, or none when the bundle is there already.
pub(super) type Change = fn(&Value, &Value) -> Option<Value>;

/// None when the object trusts `ca` already, or never will. Lists cannot be patched in part, so a patch holds for one version only.
pub(super) fn patch(
    object: &Value,
    version: Option<&str>,
    ca: &str,
    change: Change,
) -> Option<Value> {
    let wanted = serde_json::to_value(ByteString(ca.as_bytes().to_vec())).ok()?;
    let mut patch = change(object, &wanted)?;
    patch["metadata"] = json!({ "resourceVersion": version });
    Some(patch)
}

/// Every webhook of a configuration that is a Service.
pub(super) fn webhooks(configuration: &Value, wanted: &Value) -> Option<Value> {
    let mut webhooks = configuration.get("webhooks")?.as_array()?.clone();
    let mut changed = false;
    for webhook in &mut webhooks {
        let Some(client) = webhook
            .get_mut("clientConfig")
            .filter(|client| client.get("service").is_some())
        else {
            continue;
        };
        if client.get("caBundle") != Some(wanted) {
            client["caBundle"] = wanted.clone();
            changed = true;
        }
    }
    changed.then(|| json!({ "webhooks": webhooks }))
}

/// An aggregated API that is a Service; one that was installed without any check is checked from now on.
pub(super) fn aggregated(api: &Value, wanted: &Value) -> Option<Value> {
    let spec = api
        .get("spec")
        .filter(|spec| spec.get("service").is_some())?;
    let unchecked = spec.get("insecureSkipTLSVerify") == Some(&json!(true));
    (unchecked || spec.get("caBundle") != Some(wanted))
        .then(|| json!({"spec": {"caBundle": wanted, "insecureSkipTLSVerify": false}}))
}

/// A custom resource that is converted by a Service.
pub(super) fn conversion(definition: &Value, wanted: &Value) -> Option<Value> {
    let client = definition
        .pointer("/spec/conversion/webhook/clientConfig")
        .filter(|client| client.get("service").is_some())?;
    (client.get("caBundle") != Some(wanted)).then(
        || json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": wanted}}}}}),
    )
}
