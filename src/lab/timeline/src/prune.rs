//! What of an object is worth keeping: everything a trainee's `kubectl describe` shows, without bookkeeping, schemas and heartbeats.

use serde_json::{Map, Value};

/// Removes what no criterion can rest on. Two versions that are equal afterwards need one entry only.
pub fn prune(kind: &str, mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
        metadata.remove("selfLink");
        metadata.remove("resourceVersion");
        if let Some(annotations) = metadata
            .get_mut("annotations")
            .and_then(Value::as_object_mut)
        {
            annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        }
    }
    match kind {
        "Node" => node(&mut object),
        "Pod" => pod(&mut object),
        "CustomResourceDefinition" => definition(&mut object),
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => hooks(&mut object),
        _ => {}
    }
    object
}

fn child<'a>(object: &'a mut Value, key: &str) -> Option<&'a mut Map<String, Value>> {
    object.get_mut(key)?.as_object_mut()
}

fn list<'a>(map: &'a mut Map<String, Value>, key: &str) -> &'a mut [Value] {
    map.get_mut(key)
        .and_then(Value::as_array_mut)
        .map_or(&mut [], Vec::as_mut_slice)
}

fn node(object: &mut Value) {
    if let Some(status) = child(object, "status") {
        status.remove("images");
        status.remove("nodeInfo");
        for condition in list(status, "conditions") {
            if let Some(condition) = condition.as_object_mut() {
                condition.remove("lastHeartbeatTime");
            }
        }
    }
}

fn pod(object: &mut Value) {
    if let Some(spec) = child(object, "spec") {
        spec.remove("volumes");
        for container in list(spec, "containers") {
            if let Some(container) = container.as_object_mut() {
                container.retain(|key, _| {
                    matches!(
                        key.as_str(),
                        "name" | "image" | "command" | "args" | "resources"
                    )
                });
            }
        }
    }
    if let Some(status) = child(object, "status") {
        status.retain(|key, _| {
            !matches!(
                key.as_str(),
                "podIPs" | "hostIPs" | "podIP" | "hostIP" | "qosClass"
            )
        });
    }
}

fn definition(object: &mut Value) {
    let Some(spec) = child(object, "spec") else {
        return;
    };
    spec.remove("conversion");
    for version in list(spec, "versions") {
        if let Some(version) = version.as_object_mut() {
            version.retain(|key, _| matches!(key.as_str(), "name" | "served" | "storage"));
        }
    }
}

fn hooks(object: &mut Value) {
    let Some(map) = object.as_object_mut() else {
        return;
    };
    for hook in list(map, "webhooks") {
        if let Some(config) = child(hook, "clientConfig") {
            let has_bundle = config.remove("caBundle").is_some();
            config.insert("hasCaBundle".to_owned(), has_bundle.into());
        }
    }
}
