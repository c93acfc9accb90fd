//! Writes to Workloads. Each part of the status has a field manager of its own, so that none takes away what another
//! wrote; the part that admission owns is only written over the state it was decided from.

use kube::api::{Api, Patch, PatchParams};
use kueue_api::names::{ADMISSION_FIELD_MANAGER, API_VERSION, FIELD_MANAGER};
use kueue_api::v1beta2::{ReclaimablePod, Workload, WorkloadStatus};
use serde_json::{Value, json};

use super::{WriteError, Writer, finalizer_patch, this_one};
use crate::key::Key;

const RECLAIMABLE_FIELD_MANAGER: &str = "kueue-reclaimable-pods";

impl Writer {
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

    /// Reads a Workload.
    pub async fn find_workload(&self, key: &Key) -> Result<Option<Workload>, WriteError> {
        let found = self.workloads(&key.namespace).get_opt(&key.name).await;
        found.map_err(|e| WriteError::of("read Workload", key, e))
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
        let params = this_one(&workload.metadata);
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
