//! Kinds whose object holds one pod template a role, in a map from the role's name: the Kubeflow kinds. Each kind is a row of a table.
//! Reference section 5.2.

mod table;

#[cfg(test)]
mod tests;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::features::{Features, gate};
use kueue_api::field::{FieldError, Path};
use kueue_api::names::annotations;
use kueue_api::v1beta2::PodSet;
use serde_json::{Value, json};

use crate::admission::topology::{self, Template};
use crate::error::JobError;
use crate::job::{Change, Finish, GenericJob, StartError};
use crate::kind::JobKind;
use crate::pod_set_info::PodSetInfo;
use crate::topology_request::{self, Ranks};
use crate::untyped::Untyped;

pub use table::{JAX_JOB, MPI_JOB, PADDLE_JOB, PYTORCH_JOB, TF_JOB, XGBOOST_JOB};

/// One such kind.
#[derive(Debug)]
pub struct Shape {
    /// How it is called.
    pub kind: &'static JobKind,
    /// The field of the specification that holds the roles.
    pub roles_field: &'static str,
    /// The roles in the order of their podsets.
    pub roles: &'static [&'static str],
    /// Which label numbers the pods of a role.
    pub ranks: Ranks,
}

/// The field that says whether it is suspended.
const SUSPEND: &[&str] = &["spec", "runPolicy", "suspend"];

/// An object of such a kind.
#[derive(Clone, Debug)]
pub struct Replicated {
    shape: &'static Shape,
    object: Untyped,
}

impl Replicated {
    /// Reads an object.
    pub fn read(shape: &'static Shape, value: Value) -> Result<Box<dyn GenericJob>, JobError> {
        let object = Untyped::read(shape.kind.kind, value)?;
        Ok(Box::new(Self { shape, object }))
    }

    /// The roles that the object has.
    #[must_use]
    pub fn roles(&self) -> Vec<&'static str> {
        let field = format!("/spec/{}", self.shape.roles_field);
        let own = self.object.get(&field);
        let has = |role: &&&str| own.is_some_and(|roles| roles.get(**role).is_some());
        self.shape.roles.iter().filter(has).copied().collect()
    }

    fn pointer(&self, role: &str, rest: &str) -> String {
        format!("/spec/{}/{role}{rest}", self.shape.roles_field)
    }

    fn pod_set(&self, role: &str) -> Result<PodSet, JobError> {
        let set = self.bare_pod_set(role)?;
        let meta = set.template.metadata.as_ref();
        let topology_request = topology_request::of(meta, &self.shape.ranks)?;
        Ok(PodSet {
            topology_request,
            ..set
        })
    }

    /// A podset without what its annotations ask for.
    fn bare_pod_set(&self, role: &str) -> Result<PodSet, JobError> {
        let replicas = self.object.number(&self.pointer(role, "/replicas"));
        Ok(PodSet {
            name: role.to_lowercase(),
            template: self.object.template(&self.pointer(role, "/template"))?,
            count: replicas.unwrap_or(1),
            min_count: None,
            topology_request: None,
        })
    }

    /// Where its templates are.
    fn pointers(&self) -> Vec<String> {
        let roles = self.roles().into_iter();
        roles.map(|role| self.pointer(role, "/template")).collect()
    }
}

impl GenericJob for Replicated {
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
        self.object.is_on(SUSPEND)
    }

    fn suspend(&mut self) {
        self.object.set(SUSPEND, json!(true));
    }

    fn pod_sets(&self) -> Result<Vec<PodSet>, JobError> {
        self.roles()
            .into_iter()
            .map(|role| self.pod_set(role))
            .collect()
    }

    fn run_with(&mut self, infos: &[PodSetInfo]) -> Result<(), StartError> {
        let templates = self.pointers();
        self.object.merge_infos(&templates, infos)?;
        self.object.set(SUSPEND, json!(false));
        Ok(())
    }

    fn stop_step(&self, infos: Option<&[PodSetInfo]>) -> Option<Change> {
        self.object.stop(SUSPEND, &self.pointers(), infos)
    }

    fn finished(&self) -> Option<Finish> {
        let (how, message) = self.object.true_condition(&["Succeeded", "Failed"])?;
        Some(Finish {
            success: how == "Succeeded",
            message: message.to_owned(),
        })
    }

    fn is_active(&self) -> bool {
        let roles = self.object.get("/status/replicaStatuses");
        let mut states = roles.and_then(Value::as_object).into_iter().flatten();
        states.any(|(_, state)| state["active"].as_i64().unwrap_or_default() != 0)
    }

    fn pods_ready(&self) -> bool {
        self.object.true_condition(&["Running"]).is_some()
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn to_value(&self) -> Result<Value, JobError> {
        self.object.to_value()
    }

    fn managed_by(&self) -> Option<&str> {
        self.object.text("/spec/runPolicy/managedBy")
    }

    fn set_managed_by(&mut self, controller: &str) {
        let place = ["spec", "runPolicy", "managedBy"];
        self.object.set(&place, json!(controller));
    }

    /// The workers of a launcher that works too come after it, unless both are placed as one group.
    fn default_own(&mut self, features: &Features) {
        let both = self.object.is_on(&["spec", "runLauncherAsWorker"]);
        let roles = self.roles();
        let all = ["Launcher", "Worker"].iter().all(|r| roles.contains(r));
        if !both || !all || !features.on(gate::TOPOLOGY_AWARE_SCHEDULING) {
            return;
        }
        let launcher = self.object.template(&self.pointer("Launcher", "/template"));
        let grouped = launcher.is_ok_and(|template| {
            let notes = template.metadata.and_then(|meta| meta.annotations);
            notes.is_some_and(|notes| notes.contains_key(annotations::POD_SET_GROUP_NAME))
        });
        if grouped {
            return;
        }
        let pointer = self.pointer("Worker", "/template");
        // A template that cannot be read is refused by the checks.
        let _ = self.object.change_template(&pointer, |template| {
            let meta = template.metadata.get_or_insert_default();
            let notes = meta.annotations.get_or_insert_default();
            notes.insert(annotations::POD_INDEX_OFFSET.to_owned(), "1".to_owned());
            Ok::<_, JobError>(())
        });
    }

    /// That of the whole run, else that of the first role that has one.
    fn priority_class(&self) -> Option<&str> {
        let whole = "/spec/runPolicy/schedulingPolicy/priorityClass";
        let of_role = |role| {
            self.object
                .text(&self.pointer(role, "/template/spec/priorityClassName"))
        };
        self.object
            .text(whole)
            .or_else(|| self.roles().into_iter().find_map(of_role))
    }

    fn problems(&self, features: &Features) -> Vec<FieldError> {
        if !features.on(gate::TOPOLOGY_AWARE_SCHEDULING) {
            return Vec::new();
        }
        let field = Path::new("spec").child(self.shape.roles_field);
        let template = |role: &'static str| {
            Some(Template {
                path: field.key(role).child("template").child("metadata"),
                pod_set: self.bare_pod_set(role).ok()?,
            })
        };
        let templates: Vec<_> = self.roles().into_iter().filter_map(template).collect();
        topology::problems(&templates, features.on(gate::TAS_MULTI_LAYER_TOPOLOGY))
    }
}
