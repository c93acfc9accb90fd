//! What the webhooks do with pods: those to be managed get label, finalizer, gates and role on creation; groups are checked then and on changes.
//! Reference section 5.4 ("Webhook").

use k8s_openapi::api::core::v1::Pod;
use kueue_api::field::{FieldError, Path};
use kueue_api::names::{
    DEFAULT_LOCAL_QUEUE, DEFAULT_WORKLOAD_PRIORITY_CLASS, POD_FINALIZER, POD_GROUP_NAME,
    annotations as keys, gates, labels,
};
use kueue_api::v1beta2::PodSet;
use kueue_api::validation::{SUBDOMAIN, is_subdomain};

use super::members::{label, note};
use super::{Pods, Switches, group_name, is_unretriable, parent_framework, role_of, total_count};
use crate::admission::Surroundings;
use crate::admission::topology::{self, Template};
use crate::job::GenericJob;

/// Applies the defaults to a new pod. Whether anything changed.
pub fn default(pod: &mut Pod, around: Surroundings, switches: &Switches) -> bool {
    let by_parent = parent_framework(pod).is_some();
    if !by_parent {
        if !around.namespace_managed || around.ancestor_managed {
            return false;
        }
        named(pod, around);
        let queued = label(pod, labels::QUEUE_NAME).is_some_and(|name| !name.is_empty());
        if !queued && !around.manage_without_queue_name {
            return false;
        }
        set_label(pod, labels::MANAGED, labels::MANAGED_VALUE);
        let finalizers = pod.metadata.finalizers.get_or_insert_default();
        if !finalizers.iter().any(|name| name == POD_FINALIZER) {
            finalizers.push(POD_FINALIZER.to_owned());
        }
    }
    held_back(pod, switches);
    true
}

fn named(pod: &mut Pod, around: Surroundings) {
    let empty = |pod: &Pod, key| label(pod, key).is_none_or(str::is_empty);
    if around.has_default_queue && empty(pod, labels::QUEUE_NAME) {
        set_label(pod, labels::QUEUE_NAME, DEFAULT_LOCAL_QUEUE);
    }
    if around.has_default_priority_class && empty(pod, labels::PRIORITY_CLASS) {
        set_label(pod, labels::PRIORITY_CLASS, DEFAULT_WORKLOAD_PRIORITY_CLASS);
    }
}

fn held_back(pod: &mut Pod, switches: &Switches) {
    super::gate(pod.spec.get_or_insert_default(), gates::ADMISSION);
    if switches.topology {
        if let Some(source) = note(pod, keys::POD_GROUP_POD_INDEX_LABEL) {
            let index = label(pod, source).unwrap_or_default().to_owned();
            set_label(pod, labels::POD_GROUP_POD_INDEX, &index);
        }
        super::gate(pod.spec.get_or_insert_default(), gates::TOPOLOGY);
    }
    let role = role_of(pod);
    let notes = pod.metadata.annotations.get_or_insert_default();
    notes.insert(keys::ROLE_HASH.to_owned(), role);
}

fn set_label(pod: &mut Pod, key: &str, value: &str) {
    let labels = pod.metadata.labels.get_or_insert_default();
    labels.insert(key.to_owned(), value.to_owned());
}

/// What is wrong with a pod beyond the checks common to all kinds.
pub(super) fn problems(pods: &Pods, switches: &Switches) -> Vec<FieldError> {
    let pod = pods.head().as_ref();
    let mut found: Vec<_> = managed_label(pod).into_iter().collect();
    found.extend(group(pod, switches));
    found.extend(topology(pod, switches));
    found.extend(prebuilt(pods, switches));
    found
}

/// What is wrong with a change of a pod.
pub(super) fn change_problems(old: &Pod, new: &Pod, switches: &Switches) -> Vec<FieldError> {
    let mut found = Vec::new();
    let (was, is) = (
        group_name(old, switches.annotated),
        group_name(new, switches.annotated),
    );
    if is.is_some() && is_unretriable(old) && !is_unretriable(new) {
        found.push(FieldError::forbidden(
            &annotation(keys::RETRIABLE_IN_GROUP),
            "unretriable pod group can't be converted to retriable",
        ));
    }
    if was.is_some() && was != is {
        let path = group_path(new, switches);
        let name = is.unwrap_or_default();
        found.push(FieldError::invalid(&path, name, "field is immutable"));
    }
    found
}

/// What a user should know about a pod whose owner is managed, too.
#[must_use]
pub fn warning(pod: &Pod, owner_managed: bool) -> Option<String> {
    let key = labels::MANAGED;
    let value = labels::MANAGED_VALUE;
    (owner_managed && label(pod, key) == Some(value)).then(|| {
        format!("pod owner is managed by kueue, label '{key}={value}' might lead to unexpected behaviour")
    })
}

fn annotation(key: &str) -> Path {
    Path::new("metadata").child("annotations").key(key)
}

fn managed_label(pod: &Pod) -> Option<FieldError> {
    let value = label(pod, labels::MANAGED)?;
    let path = Path::new("metadata").child("labels").key(labels::MANAGED);
    (value != labels::MANAGED_VALUE).then(|| {
        let detail = format!(
            "managed label value can only be '{}'",
            labels::MANAGED_VALUE
        );
        FieldError::forbidden(&path, &detail)
    })
}

fn by_annotation(pod: &Pod, switches: &Switches) -> bool {
    switches.annotated && note(pod, POD_GROUP_NAME).is_some_and(|name| !name.is_empty())
}

fn group_path(pod: &Pod, switches: &Switches) -> Path {
    if by_annotation(pod, switches) {
        annotation(POD_GROUP_NAME)
    } else {
        Path::new("metadata").child("labels").key(POD_GROUP_NAME)
    }
}

fn group(pod: &Pod, switches: &Switches) -> Vec<FieldError> {
    let total = note(pod, keys::POD_GROUP_TOTAL_COUNT);
    let place = annotation(keys::POD_GROUP_TOTAL_COUNT);
    let names = if by_annotation(pod, switches) {
        "annotation"
    } else {
        "label"
    };
    let both = format!(
        "both the '{}' annotation and the '{POD_GROUP_NAME}' {names} should be set",
        keys::POD_GROUP_TOTAL_COUNT
    );
    let mut found = Vec::new();
    match group_name(pod, switches.annotated) {
        None if total.is_some() => {
            return vec![FieldError::required(&group_path(pod, switches), &both)];
        }
        None => {}
        Some(name) => {
            if !is_subdomain(name) {
                let path = group_path(pod, switches);
                found.push(FieldError::invalid(&path, name, SUBDOMAIN));
            }
            if total.is_none() {
                found.push(FieldError::required(&place, &both));
                return found;
            }
        }
    }
    if let (Some(text), Err(error)) = (total, total_count(pod, switches.annotated)) {
        found.push(FieldError::invalid(&place, text, &error.to_string()));
    }
    found
}

fn topology(pod: &Pod, switches: &Switches) -> Vec<FieldError> {
    let mut pod_set = PodSet::default();
    pod_set.template.metadata = Some(pod.metadata.clone());
    let path = Path::new("metadata");
    topology::problems(&[Template { path, pod_set }], switches.layers)
}

fn prebuilt(pods: &Pods, switches: &Switches) -> Option<FieldError> {
    let (pod, job): (_, &dyn GenericJob) = (pods.head().as_ref(), pods);
    let group = group_name(pod, switches.annotated)?;
    let wanted = job.prebuilt_workload(switches.annotated)?;
    let noted = switches.annotated
        && note(pod, keys::PREBUILT_WORKLOAD_NAME).is_some_and(|name| !name.is_empty());
    let path = if noted {
        annotation(keys::PREBUILT_WORKLOAD_NAME)
    } else {
        Path::new("metadata")
            .child("labels")
            .key(labels::PREBUILT_WORKLOAD_NAME)
    };
    (wanted != group).then(|| {
        FieldError::invalid(
            &path,
            wanted,
            "prebuilt workload and pod group should be equal",
        )
    })
}
