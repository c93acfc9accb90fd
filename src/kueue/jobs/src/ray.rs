//! The kinds of Ray: a cluster of one head and groups of workers, alone, for the time of one job, or behind a service. All hold the same specification of a
//! cluster, at another place of the object. Takes and gives what [`GenericJob`] says. Reference sections 5.2 and 5.9.

mod cluster;
mod extras;
mod table;

#[cfg(test)]
mod tests;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::features::Features;
use kueue_api::field::FieldError;
use kueue_api::v1beta2::PodSet;
use serde_json::{Value, json};

use crate::error::JobError;
use crate::job::{Change, Finish, GenericJob, StartError};
use crate::kind::JobKind;
use crate::pod_set_info::PodSetInfo;
use crate::untyped::Untyped;

pub use table::{RAY_CLUSTER, RAY_JOB, RAY_SERVICE};

/// Where a kind keeps the specification of its cluster, and how it tells what became of it.
#[derive(Debug)]
pub struct Shape {
    /// How it is called.
    pub kind: &'static JobKind,
    /// The fields that lead to the specification of the cluster.
    pub cluster: &'static [&'static str],
    /// The fields that lead to whether it is suspended.
    pub suspend: &'static [&'static str],
    /// Whether the cluster is there for one job that ends.
    pub ends: bool,
    /// What says that the cluster is ready.
    pub ready: Ready,
    /// What is said about a cluster that grows by itself.
    pub grows: &'static str,
}

/// Where a kind says that its cluster is ready.
#[derive(Clone, Copy, Debug)]
pub enum Ready {
    /// In the text at a JSON pointer.
    State(&'static str),
    /// In a condition.
    Condition(&'static str),
}

/// The field that says whether it is suspended, where the kind does not keep it with the cluster.
const SUSPEND: &[&str] = &["spec", "suspend"];

/// An object of such a kind.
#[derive(Clone, Debug)]
pub struct Ray {
    shape: &'static Shape,
    object: Untyped,
}

impl Ray {
    /// Reads an object.
    pub fn read(shape: &'static Shape, value: Value) -> Result<Box<dyn GenericJob>, JobError> {
        let object = Untyped::read(shape.kind.kind, value)?;
        Ok(Box::new(Self { shape, object }))
    }

    /// What the operator says about the job that the cluster is there for.
    fn deployment(&self) -> &str {
        let status = self.object.text("/status/jobDeploymentStatus");
        status.unwrap_or_default()
    }

    /// Whether the operator refuses the job, and there is no cluster.
    fn is_refused(&self) -> bool {
        self.deployment() == "ValidationFailed"
            && self.object.text("/status/rayClusterName").is_none()
    }

    /// Where its templates are.
    fn pointers(&self) -> Vec<String> {
        let templates = self.templates().into_iter();
        templates.map(|template| template.pointer).collect()
    }
}

impl GenericJob for Ray {
    fn kind(&self) -> &'static JobKind {
        self.shape.kind
    }

    fn meta(&self) -> &ObjectMeta {
        &self.object.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.object.meta
    }

    fn is_suspended(&self) -> bool {
        self.object.is_on(self.shape.suspend)
    }

    fn suspend(&mut self) {
        self.object.set(self.shape.suspend, json!(true));
    }

    fn pod_sets(&self) -> Result<Vec<PodSet>, JobError> {
        self.all_pod_sets()
    }

    fn run_with(&mut self, infos: &[PodSetInfo]) -> Result<(), StartError> {
        let templates = self.pointers();
        if infos.len() == templates.len() {
            self.write_submitter()?;
            templates
                .iter()
                .for_each(|template| self.object.ensure(template));
        }
        self.object.merge_infos(&templates, infos)?;
        self.object.set(self.shape.suspend, json!(false));
        Ok(())
    }

    fn stop_step(&self, infos: Option<&[PodSetInfo]>) -> Option<Change> {
        let suspend = self.shape.suspend;
        self.object.stop(suspend, &self.pointers(), infos)
    }

    /// A cluster of its own never ends.
    fn finished(&self) -> Option<Finish> {
        if !self.shape.ends || !["Complete", "Failed"].contains(&self.deployment()) {
            return None;
        }
        Some(Finish {
            success: self.object.text("/status/jobStatus") == Some("SUCCEEDED"),
            message: self
                .object
                .text("/status/message")
                .unwrap_or_default()
                .to_owned(),
        })
    }

    fn is_active(&self) -> bool {
        if self.shape.ends {
            // Without a cluster a refused job has no pods.
            return !["", "New", "Suspended"].contains(&self.deployment()) && !self.is_refused();
        }
        self.pods_ready()
    }

    fn pods_ready(&self) -> bool {
        match self.shape.ready {
            Ready::State(pointer) => self.object.text(pointer) == Some("ready"),
            Ready::Condition(name) => self.object.true_condition(&[name]).is_some(),
        }
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn to_value(&self) -> Result<Value, JobError> {
        self.object.to_value()
    }

    fn managed_by(&self) -> Option<&str> {
        self.object.text("/spec/managedBy")
    }

    fn set_managed_by(&mut self, controller: &str) {
        self.object.set(&["spec", "managedBy"], json!(controller));
    }

    fn priority_class(&self) -> Option<&str> {
        self.templates().into_iter().find_map(|template| {
            let class = format!("{}/spec/priorityClassName", template.pointer);
            self.object.text(&class)
        })
    }

    /// The operator refuses it, and nothing runs. One that was refused only after a change goes on with the cluster that it has.
    fn on_hold(&self) -> Option<bool> {
        self.shape.ends.then(|| self.is_refused())
    }

    /// A job of the operator clears away behind a service whose head survives, and needs the quota until it has.
    fn clears_away(&self) -> bool {
        matches!(self.shape.ready, Ready::Condition(_)) && self.cleans_up()
    }

    fn runs_elsewhere(&self) -> bool {
        self.selects_cluster()
    }

    fn problems(&self, features: &Features) -> Vec<FieldError> {
        self.all_problems(features)
    }
}
