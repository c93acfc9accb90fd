//! Kinds that serve: they have no end, and are not suspended but have their pods held back. Here is what their webhooks do; a `StatefulSet` has
//! a Workload besides ([`stateful_set`]), a `LeaderWorkerSet` one for each of its groups ([`leader_worker_set`]). Reference sections 5.5 to 5.7.

pub mod deployment;
pub mod leader_worker_set;
pub mod stateful_set;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{PodSpec, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::features::{Features, gate};
use kueue_api::field::{FieldError, Path};
use kueue_api::names::POD_GROUP_NAME;
use kueue_api::names::annotations::{POD_SUSPENDING_PARENT, PREBUILT_WORKLOAD_NAME};
use kueue_api::validation::admission_gates;
use serde_json::Value;

use crate::admission::names::is_label_value;
use crate::admission::{
    elastic_annotation, immutable_queue, priority_class_change, queue_name, set_label,
};
use crate::error::JobError;
use crate::job::GenericJob;
use crate::kind::JobKind;
use crate::pods;

/// `apps/v1` Deployment.
pub const DEPLOYMENT: JobKind = serving("deployment", "apps", "Deployment", "deployments");
/// `apps/v1` `StatefulSet`.
pub const STATEFUL_SET: JobKind = serving("statefulset", "apps", "StatefulSet", "statefulsets");
/// `leaderworkerset.x-k8s.io/v1` `LeaderWorkerSet`.
pub const LEADER_WORKER_SET: JobKind = serving(
    "leaderworkerset.x-k8s.io/leaderworkerset",
    "leaderworkerset.x-k8s.io",
    "LeaderWorkerSet",
    "leaderworkersets",
);
/// All of them, as a table of what the webhooks listen for.
pub const KINDS: &[&JobKind] = &[&DEPLOYMENT, &STATEFUL_SET, &LEADER_WORKER_SET];

/// The label that names the revision of a pod.
const REVISION: &str = "controller-revision-hash";

const fn serving(
    framework: &'static str,
    group: &'static str,
    kind: &'static str,
    plural: &'static str,
) -> JobKind {
    JobKind {
        framework,
        group,
        version: "v1",
        kind,
        plural,
        adopts: false,
        elastic: false,
        checked_unmanaged: true,
        native_controller: "",
        read: not_a_job,
    }
}

/// They are no jobs: nothing starts or stops them as a whole.
fn not_a_job(_: Value) -> Result<Box<dyn GenericJob>, JobError> {
    Err(JobError::NotAJob)
}

/// Says in the pod template whose pods these are, so that the webhook of pods holds them back.
fn hold_back(template: &mut PodTemplateSpec, framework: &JobKind) {
    let meta = template.metadata.get_or_insert_default();
    let notes = meta.annotations.get_or_insert_default();
    let (key, name) = (POD_SUSPENDING_PARENT, framework.framework);
    notes.insert(key.to_owned(), name.to_owned());
}

/// Names the group of a pod, and its Workload, which is called the same; `annotated` is the gate `WorkloadIdentifierAnnotations`.
fn enter(meta: &mut ObjectMeta, workload: &str, annotated: bool) {
    // A label cannot hold a long name.
    let prebuilt = annotated || !is_label_value(workload);
    for (key, in_annotation) in [
        (PREBUILT_WORKLOAD_NAME, prebuilt),
        (POD_GROUP_NAME, annotated),
    ] {
        if in_annotation {
            let notes = meta.annotations.get_or_insert_default();
            notes.insert(key.to_owned(), workload.to_owned());
        } else {
            set_label(meta, key, workload);
        }
    }
}

/// What is wrong with a new one.
fn problems(meta: &ObjectMeta, kind: &JobKind, features: &Features) -> Vec<FieldError> {
    let mut found: Vec<_> = queue_name(meta).into_iter().collect();
    found.extend(elastic_annotation(meta, kind, features));
    if features.on(gate::ADMISSION_GATED_BY) {
        found.extend(admission_gates::format(meta));
    }
    found
}

/// What is wrong with a change of one; `idle` as long as no pod of it was ready.
fn change_problems(
    (old, new): (&ObjectMeta, &ObjectMeta),
    kind: &JobKind,
    idle: bool,
    features: &Features,
) -> Vec<FieldError> {
    let mut found: Vec<_> = queue_name(new).into_iter().collect();
    found.extend(elastic_annotation(new, kind, features));
    found.extend(held((old, new), idle, features));
    found
}

/// What of the names must stay as it was.
fn held(
    (old, new): (&ObjectMeta, &ObjectMeta),
    idle: bool,
    features: &Features,
) -> Vec<FieldError> {
    let mut found = Vec::new();
    let named = crate::admission::label(new, kueue_api::names::labels::QUEUE_NAME).is_some();
    if !idle || !named {
        found.extend(immutable_queue(old, new));
    }
    found.extend(priority_class_change(old, new, idle));
    if features.on(gate::ADMISSION_GATED_BY) {
        found.extend(admission_gates::change(old, new));
    }
    found
}

/// Pods of one group keep their shape: what decides where they can be placed.
#[must_use]
pub fn same_shape(old: &PodSpec, new: &PodSpec, place: &Path) -> Vec<FieldError> {
    let mut found = Vec::new();
    fields(&pods::shape(old), &pods::shape(new), place, &mut found);
    found
}

/// Compares field by field. Containers are looked into, and what they ask for; all else counts as one.
fn fields(old: &Value, new: &Value, place: &Path, found: &mut Vec<FieldError>) {
    let keys = [old, new].map(|side| side.as_object().into_iter().flat_map(|map| map.keys()));
    let keys: BTreeSet<&String> = keys.into_iter().flatten().collect();
    for key in keys {
        let (was, is, place) = (&old[key], &new[key], place.child(key));
        let inside = matches!(key.as_str(), "containers" | "initContainers");
        match (was, is) {
            _ if was == is => {}
            (Value::Array(was), Value::Array(is)) if inside && was.len() == is.len() => {
                for (index, (was, is)) in was.iter().zip(is).enumerate() {
                    fields(was, is, &place.index(index), found);
                }
            }
            (Value::Object(asked), Value::Object(_))
                if key == "resources" && asked.contains_key("requests") =>
            {
                fields(was, is, &place, found);
            }
            _ => found.push(FieldError::invalid(
                &place,
                is.clone(),
                "field is immutable",
            )),
        }
    }
}
