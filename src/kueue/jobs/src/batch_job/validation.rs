//! Checks of what only Jobs have: partial admission, completions that follow parallelism, and elastic Jobs.

use kueue_api::features::{Features, gate};
use kueue_api::field::{FieldError, Path};
use kueue_api::names::annotations;
use kueue_api::workload::slices;

use super::BatchJob;
use crate::admission::topology::{self, Template};
use crate::admission::{not_a_boolean, not_a_number};
use crate::job::GenericJob;

pub(super) fn problems(job: &BatchJob, features: &Features) -> Vec<FieldError> {
    let elastic = features.on(gate::ELASTIC_JOBS) && slices::is_marked(job.meta());
    let mut found: Vec<_> = [min_parallelism(job, elastic), follow(job), completions(job)]
        .into_iter()
        .flatten()
        .collect();
    if !features.on(gate::TOPOLOGY_AWARE_SCHEDULING) {
        return found;
    }
    let path = Path::new("spec").child("template").child("metadata");
    let sets = job.pod_sets_for_checks();
    let templates: Vec<_> = sets
        .into_iter()
        .map(|pod_set| Template {
            path: path.clone(),
            pod_set,
        })
        .collect();
    found.extend(topology::problems(
        &templates,
        features.on(gate::TAS_MULTI_LAYER_TOPOLOGY),
    ));
    if elastic {
        found.extend(no_topology(job, &path));
    }
    found
}

/// What may not change while pods run.
pub(super) fn change_problems(old: &BatchJob, new: &BatchJob) -> Vec<FieldError> {
    if new.is_suspended() || old.spec().and_then(|s| s.suspend) == Some(true) {
        return Vec::new();
    }
    let partial = |job: &BatchJob| job.annotation(annotations::JOB_MIN_PARALLELISM).is_some();
    let mut found = Vec::new();
    if partial(new) && old.parallelism() != new.parallelism() {
        found.push(FieldError::forbidden(
            &Path::new("spec").child("parallelism"),
            "cannot change when partial admission is enabled and the job is not suspended",
        ));
    }
    let key = annotations::JOB_COMPLETIONS_EQUAL_PARALLELISM;
    if old.annotation(key) != new.annotation(key) {
        found.push(FieldError::forbidden(
            &place(key),
            "field is immutable while the job is not suspended",
        ));
    }
    found
}

/// Pods of an elastic Job come and go, so that they cannot be kept together.
fn no_topology(job: &BatchJob, path: &Path) -> Vec<FieldError> {
    let template = job.spec().and_then(|spec| spec.template.metadata.as_ref());
    let notes = template.and_then(|meta| meta.annotations.as_ref());
    let kinds = [
        (annotations::POD_SET_REQUIRED_TOPOLOGY, "required"),
        (annotations::POD_SET_PREFERRED_TOPOLOGY, "preferred"),
    ];
    let used = |(key, _): &(&str, &str)| notes.is_some_and(|notes| notes.contains_key(*key));
    let fault = |(key, kind): (&str, &str)| {
        let detail = format!("{kind} topology is not supported with elastic jobs");
        FieldError::forbidden(&path.child("annotations").child(key), &detail)
    };
    kinds.into_iter().filter(used).map(fault).collect()
}

fn min_parallelism(job: &BatchJob, elastic: bool) -> Option<FieldError> {
    let place = place(annotations::JOB_MIN_PARALLELISM);
    let text = job.annotation(annotations::JOB_MIN_PARALLELISM)?;
    if elastic {
        let detail = "partial admission and elastic job cannot be used together";
        return Some(FieldError::invalid(&place, text, detail));
    }
    match text.parse::<i32>() {
        Err(_) => Some(FieldError::invalid(&place, text, &not_a_number(text))),
        Ok(least) if least > 0 && least < job.pods() => None,
        Ok(least) => Some(FieldError::invalid(
            &place,
            least,
            &format!("should be between 0 and {}", job.pods() - 1),
        )),
    }
}

fn follow(job: &BatchJob) -> Option<FieldError> {
    let place = place(annotations::JOB_COMPLETIONS_EQUAL_PARALLELISM);
    let text = job.annotation(annotations::JOB_COMPLETIONS_EQUAL_PARALLELISM)?;
    match text.parse::<bool>() {
        Err(_) => Some(FieldError::invalid(&place, text, &not_a_boolean(text))),
        Ok(true) if !is_indexed(job) => Some(FieldError::invalid(
            &place,
            text,
            "should not be enabled for NonIndexed jobs",
        )),
        Ok(_) => None,
    }
}

/// Where completions follow parallelism, they have to be equal from the beginning.
fn completions(job: &BatchJob) -> Option<FieldError> {
    let completions = job.spec().and_then(|spec| spec.completions)?;
    let wrong =
        job.completions_follow_parallelism() && is_indexed(job) && completions != job.parallelism();
    let detail = format!(
        "should be equal to parallelism when {} annotation is true",
        annotations::JOB_COMPLETIONS_EQUAL_PARALLELISM
    );
    let path = Path::new("spec").child("completions");
    wrong.then(|| FieldError::invalid(&path, completions, &detail))
}

fn is_indexed(job: &BatchJob) -> bool {
    job.spec().and_then(|spec| spec.completion_mode.as_deref()) == Some("Indexed")
}

fn place(key: &str) -> Path {
    Path::new("metadata").child("annotations").key(key)
}
