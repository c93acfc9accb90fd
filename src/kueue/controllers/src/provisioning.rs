//! Asks a cluster autoscaler for nodes before a Workload starts: the admission check `kueue.x-k8s.io/provisioning-request`. `decide` decides
//! from the Workload and the requests that it owns, this gathers both and carries it out. Without the autoscaler's kind of object nothing can
//! be asked for, which the check then says. Reference section 4.16.

pub mod check;
pub mod decide;
pub mod pod_sets;
pub mod request;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use k8s_openapi::api::core::v1::PodTemplate;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kueue_api::conditions::{MAX_EVENT_NOTE, truncate};
use kueue_api::names::{API_VERSION, PROVISIONING_CONTROLLER};
use kueue_api::v1beta2::{AdmissionCheckState, Workload, WorkloadStatus};

use crate::context::Context;
use crate::error::ReconcileError;
use crate::events::Kind;
use crate::key::Key;
use crate::work_queue::Next;
use crate::write::WriteError;

use decide::{Act, View, failed, plan};
use request::Request;

const REPORTER: &str = "kueue-provisioning-request-controller";

/// A Workload as the controller of what is made for it.
fn owner_of(workload: &Workload) -> OwnerReference {
    owner(API_VERSION, "Workload", &workload.metadata)
}

fn owner(api_version: &str, kind: &str, meta: &kueue_api::ObjectMeta) -> OwnerReference {
    OwnerReference {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        name: meta.name.clone().unwrap_or_default(),
        uid: meta.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// Looks after the requests of one Workload.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let stores = &context.world.stores;
    let Some(workload) = stores.workloads.get(&key) else {
        return Ok(Next::OnChange);
    };
    let status = workload.status.as_ref();
    let states = status.map_or(&[][..], |status| &status.admission_checks);
    let config = |state: &AdmissionCheckState| {
        let check = stores.checks.get(&Key::cluster(&state.name))?;
        let ours = check.spec.controller_name == PROVISIONING_CONTROLLER;
        let config = || check::named(&context, &check).map(|config| config.spec.clone());
        ours.then(|| (state.name.clone(), config()))
    };
    let checks: Vec<_> = states.iter().filter_map(config).collect();
    let requests = stores.requests_of(&key);
    if checks.is_empty() && requests.is_empty() {
        return Ok(Next::OnChange);
    }
    let view = View {
        workload: &workload,
        checks: &checks,
        requests: &requests,
        flavors: &stores.flavor_specs(),
        cleans_up: context.settings.provisioning_cleans_up,
        now: (context.clock)(),
    };
    let acts = plan(&view).map_err(|unfit| ReconcileError::Check(unfit.to_string()))?;
    let mut pass = Pass {
        context: &context,
        workload: workload.clone(),
    };
    for act in acts {
        pass.carry_out(act).await?;
    }
    Ok(Next::OnChange)
}

struct Pass<'a> {
    context: &'a Context,
    workload: Arc<Workload>,
}

impl Pass<'_> {
    async fn carry_out(&mut self, act: Act) -> Result<(), ReconcileError> {
        match act {
            Act::Answer { states, told } => {
                self.answer(states).await?;
                for note in told {
                    self.tell(Kind::Normal, "AdmissionCheckUpdated", &note);
                }
                Ok(())
            }
            Act::Delete(name) => {
                let key = self.key(&name);
                self.context.writer.delete_request(&key).await?;
                self.context.world.lost_request(&key);
                Ok(())
            }
            Act::Create {
                check,
                request,
                templates,
            } => self.create(&check, &request, templates).await,
            Act::Own(request) => Ok(self.own(&request).await?),
        }
    }

    fn tell(&self, kind: Kind, reason: &str, note: &str) {
        let note = truncate(note, MAX_EVENT_NOTE);
        let workload = &*self.workload;
        self.context.event(workload, REPORTER, kind, reason, note);
    }

    async fn answer(&mut self, states: Vec<AdmissionCheckState>) -> Result<(), ReconcileError> {
        let key = Key::of(&self.workload.metadata);
        let _right = self.context.world.locks.hold([key]).await;
        let status = WorkloadStatus {
            admission_checks: states,
            ..self.workload.status.clone().unwrap_or_default()
        };
        let written = self.context.writer.status(&self.workload, &status).await?;
        self.workload = Arc::new(written.clone());
        self.context.world.saw_workload(written);
        Ok(())
    }

    fn key(&self, name: &str) -> Key {
        Key::new(self.workload.namespace(), name)
    }

    async fn create(
        &mut self,
        check: &str,
        request: &Request,
        templates: Vec<PodTemplate>,
    ) -> Result<(), ReconcileError> {
        for template in templates {
            if let Err(error) = self.context.writer.template(&template).await {
                let name = template.metadata.name.unwrap_or_default();
                return self.failed(check, "PodTemplate", &name, error).await;
            }
        }
        let made = match self.context.writer.request(request).await {
            Ok(made) => made,
            // An earlier pass made it, and the watch will tell of it.
            Err(WriteError::Outdated { .. }) => return Ok(()),
            Err(error) => {
                return self
                    .failed(check, request::KIND, request.name(), error)
                    .await;
            }
        };
        let note = format!("Created ProvisioningRequest: {:?}", request.name());
        self.tell(Kind::Normal, "ProvisioningRequestCreated", &note);
        if let Some(made) = self.context.world.saw_request(made) {
            self.own(&made).await?;
        }
        Ok(())
    }

    /// Says in the check what could not be made, and has it tried again.
    async fn failed(
        &mut self,
        check: &str,
        kind: &str,
        name: &str,
        error: WriteError,
    ) -> Result<(), ReconcileError> {
        let note = format!("Error creating {kind} {name:?}: {error}");
        self.tell(Kind::Warning, "FailedCreate", &note);
        let status = self.workload.status.as_ref();
        let states = status.map_or(&[][..], |status| &status.admission_checks);
        let states = failed(states, check, &note, (self.context.clock)());
        self.answer(states).await?;
        Err(error.into())
    }

    /// The templates go with their request.
    async fn own(&self, request: &Request) -> Result<(), WriteError> {
        let to = owner(request::API_VERSION, request::KIND, &request.metadata);
        let from = self.workload.metadata.uid.as_deref();
        for pods in &request.spec.pod_sets {
            let key = self.key(&pods.pod_template_ref.name);
            self.context.writer.give_template(&key, from, &to).await?;
        }
        Ok(())
    }
}
