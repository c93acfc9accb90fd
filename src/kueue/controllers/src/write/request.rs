//! Writes of what an autoscaler is asked for: requests and the templates that they name.

use k8s_openapi::api::core::v1::PodTemplate;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::json;

use super::{WriteError, Writer};
use crate::key::Key;
use crate::provisioning::request::{API_VERSION, KIND, Request, resource};

impl Writer {
    fn requests(&self, namespace: &str) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), namespace, &resource())
    }

    /// Creates a request.
    pub async fn request(&self, request: &Request) -> Result<DynamicObject, WriteError> {
        let what = "create ProvisioningRequest";
        let key = Key::of(&request.metadata);
        let json = |source| WriteError::Json {
            what,
            key: key.clone(),
            source,
        };
        let mut object = serde_json::to_value(request).map_err(json)?;
        object["apiVersion"] = json!(API_VERSION);
        object["kind"] = json!(KIND);
        let object: DynamicObject = serde_json::from_value(object).map_err(json)?;
        let api = self.requests(&key.namespace);
        let created = api.create(&PostParams::default(), &object).await;
        created.map_err(|error| WriteError::of(what, &key, error))
    }

    /// Deletes a request, if it is there.
    pub async fn delete_request(&self, key: &Key) -> Result<(), WriteError> {
        let api = self.requests(&key.namespace);
        let deleted = api.delete(&key.name, &DeleteParams::default()).await;
        let of = |error| WriteError::of("delete ProvisioningRequest", key, error);
        match deleted.map_err(of) {
            Ok(_) | Err(WriteError::Gone { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn templates(&self, namespace: &str) -> Api<PodTemplate> {
        Api::namespaced(self.client.clone(), namespace)
    }

    /// Creates a template, unless it is there.
    pub async fn template(&self, template: &PodTemplate) -> Result<(), WriteError> {
        let key = Key::of(&template.metadata);
        let api = self.templates(&key.namespace);
        let created = api.create(&PostParams::default(), template).await;
        match created.map_err(|error| WriteError::of("create PodTemplate", &key, error)) {
            Ok(_) | Err(WriteError::Outdated { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Gives a template, if it is there, from one owner to another.
    pub async fn give_template(
        &self,
        key: &Key,
        from: Option<&str>,
        to: &OwnerReference,
    ) -> Result<(), WriteError> {
        let of = |error| WriteError::of("own PodTemplate", key, error);
        let api = self.templates(&key.namespace);
        let found = api.get_metadata_opt(&key.name).await.map_err(of)?;
        let Some(meta) = found.map(|found| found.metadata) else {
            return Ok(());
        };
        let mut owners = meta.owner_references.unwrap_or_default();
        if owners.iter().any(|one| one.uid == to.uid) {
            return Ok(());
        }
        owners.retain(|one| Some(one.uid.as_str()) != from);
        owners.push(to.clone());
        let version = meta.resource_version;
        let patch = json!({"metadata": {"ownerReferences": owners, "resourceVersion": version}});
        let patch = Patch::Merge(patch);
        let parameters = PatchParams::default();
        let patched = api.patch_metadata(&key.name, &parameters, &patch).await;
        patched.map(drop).map_err(of)
    }
}
