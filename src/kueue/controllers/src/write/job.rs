//! Reads and writes of jobs, whatever their kind: objects without a type, found by the resource that the kind names. Owners
//! above a job are read here too, since nobody watches them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PostParams, Preconditions};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::Value;

use super::{WriteError, Writer, merge, pinned};
use crate::key::Key;

impl Writer {
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

    /// Reads the jobs of a namespace that have these labels.
    pub async fn list_jobs(
        &self,
        resource: &ApiResource,
        namespace: &str,
        selector: &str,
    ) -> Result<Vec<DynamicObject>, WriteError> {
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), namespace, resource);
        let listed = api.list(&ListParams::default().labels(selector)).await;
        let key = Key::new(namespace, selector);
        Ok(listed
            .map_err(|e| WriteError::of("list jobs", &key, e))?
            .items)
    }

    /// Creates a job.
    pub async fn create_job(
        &self,
        resource: &ApiResource,
        namespace: &str,
        object: Value,
    ) -> Result<(), WriteError> {
        let name = object.pointer("/metadata/name").and_then(Value::as_str);
        let key = Key::new(namespace, name.unwrap_or_default());
        let json = |source| WriteError::Json {
            what: "create job",
            key: key.clone(),
            source,
        };
        let object: DynamicObject = serde_json::from_value(object).map_err(json)?;
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), namespace, resource);
        let created = api.create(&PostParams::default(), &object).await;
        created
            .map(drop)
            .map_err(|e| WriteError::of("create job", &key, e))
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
