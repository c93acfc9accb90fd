//! Writes to the API server. Each gives back the object as it is afterwards, so that the caller can put it into the
//! stores before the watch does.

use std::fmt::Debug;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams, Preconditions};
use kube::core::{ApiResource, GroupVersionKind, NamespaceResourceScope};
use kueue_api::names::{
    ADMISSION_FIELD_MANAGER, API_VERSION, FIELD_MANAGER, RESOURCE_IN_USE_FINALIZER,
};
use kueue_api::v1beta2::{ReclaimablePod, Workload, WorkloadStatus};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::key::Key;

const RECLAIMABLE_FIELD_MANAGER: &str = "kueue-reclaimable-pods";

/// Why a write did not happen.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The object changed since it was read; what was decided may be wrong now.
    #[error("{what} {key}: the object has changed meanwhile")]
    Outdated { what: &'static str, key: Key },
    /// The object is gone.
    #[error("{what} {key}: the object is gone")]
    Gone { what: &'static str, key: Key },
    /// The API server refused, or was not reached.
    #[error("{what} {key}: {}", brief(source))]
    Api {
        what: &'static str,
        key: Key,
        source: Box<kube::Error>,
    },
    /// The object could not be written as JSON.
    #[error("{what} {key}: {source}")]
    Json {
        what: &'static str,
        key: Key,
        source: serde_json::Error,
    },
}

impl WriteError {
    fn of(what: &'static str, key: &Key, error: kube::Error) -> Self {
        let key = key.clone();
        match &error {
            kube::Error::Api(status) if status.code == 409 => Self::Outdated { what, key },
            kube::Error::Api(status) if status.code == 404 => Self::Gone { what, key },
            _ => Self::Api {
                what,
                key,
                source: Box::new(error),
            },
        }
    }

    /// Whether the API server understood and said no for good.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Api { source, .. } if matches!(source.as_ref(), kube::Error::Api(status) if matches!(status.code, 400 | 403 | 422)))
    }
}

/// What the API server said, without the object that it quotes.
fn brief(error: &kube::Error) -> String {
    const LONGEST: usize = 400;
    match error {
        kube::Error::Api(status) => kueue_api::conditions::truncate(&status.message, LONGEST),
        other => other.to_string(),
    }
}

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

    fn workloads(&self, namespace: &str) -> Api<Workload> {
        Api::namespaced(self.client.clone(), namespace)
    }

    /// Replaces the part of a Workload's status that admission owns. Fails if the Workload has changed since.
    pub async fn status(
        &self,
        workload: &Workload,
        status: &WorkloadStatus,
    ) -> Result<Workload, WriteError> {
        const WHAT: &str = "write status of Workload";
        let key = Key::of(&workload.metadata);
        let owned = WorkloadStatus {
            reclaimable_pods: Vec::new(),
            ..status.clone()
        };
        let body = body(workload, &json!({ "status": owned }), true);
        let params = PatchParams::apply(ADMISSION_FIELD_MANAGER).force();
        let written = self
            .workloads(&key.namespace)
            .patch_status(&key.name, &params, &Patch::Apply(&body))
            .await;
        let written = written.map_err(|e| WriteError::of(WHAT, &key, e))?;
        let Some(rest) = leftovers(status, &written) else {
            return Ok(written);
        };
        let patch = self
            .workloads(&key.namespace)
            .patch_status(&key.name, &PatchParams::default(), &Patch::Merge(&rest))
            .await;
        patch.map_err(|e| WriteError::of(WHAT, &key, e))
    }

    /// Writes which pods are not needed any more.
    pub async fn reclaimable(
        &self,
        workload: &Workload,
        pods: &[ReclaimablePod],
    ) -> Result<Workload, WriteError> {
        let key = Key::of(&workload.metadata);
        let body = body(
            workload,
            &json!({"status": {"reclaimablePods": pods}}),
            false,
        );
        let params = PatchParams::apply(RECLAIMABLE_FIELD_MANAGER).force();
        let written = self
            .workloads(&key.namespace)
            .patch_status(&key.name, &params, &Patch::Apply(&body))
            .await;
        written.map_err(|e| WriteError::of("write reclaimable pods of Workload", &key, e))
    }

    /// Creates a Workload.
    pub async fn create(&self, workload: &Workload) -> Result<Workload, WriteError> {
        let key = Key::of(&workload.metadata);
        let created = self
            .workloads(&key.namespace)
            .create(
                &kube::api::PostParams {
                    field_manager: Some(FIELD_MANAGER.to_owned()),
                    ..Default::default()
                },
                workload,
            )
            .await;
        created.map_err(|e| WriteError::of("create Workload", &key, e))
    }

    /// Changes a Workload by a merge patch that only holds for the state it was made from.
    pub async fn workload(
        &self,
        workload: &Workload,
        patch: Value,
    ) -> Result<Workload, WriteError> {
        self.namespaced(workload, patch, "change Workload").await
    }

    /// Deletes a Workload, if it is still the same object.
    pub async fn delete(&self, workload: &Workload) -> Result<(), WriteError> {
        let key = Key::of(&workload.metadata);
        let preconditions = Preconditions {
            uid: workload.metadata.uid.clone(),
            resource_version: None,
        };
        let params = DeleteParams {
            preconditions: Some(preconditions),
            ..DeleteParams::background()
        };
        match self
            .workloads(&key.namespace)
            .delete(&key.name, &params)
            .await
        {
            Ok(_) => Ok(()),
            Err(error) => match WriteError::of("delete Workload", &key, error) {
                WriteError::Gone { .. } => Ok(()),
                other => Err(other),
            },
        }
    }

    /// Notes on a pod why it has to go.
    pub async fn termination(
        &self,
        pod: &Pod,
        reason: &str,
        message: &str,
        now: jiff::Timestamp,
    ) -> Result<Pod, WriteError> {
        let key = Key::of(&pod.metadata);
        let condition = json!({
            "type": "TerminationTarget", "status": "True", "reason": reason, "message": message,
            "lastTransitionTime": kueue_api::Time(now),
        });
        let body = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": key.name, "namespace": key.namespace, "uid": pod.metadata.uid},
            "status": {"conditions": [condition]},
        });
        let params = PatchParams::apply(FIELD_MANAGER).force();
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &key.namespace);
        let written = api
            .patch_status(&key.name, &params, &Patch::Apply(&body))
            .await;
        written.map_err(|e| WriteError::of("write status of Pod", &key, e))
    }

    /// Deletes a pod, if it is still the same object. What is left of it until it has stopped.
    pub async fn delete_pod(&self, pod: &Pod) -> Result<Option<Pod>, WriteError> {
        let key = Key::of(&pod.metadata);
        let preconditions = Preconditions {
            uid: pod.metadata.uid.clone(),
            resource_version: None,
        };
        let params = DeleteParams {
            preconditions: Some(preconditions),
            ..DeleteParams::background()
        };
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &key.namespace);
        match api.delete(&key.name, &params).await {
            Ok(deleted) => Ok(deleted.left()),
            Err(error) => match WriteError::of("delete Pod", &key, error) {
                // Gone, or another one of its name.
                WriteError::Gone { .. } | WriteError::Outdated { .. } => Ok(None),
                other => Err(other),
            },
        }
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

    /// Removes our finalizer from a Workload.
    pub async fn release(&self, workload: &Workload) -> Result<Option<Workload>, WriteError> {
        let Some(patch) = finalizer_patch(&workload.metadata, false) else {
            return Ok(None);
        };
        match self.namespaced(workload, patch, "let go Workload").await {
            Ok(written) => Ok(Some(written)),
            Err(WriteError::Gone { .. }) => Ok(None),
            Err(error) => Err(error),
        }
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

    /// Reads a job.
    pub async fn find_job(
        &self,
        resource: &ApiResource,
        key: &Key,
    ) -> Result<Option<DynamicObject>, WriteError> {
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &key.namespace, resource);
        api.get_opt(&key.name)
            .await
            .map_err(|e| WriteError::of("read job", key, e))
    }

    /// What is known of an owner that is not watched; nothing if it is not there, or is not for us to see.
    pub async fn find_owner(
        &self,
        owner: &OwnerReference,
        key: &Key,
    ) -> Result<Option<ObjectMeta>, WriteError> {
        let version = owner.api_version.rsplit_once('/');
        let (group, version) = version.unwrap_or(("", owner.api_version.as_str()));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &owner.kind));
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &key.namespace, &resource);
        match api.get_metadata_opt(&key.name).await {
            Ok(found) => Ok(found.map(|found| found.metadata)),
            Err(kube::Error::Api(status)) if status.code == 403 => Ok(None),
            Err(error) => Err(WriteError::of("read owner", key, error)),
        }
    }

    /// Deletes a job, if it is still the same object; its pods go after it.
    pub async fn delete_job(
        &self,
        resource: &ApiResource,
        key: &Key,
        uid: Option<&str>,
    ) -> Result<(), WriteError> {
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &key.namespace, resource);
        let preconditions = Preconditions {
            uid: uid.map(str::to_owned),
            resource_version: None,
        };
        let params = DeleteParams {
            preconditions: Some(preconditions),
            ..DeleteParams::background()
        };
        let deleted = api.delete(&key.name, &params).await;
        match deleted.map_err(|e| WriteError::of("delete job", key, e)) {
            Ok(_) | Err(WriteError::Gone { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Changes a job.
    pub async fn job(
        &self,
        resource: &ApiResource,
        key: &Key,
        version: Option<&str>,
        patch: Value,
        status: bool,
    ) -> Result<DynamicObject, WriteError> {
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &key.namespace, resource);
        let patch = Patch::Merge(pinned(version, patch));
        let written = if status {
            api.patch_status(&key.name, &merge(), &patch).await
        } else {
            api.patch(&key.name, &merge(), &patch).await
        };
        written.map_err(|e| WriteError::of("change job", key, e))
    }
}

fn merge() -> PatchParams {
    PatchParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
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

fn body(workload: &Workload, content: &Value, strict: bool) -> Value {
    let meta = &workload.metadata;
    let mut body = json!({
        "apiVersion": API_VERSION, "kind": "Workload",
        "metadata": {"name": meta.name, "namespace": meta.namespace, "uid": meta.uid},
        "status": content["status"],
    });
    if strict {
        body["metadata"]["resourceVersion"] = json!(meta.resource_version);
    }
    body
}

/// Fields that were to disappear and are still there, because somebody else wrote them too.
fn leftovers(wanted: &WorkloadStatus, written: &Workload) -> Option<Value> {
    let got = written.status.as_ref()?;
    let mut status = serde_json::Map::new();
    if wanted.admission.is_none() && got.admission.is_some() {
        status.insert("admission".to_owned(), Value::Null);
    }
    if wanted.requeue_state.is_none() && got.requeue_state.is_some() {
        status.insert("requeueState".to_owned(), Value::Null);
    }
    if wanted.resource_requests.is_empty() && !got.resource_requests.is_empty() {
        status.insert("resourceRequests".to_owned(), Value::Null);
    }
    (!status.is_empty()).then(|| json!({ "status": status }))
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
