//! The device plugin on the nodes that really run pods: its manifests, with the profile's devices as their configuration.

use kube::api::{DynamicObject, Patch, PatchParams};
use kube::{Api, Client};
use serde_json::Value;

use crate::profile::Profile;
use crate::walls::resource;

const MANIFEST: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../manifests/gpu/daemonset.yaml"
));
const MANAGER: &str = "atelier-gpu";

/// Starts the plugin; nothing where no real node has GPUs. A configuration that is there stays, for whoever broke a device
/// to teach with it.
pub(super) async fn apply(client: &Client, profile: &Profile) -> Result<(), String> {
    let objects = objects(profile)?;
    for object in objects {
        let text = |pointer: &str| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let (kind, name) = (text("/kind"), text("/metadata/name"));
        let failed = |error: kube::Error| format!("apply {kind} {name}: {error}");
        let resource = resource(text("/apiVersion"), kind);
        let api = match text("/metadata/namespace") {
            "" => Api::<DynamicObject>::all_with(client.clone(), &resource),
            namespace => Api::namespaced_with(client.clone(), namespace, &resource),
        };
        if kind == "ConfigMap" && api.get_opt(name).await.map_err(failed)?.is_some() {
            continue;
        }
        let params = PatchParams::apply(MANAGER).force();
        api.patch(name, &params, &Patch::Apply(&object))
            .await
            .map_err(failed)?;
    }
    Ok(())
}

/// Every object, in the order in which to apply them.
pub(super) fn objects(profile: &Profile) -> Result<Vec<Value>, String> {
    let mut real = profile.clone();
    real.nodes
        .retain(|node| node.is_real() && node.gpus.is_some());
    if real.nodes.is_empty() {
        return Ok(Vec::new());
    }
    let config = real.gpu_config(|node| node.name.clone());
    let config = serde_json::to_string(&config).map_err(|error| error.to_string())?;
    let mut objects: Vec<Value> =
        serde_saphyr::from_str_multiple(MANIFEST).map_err(|error| error.to_string())?;
    for object in &mut objects {
        if object["kind"] == "ConfigMap" {
            object["data"]["config.json"] = Value::String(config.clone());
        }
    }
    Ok(objects)
}
