//! Writes to the API server. Each gives back the object as it is afterwards, so that the caller can put it into the
//! stores before the watch does.

mod error;
mod job;
mod pod;
mod request;
mod workload;

use std::fmt::Debug;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::api::{Api, DeleteParams, Patch, PatchParams, Preconditions};
use kube::core::NamespaceResourceScope;
use kueue_api::names::{FIELD_MANAGER, RESOURCE_IN_USE_FINALIZER};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::key::Key;

pub use error::WriteError;

/// Writes objects.
#[derive(Clone)]
pub struct Writer {
    client: kube::Client,
}

impl Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Writer")
    }
}

impl Writer {
    #[must_use]
    pub fn new(client: kube::Client) -> Self {
        Self { client }
    }

    /// Changes a namespaced object.
    pub async fn namespaced<K>(
        &self,
        object: &K,
        patch: Value,
        what: &'static str,
    ) -> Result<K, WriteError>
    where
        K: Resource<Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
        K::DynamicType: Default,
    {
        let (key, api, patch) = self.pinned_patch(object, patch);
        let written = api.patch(&key.name, &merge(), &Patch::Merge(&patch)).await;
        written.map_err(|e| WriteError::of(what, &key, e))
    }

    /// The object's key and API, and the patch tied to the state it was made from.
    fn pinned_patch<K>(&self, object: &K, patch: Value) -> (Key, Api<K>, Value)
    where
        K: Resource<Scope = NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        let key = Key::of(object.meta());
        let api = Api::namespaced(self.client.clone(), &key.namespace);
        let patch = pinned(object.meta().resource_version.as_deref(), patch);
        (key, api, patch)
    }

    /// Changes the status of a namespaced object.
    pub async fn namespaced_status<K>(
        &self,
        object: &K,
        patch: Value,
        what: &'static str,
    ) -> Result<K, WriteError>
    where
        K: Resource<Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
        K::DynamicType: Default,
    {
        let (key, api, patch) = self.pinned_patch(object, patch);
        let written = api
            .patch_status(&key.name, &merge(), &Patch::Merge(&patch))
            .await;
        written.map_err(|e| WriteError::of(what, &key, e))
    }

    /// Adds or removes our finalizer on a cluster-wide object.
    pub async fn finalizer<K>(&self, object: &K, present: bool) -> Result<Option<K>, WriteError>
    where
        K: Resource<Scope = kube::core::ClusterResourceScope> + Clone + Debug + DeserializeOwned,
        K::DynamicType: Default,
    {
        let Some(patch) = finalizer_patch(object.meta(), present) else {
            return Ok(None);
        };
        let key = Key::of(object.meta());
        let api: Api<K> = Api::all(self.client.clone());
        let patch = pinned(object.meta().resource_version.as_deref(), patch);
        let written = api.patch(&key.name, &merge(), &Patch::Merge(&patch)).await;
        written
            .map(Some)
            .map_err(|e| WriteError::of("change finalizers of", &key, e))
    }

    /// Replaces the status of an object that only we write.
    pub async fn replace_status<K>(
        &self,
        object: &K,
        api: Api<K>,
        status: &impl Serialize,
    ) -> Result<K, WriteError>
    where
        K: Resource + Clone + Debug + Serialize + DeserializeOwned,
    {
        const WHAT: &str = "write status of";
        let key = Key::of(object.meta());
        let json = |source| WriteError::Json {
            what: WHAT,
            key: key.clone(),
            source,
        };
        let old = serde_json::to_value(object).map_err(json)?;
        let new = serde_json::to_value(status).map_err(json)?;
        let Some(change) = jobs::merge::between(old.get("status").unwrap_or(&Value::Null), &new)
        else {
            return Ok(object.clone());
        };
        let written = api
            .patch_status(
                &key.name,
                &merge(),
                &Patch::Merge(json!({"status": change})),
            )
            .await;
        written.map_err(|e| WriteError::of(WHAT, &key, e))
    }
}

fn merge() -> PatchParams {
    PatchParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    }
}

/// Deletes what was meant, and nothing that came after it under the same name.
fn this_one(meta: &ObjectMeta) -> DeleteParams {
    DeleteParams {
        preconditions: Some(Preconditions {
            uid: meta.uid.clone(),
            resource_version: None,
        }),
        ..DeleteParams::background()
    }
}

/// A merge patch that is refused when the object is not in this version any more.
fn pinned(version: Option<&str>, mut patch: Value) -> Value {
    if let (Some(version), Value::Object(fields)) = (version, &mut patch) {
        let meta = fields.entry("metadata").or_insert_with(|| json!({}));
        meta["resourceVersion"] = json!(version);
    }
    patch
}

fn finalizer_patch(meta: &ObjectMeta, present: bool) -> Option<Value> {
    let mut finalizers = meta.finalizers.clone().unwrap_or_default();
    let there = finalizers
        .iter()
        .any(|name| name == RESOURCE_IN_USE_FINALIZER);
    if there == present {
        return None;
    }
    if present {
        finalizers.push(RESOURCE_IN_USE_FINALIZER.to_owned());
    } else {
        finalizers.retain(|name| name != RESOURCE_IN_USE_FINALIZER);
    }
    Some(json!({"metadata": {"finalizers": finalizers}}))
}
