//! Checks common to all job kinds, then those of the kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::features::{Features, gate};
use kueue_api::field::{FieldError, Path};
use kueue_api::names::{annotations, labels};
use kueue_api::validation::{SUBDOMAIN, admission_gates, is_subdomain};
use kueue_api::workload::slices;

use super::{Surroundings, label};
use crate::job::GenericJob;
use crate::kind::JobKind;

const IMMUTABLE: &str = "field is immutable";

/// What the reference says of a text that should be a number.
pub(crate) fn not_a_number(text: &str) -> String {
    format!("strconv.Atoi: parsing {text:?}: invalid syntax")
}

/// What the reference says of a text that should be true or false.
pub(crate) fn not_a_boolean(text: &str) -> String {
    format!("strconv.ParseBool: parsing {text:?}: invalid syntax")
}

/// What is wrong with a new job.
#[must_use]
pub fn validate_create(
    job: &dyn GenericJob,
    around: Surroundings,
    features: &Features,
) -> Vec<FieldError> {
    if is_checked(job, around) {
        of_new(job, features)
    } else {
        Vec::new()
    }
}

/// Some kinds leave alone what goes through no queue.
fn is_checked(job: &dyn GenericJob, around: Surroundings) -> bool {
    job.kind().checked_unmanaged
        || job.queue_name().is_some()
        || around.manage_without_queue_name && around.namespace_managed && !around.ancestor_managed
}

fn of_new(job: &dyn GenericJob, features: &Features) -> Vec<FieldError> {
    let mut problems: Vec<_> = [
        queue_name(job.meta()),
        prebuilt_name(job, features),
        prebuilt_kind(job, features),
        max_execution(job),
        elastic_annotation(job.meta(), job.kind(), features),
    ]
    .into_iter()
    .flatten()
    .collect();
    if features.on(gate::ADMISSION_GATED_BY) {
        problems.extend(admission_gates::format(job.meta()));
    }
    problems.extend(job.problems(features));
    problems
}

/// What is wrong with a change of a job.
#[must_use]
pub fn validate_update(
    old: &dyn GenericJob,
    new: &dyn GenericJob,
    around: Surroundings,
    features: &Features,
) -> Vec<FieldError> {
    let leaves = features.on(gate::VALIDATE_RAY_UPDATES) && is_checked(old, around);
    if !is_checked(new, around) && !leaves {
        return Vec::new();
    }
    let mut problems = of_new(new, features);
    problems.extend(queue_change(old, new, around));
    problems.extend(prebuilt_change(old, new, features));
    problems.extend(max_execution_change(old, new));
    problems.extend(priority_class_change(
        old.meta(),
        new.meta(),
        new.is_suspended(),
    ));
    problems.extend(elastic_change(old, new, features));
    if features.on(gate::ADMISSION_GATED_BY) {
        problems.extend(admission_gates::change(old.meta(), new.meta()));
    }
    problems.extend(new.change_problems(old));
    problems
}

fn place(key: &str) -> Path {
    Path::new("metadata").child("labels").key(key)
}

fn note(key: &str) -> Path {
    Path::new("metadata").child("annotations").key(key)
}

pub(crate) fn queue_name(meta: &ObjectMeta) -> Option<FieldError> {
    let name = label(meta, labels::QUEUE_NAME)?;
    (!is_subdomain(name)).then(|| FieldError::invalid(&place(labels::QUEUE_NAME), name, SUBDOMAIN))
}

/// The Workload that the job wants to adopt, and where it says so. The annotation counts before the label behind its gate.
fn prebuilt(job: &dyn GenericJob, features: &Features) -> Option<(Path, String)> {
    let notes = job.meta().annotations.as_ref();
    let noted = notes
        .and_then(|notes| notes.get(annotations::PREBUILT_WORKLOAD_NAME))
        .filter(|_| features.on(gate::WORKLOAD_IDENTIFIER_ANNOTATIONS));
    let noted = noted.map(|name| (note(annotations::PREBUILT_WORKLOAD_NAME), name.to_owned()));
    let labelled = || {
        let name = job.label(labels::PREBUILT_WORKLOAD_NAME)?;
        Some((place(labels::PREBUILT_WORKLOAD_NAME), name.to_owned()))
    };
    noted.or_else(labelled)
}

fn prebuilt_name(job: &dyn GenericJob, features: &Features) -> Option<FieldError> {
    let (path, name) = prebuilt(job, features)?;
    (!is_subdomain(&name)).then(|| FieldError::invalid(&path, name.as_str(), SUBDOMAIN))
}

/// Not every kind can run with a Workload that somebody else made.
fn prebuilt_kind(job: &dyn GenericJob, features: &Features) -> Option<FieldError> {
    let (path, _) = prebuilt(job, features)?;
    let kind = job.kind();
    (!kind.adopts)
        .then(|| FieldError::forbidden(&path, &format!("Is not supported for {:?}", kind.gvk())))
}

fn is_elastic(meta: &ObjectMeta, features: &Features) -> bool {
    features.on(gate::ELASTIC_JOBS) && slices::is_marked(meta)
}

/// Only pods of some kinds can come and go while their job runs.
pub(crate) fn elastic_annotation(
    meta: &ObjectMeta,
    kind: &JobKind,
    features: &Features,
) -> Option<FieldError> {
    let refused = is_elastic(meta, features) && !kind.elastic;
    refused.then(|| {
        let detail = format!("elastic job is not supported for {:?}", kind.gvk());
        FieldError::forbidden(&note(annotations::ELASTIC_JOB), &detail)
    })
}

fn elastic_change(
    old: &dyn GenericJob,
    new: &dyn GenericJob,
    features: &Features,
) -> Option<FieldError> {
    let (was, is) = (
        is_elastic(old.meta(), features),
        is_elastic(new.meta(), features),
    );
    (was != is).then(|| FieldError::invalid(&note(annotations::ELASTIC_JOB), is, IMMUTABLE))
}

fn prebuilt_change(
    old: &dyn GenericJob,
    new: &dyn GenericJob,
    features: &Features,
) -> Option<FieldError> {
    if new.is_suspended() {
        return None;
    }
    let (was, is) = (prebuilt(old, features), prebuilt(new, features));
    let name = |found: &Option<(Path, String)>| {
        found
            .as_ref()
            .map(|(_, name)| name.clone())
            .unwrap_or_default()
    };
    let path = is.as_ref().or(was.as_ref()).map(|(path, _)| path.clone())?;
    (name(&was) != name(&is)).then(|| FieldError::invalid(&path, name(&is), IMMUTABLE))
}

fn max_execution(job: &dyn GenericJob) -> Option<FieldError> {
    let text = job.label(labels::MAX_EXEC_TIME_SECONDS)?;
    let place = place(labels::MAX_EXEC_TIME_SECONDS);
    match text.parse::<i32>() {
        Err(_) => Some(FieldError::invalid(&place, text, &not_a_number(text))),
        Ok(seconds) if seconds <= 0 => Some(FieldError::invalid(
            &place,
            seconds,
            "should be greater than 0",
        )),
        Ok(_) => None,
    }
}

fn queue_change(
    old: &dyn GenericJob,
    new: &dyn GenericJob,
    around: Surroundings,
) -> Option<FieldError> {
    let place = place(labels::QUEUE_NAME);
    if old.queue_name() == new.queue_name() {
        return None;
    }
    if !new.is_suspended() {
        return Some(FieldError::invalid(
            &place,
            new.queue_name().unwrap_or_default(),
            IMMUTABLE,
        ));
    }
    let emptied = new.queue_name().is_none() && around.has_default_queue;
    emptied.then(|| {
        FieldError::invalid(
            &place,
            "",
            "queue-name must not be empty in namespace with default queue",
        )
    })
}

fn max_execution_change(old: &dyn GenericJob, new: &dyn GenericJob) -> Option<FieldError> {
    let key = labels::MAX_EXEC_TIME_SECONDS;
    let (before, after) = (old.label(key), new.label(key));
    let free = old.is_suspended() && new.is_suspended();
    (before != after && !free)
        .then(|| FieldError::invalid(&place(key), after.unwrap_or_default(), IMMUTABLE))
}

/// A queue that must stay, of an object whose pods run or that would have none.
pub(crate) fn immutable_queue(old: &ObjectMeta, new: &ObjectMeta) -> Option<FieldError> {
    let key = labels::QUEUE_NAME;
    let (was, is) = (label(old, key), label(new, key));
    (was != is).then(|| FieldError::invalid(&place(key), is.unwrap_or_default(), IMMUTABLE))
}

pub(crate) fn priority_class_change(
    old: &ObjectMeta,
    new: &ObjectMeta,
    suspended: bool,
) -> Option<FieldError> {
    let key = labels::PRIORITY_CLASS;
    let place = place(key);
    match (label(old, key), label(new, key)) {
        (Some(_), None) => Some(FieldError::invalid(
            &place,
            "",
            "WorkloadPriorityClass cannot be removed from a workload",
        )),
        (None, Some(class)) if !suspended => Some(FieldError::invalid(
            &place,
            class,
            "WorkloadPriorityClass cannot be added to a non-suspended workload",
        )),
        _ => None,
    }
}
