//! Telling the cluster: the pod's status, events, and the end of a deletion.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::{Api, ResourceExt as _};
use serde_json::{Value, json};
use tracing::warn;

use super::super::status;
use super::{Runner, Told};

/// How soon a status that could not be written is written again.
pub(super) const TRY_AGAIN: Duration = Duration::from_secs(2);

/// The strategic merge patch that makes a pod's status this one. The uid keeps a pod of the same name that came after
/// this one from getting it; addresses are replaced, because merging would add a second one, which is refused.
fn patch(uid: Option<&str>, mut status: Value) -> Value {
    if let Some(addresses) = status.get_mut("podIPs").and_then(Value::as_array_mut) {
        addresses.push(json!({"$patch": "replace"}));
    }
    json!({"metadata": {"uid": uid}, "status": status})
}

impl Runner {
    fn api(&self) -> Api<Pod> {
        Api::namespaced(
            self.context.options.client.clone(),
            &self.pod.namespace().unwrap_or_default(),
        )
    }

    /// Writes the status if it says something new.
    pub(super) async fn report(&mut self) {
        let now = self.context.now();
        let status = json!(status::render(&mut self.state, now));
        if self.reported.as_ref() == Some(&status) {
            return;
        }
        let patch = Patch::Strategic(patch(self.pod.uid().as_deref(), status.clone()));
        match self
            .api()
            .patch_status(&self.pod.name_any(), &PatchParams::default(), &patch)
            .await
        {
            Ok(_) => {
                self.behind = false;
                self.reported = Some(status);
            }
            // Also when the pod is not found or in conflict: if it is really gone, the watch says so and this ends.
            Err(error) => {
                warn!(%error, pod = self.pod.name_any(), "write the status of a pod");
                self.behind = true;
            }
        }
    }

    pub(super) async fn event(&self, reason: &str, note: String) {
        self.context.events.normal(&self.pod, reason, note).await;
    }

    pub(super) async fn event_warning(&self, reason: &str, note: String) {
        self.context.events.warning(&self.pod, reason, note).await;
    }

    /// Everything on this machine is cleaned up: the pod may go from the cluster.
    pub(super) async fn finish_deletion(&mut self) {
        loop {
            let now = DeleteParams {
                grace_period_seconds: Some(0),
                preconditions: Some(Preconditions {
                    uid: self.pod.uid(),
                    resource_version: None,
                }),
                ..DeleteParams::default()
            };
            match self.api().delete(&self.pod.name_any(), &now).await {
                Ok(_) => break,
                Err(kube::Error::Api(refused)) if matches!(refused.code, 404 | 409) => break,
                Err(error) => {
                    warn!(%error, pod = self.pod.name_any(), "finish the deletion of a pod");
                }
            }
            tokio::select! {
                () = self.cancel.cancelled() => return,
                () = tokio::time::sleep(TRY_AGAIN) => {}
            }
        }
        self.until_gone().await;
    }

    /// A finalizer may keep the pod for a while; a new runner for it would start it again.
    async fn until_gone(&mut self) {
        loop {
            if let Some(Told::Gone | Told::Shutdown) = self.already_told() {
                return;
            }
            tokio::select! {
                () = self.cancel.cancelled() => return,
                changed = self.news.changed() => if changed.is_err() { return },
            }
        }
    }
}
