//! Checks common to all job kinds, then those of the kind.

use kueue_api::field::{FieldError, Path};
use kueue_api::names::labels;

use super::Surroundings;
use super::names::is_subdomain;
use crate::job::GenericJob;

/// What is wrong with a new job.
#[must_use]
pub fn validate_create(job: &dyn GenericJob) -> Vec<FieldError> {
    let mut problems: Vec<_> = [queue_name(job), max_execution(job)]
        .into_iter()
        .flatten()
        .collect();
    problems.extend(job.problems());
    problems
}

/// What is wrong with a change of a job.
#[must_use]
pub fn validate_update(
    old: &dyn GenericJob,
    new: &dyn GenericJob,
    around: Surroundings,
) -> Vec<FieldError> {
    let mut problems = validate_create(new);
    problems.extend(queue_change(old, new, around));
    problems.extend(max_execution_change(old, new));
    problems.extend(priority_change(old, new));
    problems
}

fn place(key: &str) -> Path {
    Path::new("metadata").child("labels").key(key)
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";

fn queue_name(job: &dyn GenericJob) -> Option<FieldError> {
    let name = job.queue_name()?;
    (!is_subdomain(name)).then(|| FieldError::invalid(&place(labels::QUEUE_NAME), name, SUBDOMAIN))
}

fn max_execution(job: &dyn GenericJob) -> Option<FieldError> {
    let text = job.label(labels::MAX_EXEC_TIME_SECONDS)?;
    let place = place(labels::MAX_EXEC_TIME_SECONDS);
    match text.parse::<i32>() {
        Err(_) => Some(FieldError::invalid(
            &place,
            text,
            "should be an integer number of seconds",
        )),
        Ok(seconds) if seconds <= 0 => Some(FieldError::invalid(
            &place,
            text,
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
            "field is immutable",
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
        .then(|| FieldError::invalid(&place(key), after.unwrap_or_default(), "field is immutable"))
}

fn priority_change(old: &dyn GenericJob, new: &dyn GenericJob) -> Option<FieldError> {
    let place = place(labels::PRIORITY_CLASS);
    match (old.workload_priority_class(), new.workload_priority_class()) {
        (Some(_), None) => Some(FieldError::invalid(
            &place,
            "",
            "WorkloadPriorityClass cannot be removed from a workload",
        )),
        (None, Some(class)) if !new.is_suspended() => Some(FieldError::invalid(
            &place,
            class,
            "WorkloadPriorityClass cannot be added to a non-suspended workload",
        )),
        _ => None,
    }
}
