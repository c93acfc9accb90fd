//! Rules of Cohorts.

use super::quotas::{self, Owner};
use crate::field::{FieldError, Path};
use crate::v1beta2::Cohort;

/// What is wrong with a Cohort, new or changed.
#[must_use]
pub fn cohort(cohort: &Cohort) -> Vec<FieldError> {
    let spec = Path::new("spec");
    let owner = Owner {
        connected: cohort.spec.parent().is_some(),
        alone: "must be nil when parent is empty",
        lends_own: false,
    };
    let mut errors: Vec<_> = quotas::fair_weight(
        &spec.child("fairSharing"),
        cohort.spec.fair_sharing.as_ref(),
    )
    .into_iter()
    .collect();
    errors.extend(quotas::resource_groups(
        &spec.child("resourceGroups"),
        &cohort.spec.resource_groups,
        owner,
    ));
    errors
}
