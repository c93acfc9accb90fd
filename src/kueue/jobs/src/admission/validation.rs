//! Checks common to all job kinds, then those of the kind.

use kueue_api::names::labels;

use super::Surroundings;
use super::names::is_subdomain;
use super::problem::Problem;
use crate::job::GenericJob;

/// What is wrong with a new job.
#[must_use]
pub fn validate_create(job: &dyn GenericJob) -> Vec<Problem> {
    let mut problems: Vec<_> = [queue_name(job), max_execution(job)].into_iter().flatten().collect();
    problems.extend(job.problems());
    problems
}

/// What is wrong with a change of a job.
#[must_use]
pub fn validate_update(old: &dyn GenericJob, new: &dyn GenericJob, around: Surroundings) -> Vec<Problem> {
    let mut problems = validate_create(new);
    problems.extend(queue_change(old, new, around));
    problems.extend(max_execution_change(old, new));
    problems.extend(priority_change(old, new));
    problems
}

fn place(key: &str) -> String {
    format!("metadata.labels[{key}]")
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";

fn queue_name(job: &dyn GenericJob) -> Option<Problem> {
    let name = job.queue_name()?;
    (!is_subdomain(name)).then(|| Problem::invalid(place(labels::QUEUE_NAME), name, SUBDOMAIN))
}

fn max_execution(job: &dyn GenericJob) -> Option<Problem> {
    let text = job.label(labels::MAX_EXEC_TIME_SECONDS)?;
    let place = place(labels::MAX_EXEC_TIME_SECONDS);
    match text.parse::<i32>() {
        Err(_) => Some(Problem::invalid(place, text, "should be an integer number of seconds")),
        Ok(seconds) if seconds <= 0 => Some(Problem::invalid(place, text, "should be greater than 0")),
        Ok(_) => None,
    }
}

fn queue_change(old: &dyn GenericJob, new: &dyn GenericJob, around: Surroundings) -> Option<Problem> {
    let place = place(labels::QUEUE_NAME);
    if old.queue_name() == new.queue_name() {
        return None;
    }
    if !new.is_suspended() {
        return Some(Problem::invalid(place, new.queue_name().unwrap_or_default(), "field is immutable"));
    }
    let emptied = new.queue_name().is_none() && around.has_default_queue;
    emptied.then(|| Problem::invalid(place, "", "queue-name must not be empty in namespace with default queue"))
}

fn max_execution_change(old: &dyn GenericJob, new: &dyn GenericJob) -> Option<Problem> {
    let key = labels::MAX_EXEC_TIME_SECONDS;
    let (before, after) = (old.label(key), new.label(key));
    let free = old.is_suspended() && new.is_suspended();
    (before != after && !free).then(|| Problem::invalid(place(key), after.unwrap_or_default(), "field is immutable"))
}

fn priority_change(old: &dyn GenericJob, new: &dyn GenericJob) -> Option<Problem> {
    let place = place(labels::PRIORITY_CLASS);
    match (old.workload_priority_class(), new.workload_priority_class()) {
        (Some(_), None) => Some(Problem::invalid(place, "", "WorkloadPriorityClass cannot be removed from a workload")),
        (None, Some(class)) if !new.is_suspended() => {
            Some(Problem::invalid(place, class, "WorkloadPriorityClass cannot be added to a non-suspended workload"))
        }
        _ => None,
    }
}
