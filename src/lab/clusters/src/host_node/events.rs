//! Events about pods, as `kubectl describe` shows them. An event that cannot be written is only logged.

use k8s_openapi::api::core::v1::{ObjectReference, Pod};
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::{Client, Resource as _};
use tracing::debug;

use super::NODE_NAME;

pub(super) struct Events(Recorder);

impl Events {
    pub(super) fn new(client: &Client) -> Self {
        let reporter = Reporter {
            controller: "kubelet".to_owned(),
            instance: Some(NODE_NAME.to_owned()),
        };
        Self(Recorder::new(client.clone(), reporter))
    }

    pub(super) async fn normal(&self, pod: &Pod, reason: &str, note: String) {
        self.publish(pod, EventType::Normal, reason, note).await;
    }

    pub(super) async fn warning(&self, pod: &Pod, reason: &str, note: String) {
        self.publish(pod, EventType::Warning, reason, note).await;
    }

    async fn publish(&self, pod: &Pod, type_: EventType, reason: &str, note: String) {
        let event = Event {
            type_,
            reason: reason.to_owned(),
            note: Some(note),
            action: reason.to_owned(),
            secondary: None,
        };
        let about: ObjectReference = pod.object_ref(&());
        if let Err(error) = self.0.publish(&event, &about).await {
            debug!(%error, reason, "write an event");
        }
    }
}
