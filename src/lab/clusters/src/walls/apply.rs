//! Puts the manifests into the cluster by server-side apply, so that a start after an upgrade brings the new walls.

use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kube::{Api, Client};
use serde_json::Value;

use super::{WallsError, manifests};

const MANAGER: &str = "atelier-walls";

/// Applies every role, binding and policy.
///
/// # Errors
/// The first object that the API server refuses.
pub async fn apply(client: &Client) -> Result<(), WallsError> {
    for object in manifests::all()? {
        let text = |pointer: &str| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (kind, name) = (text("/kind"), text("/metadata/name"));
        let resource = resource(&text("/apiVersion"), &kind);
        let api = Api::<DynamicObject>::all_with(client.clone(), &resource);
        api.patch(
            &name,
            &PatchParams::apply(MANAGER).force(),
            &Patch::Apply(&object),
        )
        .await
        .map_err(|source| WallsError::Apply { kind, name, source })?;
    }
    Ok(())
}

/// All kinds of our manifests have regular plurals, so no discovery is needed.
pub(crate) fn resource(api_version: &str, kind: &str) -> ApiResource {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let lower = kind.to_lowercase();
    let plural = lower
        .strip_suffix('y')
        .map_or_else(|| format!("{lower}s"), |stem| format!("{stem}ies"));
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), &plural)
}
