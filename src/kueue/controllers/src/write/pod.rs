//! Writes to pods that have to go. First the reason is noted on the pod, then it is deleted, if it is still the one that
//! was meant.

use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, Patch, PatchParams};
use kueue_api::names::FIELD_MANAGER;
use serde_json::json;

use super::{WriteError, Writer, this_one};
use crate::key::Key;

impl Writer {
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

    /// Ends a pod at once, if it is still the same object: nobody waits for its node.
    pub async fn end_pod(&self, pod: &Pod) -> Result<(), WriteError> {
        let key = Key::of(&pod.metadata);
        let params = this_one(&pod.metadata).grace_period(0);
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &key.namespace);
        match api.delete(&key.name, &params).await {
            Ok(_) => Ok(()),
            Err(error) => match WriteError::of("delete Pod", &key, error) {
                // Gone, or another one of its name.
                WriteError::Gone { .. } | WriteError::Outdated { .. } => Ok(()),
                other => Err(other),
            },
        }
    }

    /// Deletes a pod, if it is still the same object. What is left of it until it has stopped.
    pub async fn delete_pod(&self, pod: &Pod) -> Result<Option<Pod>, WriteError> {
        let key = Key::of(&pod.metadata);
        let params = this_one(&pod.metadata);
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
}
