//! Whose priority counts: the classes that exist, the boost of an annotation, and what a change of either means. Reference 4.22.

use std::num::ParseIntError;

use k8s_openapi::api::scheduling::v1::PriorityClass;

use crate::names::annotations;
use crate::v1beta2::{PriorityClassRef, Workload};

/// What the annotation adds to the priority; nothing without it, or while the gate `PriorityBoost` is off.
///
/// # Errors
/// When it is no number. Whoever compares priorities takes zero instead.
pub fn boost(workload: &Workload, gate: bool) -> Result<i32, ParseIntError> {
    let noted = workload.metadata.annotations.as_ref();
    let text = noted.and_then(|all| all.get(annotations::PRIORITY_BOOST));
    text.filter(|text| gate && !text.is_empty())
        .map_or(Ok(0), |text| text.parse())
}

/// The priority by which Workloads are compared.
#[must_use]
pub fn effective(workload: &Workload, gate: bool) -> i64 {
    i64::from(workload.priority()) + i64::from(boost(workload, gate).unwrap_or(0))
}

/// Whether a change has to be followed by everybody who compares priorities. Priorities of pods never change.
#[must_use]
pub fn changed(before: &Workload, after: &Workload, gate: bool) -> bool {
    let of = |workload: &Workload| workload.spec.priority_class_ref.clone();
    let (old, new) = (of(before), of(after));
    let pods = |class: &PriorityClassRef| *class == PriorityClassRef::pod(&class.name);
    if old.as_ref().is_some_and(pods) {
        return false;
    }
    let Some(new) = new.filter(PriorityClassRef::is_workload_class) else {
        return false;
    };
    let renamed = !new.name.is_empty() && old.is_none_or(|old| old.name != new.name);
    renamed || effective(before, gate) != effective(after, gate)
}

/// The class of pods that holds where none is named. Of several global defaults, which only a race can make, the lowest counts.
#[must_use]
pub fn default_class<'a>(
    classes: impl IntoIterator<Item = &'a PriorityClass>,
) -> Option<&'a PriorityClass> {
    let defaults = classes
        .into_iter()
        .filter(|class| class.global_default == Some(true));
    defaults.min_by_key(|class| class.value.unwrap_or_default())
}
