//! Checks of the annotations that only Jobs have.

use kueue_api::field::{FieldError, Path};
use kueue_api::names::annotations;

use super::BatchJob;

pub(super) fn problems(job: &BatchJob) -> Vec<FieldError> {
    [min_parallelism(job), follow(job)]
        .into_iter()
        .flatten()
        .collect()
}

fn min_parallelism(job: &BatchJob) -> Option<FieldError> {
    let place = place(annotations::JOB_MIN_PARALLELISM);
    let text = job.annotation(annotations::JOB_MIN_PARALLELISM)?;
    match text.parse::<i32>() {
        Err(_) => Some(FieldError::invalid(&place, text, "must be an integer")),
        Ok(least) if least > 0 && least < job.pods() => None,
        Ok(_) => Some(FieldError::invalid(
            &place,
            text,
            &format!("should be between 0 and {}", job.pods() - 1),
        )),
    }
}

fn follow(job: &BatchJob) -> Option<FieldError> {
    let place = place(annotations::JOB_COMPLETIONS_EQUAL_PARALLELISM);
    let text = job.annotation(annotations::JOB_COMPLETIONS_EQUAL_PARALLELISM)?;
    let indexed = job.spec().and_then(|s| s.completion_mode.as_deref()) == Some("Indexed");
    match text.parse::<bool>() {
        Err(_) => Some(FieldError::invalid(&place, text, "must be true or false")),
        Ok(true) if !indexed => Some(FieldError::invalid(
            &place,
            text,
            "should not be enabled for NonIndexed jobs",
        )),
        Ok(_) => None,
    }
}

fn place(key: &str) -> Path {
    Path::new("metadata").child("annotations").key(key)
}
