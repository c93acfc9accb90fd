//! What autoscalers are asked for, and how.

use std::sync::Arc;

use kube::api::DynamicObject;
use kueue_api::names::PROVISIONING_CONTROLLER;
use kueue_api::v1beta2::{ProvisioningRequestConfig, Workload};

use super::super::World;
use crate::key::Key;
use crate::provisioning::request::{API_VERSION, KIND, Request};
use crate::store::Put;
use crate::watch::Seen;

impl World {
    pub fn on_provisioning_config(&self, seen: Seen<ProvisioningRequestConfig>) {
        if self.keep(&self.stores.provisioning_configs, seen).is_none() {
            return;
        }
        for check in self.stores.checks.list() {
            if check.spec.controller_name == PROVISIONING_CONTROLLER {
                self.queues.checks.add(Key::of(&check.metadata));
            }
        }
        for workload in self.stores.workloads.list() {
            self.ask_provisioned(&workload);
        }
    }

    pub fn on_request(&self, seen: Seen<DynamicObject>) {
        match seen {
            Seen::Object(object) => {
                self.saw_request(*object);
            }
            Seen::Gone(key, _) => self.lost_request(&key),
            Seen::Malformed(meta, error) => {
                self.unreadable(API_VERSION.to_owned(), KIND, &meta, &error);
            }
        }
    }

    /// Takes in a request as it is now; none if it does not have the shape of its kind.
    pub fn saw_request(&self, mut object: DynamicObject) -> Option<Arc<Request>> {
        object.metadata.managed_fields = None;
        let meta = object.metadata.clone();
        let value = serde_json::to_value(object);
        match value.and_then(serde_json::from_value::<Request>) {
            Ok(request) => {
                let request = Arc::new(request);
                if let Put::Taken(_) = self.stores.put_request(&request) {
                    self.ask_for(&request);
                }
                Some(request)
            }
            Err(error) => {
                self.unreadable(API_VERSION.to_owned(), KIND, &meta, &error.to_string());
                None
            }
        }
    }

    /// Takes in that a request is gone.
    pub fn lost_request(&self, key: &Key) {
        if let Some(request) = self.stores.remove_request(key) {
            self.ask_for(&request);
        }
    }

    fn ask_for(&self, request: &Request) {
        if let Some(workload) = request.workload() {
            self.queues.provisioned.add(workload);
        }
    }

    /// Asks for the requests of a Workload that has checks.
    pub(in crate::world) fn ask_provisioned(&self, workload: &Workload) {
        let status = workload.status.as_ref();
        if status.is_some_and(|status| !status.admission_checks.is_empty()) {
            self.queues.provisioned.add(Key::of(&workload.metadata));
        }
    }
}
