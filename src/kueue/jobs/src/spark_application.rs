//! `sparkoperator.k8s.io/v1beta2` `SparkApplication`: a driver that asks for executors once it runs. What its pods look like is not written in
//! templates but in fields of their own ([`pods`]), and there an admission's part goes, too. Behind the gate `SparkApplicationIntegration`.
//! Reference sections 5.2 and 5.8.

mod pods;

#[cfg(test)]
mod tests;

use k8s_openapi::api::core::v1::{PodSpec, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::features::{Features, gate};
use kueue_api::field::{FieldError, Path};
use kueue_api::v1beta2::PodSet;
use kueue_api::workload::slices;
use serde_json::{Value, json};

use crate::admission::topology::{self, Template};
use crate::error::JobError;
use crate::job::{Change, Finish, GenericJob, StartError};
use crate::kind::JobKind;
use crate::pod_set_info::PodSetInfo;
use crate::topology_request::{self, Ranks};
use crate::untyped::Untyped;

pub use pods::mounted;
use pods::{ROLES, Role};

/// `sparkoperator.k8s.io/v1beta2` `SparkApplication`.
pub const SPARK_APPLICATION: JobKind = JobKind {
    framework: "sparkoperator.k8s.io/sparkapplication",
    group: "sparkoperator.k8s.io",
    version: "v1beta2",
    kind: "SparkApplication",
    plural: "sparkapplications",
    adopts: false,
    elastic: false,
    checked_unmanaged: false,
    native_controller: "",
    read: SparkApplication::read,
};

const SUSPEND: &[&str] = &["spec", "suspend"];
const GLOBAL_SELECTOR: &str = "/spec/nodeSelector";
const STATE: &str = "/status/applicationState/state";

/// A `SparkApplication`.
#[derive(Clone, Debug)]
pub struct SparkApplication(Untyped);

impl SparkApplication {
    fn read(value: Value) -> Result<Box<dyn GenericJob>, JobError> {
        Ok(Box::new(Self(Untyped::read(
            SPARK_APPLICATION.kind,
            value,
        )?)))
    }

    fn executors(&self) -> i32 {
        self.0.number("/spec/executor/instances").unwrap_or(0)
    }

    /// A podset without what its annotations ask for.
    fn bare_pod_set(&self, role: &Role) -> Result<PodSet, JobError> {
        let count = if role.field == "driver" {
            1
        } else {
            self.executors()
        };
        Ok(PodSet {
            name: role.field.to_owned(),
            count,
            template: role.template(&self.0)?,
            ..PodSet::default()
        })
    }

    fn pod_set(&self, role: &Role) -> Result<PodSet, JobError> {
        let set = self.bare_pod_set(role)?;
        let meta = set.template.metadata.as_ref();
        let topology_request = topology_request::of(meta, &Ranks::default())?;
        Ok(PodSet {
            topology_request,
            ..set
        })
    }

    /// What of a role an admission may touch, in the form of a template.
    fn touched(&self, role: &Role) -> Result<PodTemplateSpec, JobError> {
        let own = |field: &str| self.0.get(&format!("/spec/{}/{field}", role.field));
        // One selector for all, and one for a role, exclude each other.
        let selector = self.0.get(GLOBAL_SELECTOR).or(own("nodeSelector"));
        let template = json!({
            "metadata": {"labels": own("labels"), "annotations": own("annotations")},
            "spec": {
                "containers": [],
                "nodeSelector": selector,
                "tolerations": own("tolerations"),
                "schedulingGates": own("template/spec/schedulingGates"),
            },
        });
        let kind = SPARK_APPLICATION.kind;
        serde_json::from_value(template).map_err(|source| JobError::Read { kind, source })
    }

    /// Puts it back in its place.
    fn touch(&mut self, role: &Role, template: PodTemplateSpec) {
        let meta = template.metadata.unwrap_or_default();
        let spec = template.spec.unwrap_or_default();
        let PodSpec {
            node_selector,
            tolerations,
            scheduling_gates,
            ..
        } = spec;
        self.put(role, &["labels"], json!(meta.labels));
        self.put(role, &["annotations"], json!(meta.annotations));
        self.put(role, &["nodeSelector"], json!(node_selector));
        self.put(role, &["tolerations"], json!(tolerations));
        let template = format!("/spec/{}/template", role.field);
        if self.0.get(&template).is_none() {
            self.put(role, &["template"], role.empty_template());
        }
        let gates = ["template", "spec", "schedulingGates"];
        self.put(role, &gates, json!(scheduling_gates));
    }

    /// Sets a field of a role, or takes it away if there is nothing to say.
    fn put(&mut self, role: &Role, path: &[&str], value: Value) {
        let path: Vec<&str> = ["spec", role.field].iter().chain(path).copied().collect();
        if value.is_null() {
            self.0.remove(&path);
        } else {
            self.0.set(&path, value);
        }
    }

    fn restored(&self, infos: &[PodSetInfo]) -> Self {
        let mut back = self.clone();
        for (role, info) in ROLES.iter().zip(infos) {
            // What cannot be read cannot have been changed by us.
            if let Ok(mut template) = self.touched(role) {
                info.restore_into(&mut template, &[]);
                back.touch(role, template);
            }
        }
        if let [_, executor] = infos {
            let place = ["spec", "executor", "instances"];
            back.0.set(&place, json!(executor.count));
        }
        back.0.remove(&["spec", "nodeSelector"]);
        back
    }
}

impl GenericJob for SparkApplication {
    fn kind(&self) -> &'static JobKind {
        &SPARK_APPLICATION
    }

    fn meta(&self) -> &ObjectMeta {
        &self.0.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.0.meta
    }

    fn is_suspended(&self) -> bool {
        self.0.is_on(SUSPEND)
    }

    fn suspend(&mut self) {
        self.0.set(SUSPEND, json!(true));
    }

    fn pod_sets(&self) -> Result<Vec<PodSet>, JobError> {
        ROLES.iter().map(|role| self.pod_set(role)).collect()
    }

    fn run_with(&mut self, infos: &[PodSetInfo]) -> Result<(), StartError> {
        let (want, got) = (ROLES.len(), infos.len());
        if want != got {
            return Err(JobError::Infos { want, got }.into());
        }
        let mut running = self.clone();
        for (role, info) in ROLES.iter().zip(infos) {
            let mut template = self.touched(role)?;
            info.merge_into(&mut template)?;
            running.touch(role, template);
        }
        running.0.remove(&["spec", "nodeSelector"]);
        running.0.set(SUSPEND, json!(false));
        *self = running;
        Ok(())
    }

    fn stop_step(&self, infos: Option<&[PodSetInfo]>) -> Option<Change> {
        let infos = infos.filter(|infos| infos.len() == ROLES.len());
        let mut stopped = infos.map_or_else(|| self.clone(), |infos| self.restored(infos));
        stopped.suspend();
        self.0.patch_to(&stopped.0).map(Change::Object)
    }

    fn finished(&self) -> Option<Finish> {
        let state = self.0.text(STATE)?;
        let over = ["COMPLETED", "FAILED", "SUBMISSION_FAILED"].contains(&state);
        over.then(|| {
            let message = self.0.text("/status/applicationState/errorMessage");
            Finish {
                success: state == "COMPLETED",
                message: message.unwrap_or_default().to_owned(),
            }
        })
    }

    fn is_active(&self) -> bool {
        self.0.text(STATE) == Some("RUNNING")
    }

    /// The driver runs, and so do all executors, or they did.
    fn pods_ready(&self) -> bool {
        let states = self.0.get("/status/executorState");
        let states = states.and_then(Value::as_object).into_iter().flatten();
        let well = |state: &Value| state == "RUNNING" || state == "COMPLETED";
        let ready = states.filter(|(_, state)| well(state)).count();
        let wanted = usize::try_from(self.executors()).unwrap_or_default();
        self.is_active() && ready >= wanted
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn to_value(&self) -> Result<Value, JobError> {
        self.0.to_value()
    }

    fn problems(&self, features: &Features) -> Vec<FieldError> {
        let spec = Path::new("spec");
        let mut found = Vec::new();
        let mode = self.0.text("/spec/mode").unwrap_or_default();
        if mode != "cluster" {
            let detail = "only Cluster mode is supported for a kueue managed job";
            found.push(FieldError::invalid(&spec.child("mode"), mode, detail));
        }
        let grows = self.0.is_on(&["spec", "dynamicAllocation", "enabled"]);
        if grows && !slices::is_marked(&self.0.meta) {
            let place = spec.child("dynamicAllocation").child("enabled");
            let detail = "a kueue managed job can use dynamicAllocation only when the ElasticJobsViaWorkloadSlices feature gate is on and the job is an elastic job";
            found.push(FieldError::invalid(&place, true, detail));
        }
        if features.on(gate::TOPOLOGY_AWARE_SCHEDULING) {
            let template = |role: &Role| {
                Some(Template {
                    path: spec.child(role.field),
                    pod_set: self.bare_pod_set(role).ok()?,
                })
            };
            let templates: Vec<_> = ROLES.iter().filter_map(template).collect();
            let layers = features.on(gate::TAS_MULTI_LAYER_TOPOLOGY);
            found.extend(topology::problems_of_each(&templates, layers));
        }
        found
    }
}
