//! Rules about changes of a Workload: what quota was given for may not change under it.

use serde_json::Value;

use super::workload::{annotations, is_elastic, pod_sets};
use super::{admission_gates, workload_status};
use crate::features::{Features, gate};
use crate::field::{FieldError, Path};
use crate::names::annotations::WORKLOAD_SLICE_REPLACEMENT_FOR;
use crate::v1beta2::{Admission, CheckState, PodSet, Workload, WorkloadStatus};

const IMMUTABLE: &str = "field is immutable";

/// What is wrong with a change of a Workload, its status included.
#[must_use]
pub fn workload_update(old: &Workload, new: &Workload, features: &Features) -> Vec<FieldError> {
    let mut errors = pod_sets(new, features);
    errors.extend(workload_status::status(new, Some(old), features));
    errors.extend(annotations(new, features));
    if old.has_quota_reservation() {
        errors.extend(pod_sets_change(old, new, features));
    }
    if old.has_quota_reservation() && new.has_quota_reservation() {
        errors.extend(admission_change(old, new));
        errors.extend(reclaimable_change(old, new, features));
    }
    errors.extend(cluster_name_change(old, new, features));
    errors.extend(check_changes(old, new));
    if features.on(gate::ADMISSION_GATED_BY) {
        errors.extend(admission_gates::change(&old.metadata, &new.metadata));
    }
    errors
}

fn empty() -> WorkloadStatus {
    WorkloadStatus::default()
}

fn pod_sets_change(old: &Workload, new: &Workload, features: &Features) -> Vec<FieldError> {
    let path = Path::new("spec").child("podSets");
    let (was, is) = (&old.spec.pod_sets, &new.spec.pod_sets);
    if was.len() != is.len() {
        return vec![FieldError::invalid(&path, is.len(), IMMUTABLE)];
    }
    let may_shrink = features.on(gate::ELASTIC_JOBS);
    let same = |was: &PodSet, is: &PodSet| {
        let count = if may_shrink && is.count <= was.count {
            is.count
        } else {
            was.count
        };
        PodSet {
            count,
            ..was.clone()
        } == *is
    };
    let changed = was
        .iter()
        .zip(is)
        .enumerate()
        .filter(|(_, (was, is))| !same(was, is));
    changed
        .map(|(i, (_, is))| FieldError::invalid(&path.child(&i.to_string()), json(is), IMMUTABLE))
        .collect()
}

fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

/// The topology may follow later, and change when a node fails; everything else was promised.
fn admission_change(old: &Workload, new: &Workload) -> Option<FieldError> {
    let settled = |workload: &Workload| -> Option<Admission> {
        let mut admission = workload.status.as_ref()?.admission.clone()?;
        for assignment in &mut admission.pod_set_assignments {
            assignment.topology_assignment = None;
            assignment.delayed_topology_request = None;
        }
        Some(admission)
    };
    let (was, is) = (settled(old)?, settled(new)?);
    (was != is).then(|| {
        FieldError::invalid(
            &Path::new("status").child("admission"),
            json(&is),
            IMMUTABLE,
        )
    })
}

fn reclaimable_change(old: &Workload, new: &Workload, features: &Features) -> Vec<FieldError> {
    let path = Path::new("status").child("reclaimablePods");
    let status = new.status.clone().unwrap_or_default();
    let mut errors = Vec::new();
    for was in old.status.iter().flat_map(|s| &s.reclaimable_pods) {
        if is_elastic(new, features) && scaled_down(new, &status, &was.name) {
            continue;
        }
        let path = path.key(&was.name);
        match status
            .reclaimable_pods
            .iter()
            .find(|is| is.name == was.name)
        {
            Some(is) if is.count < was.count => {
                errors.push(FieldError::invalid(
                    &path.child("count"),
                    is.count,
                    &format!("cannot be less than {}", was.count),
                ));
            }
            Some(_) => {}
            None => errors.push(FieldError::required(&path, "cannot be removed")),
        }
    }
    errors
}

/// The set asks for fewer pods than it was admitted with.
fn scaled_down(workload: &Workload, status: &WorkloadStatus, name: &str) -> bool {
    let admitted = status
        .admission
        .iter()
        .flat_map(|a| &a.pod_set_assignments)
        .find(|a| a.name == name)
        .and_then(|a| a.count);
    let asked = workload
        .spec
        .pod_sets
        .iter()
        .find(|set| set.name == name)
        .map(|set| set.count);
    admitted
        .zip(asked)
        .is_some_and(|(admitted, asked)| asked < admitted)
}

fn cluster_name_change(old: &Workload, new: &Workload, features: &Features) -> Option<FieldError> {
    let was = old.status.clone().unwrap_or_else(empty);
    let name = new.status.as_ref()?.cluster_name.as_deref()?;
    let replaces = new
        .metadata
        .annotations
        .as_ref()
        .is_some_and(|all| all.contains_key(WORKLOAD_SLICE_REPLACEMENT_FOR));
    let nominated = was
        .nominated_cluster_names
        .iter()
        .any(|nominated| nominated == name);
    if was.cluster_name.is_some() || nominated || (replaces && features.on(gate::ELASTIC_JOBS)) {
        return None;
    }
    let detail = "when setting clusterName it must be one of the nominatedClusterNames";
    Some(FieldError::invalid(
        &Path::new("status").child("clusterName"),
        name,
        detail,
    ))
}

fn check_changes(old: &Workload, new: &Workload) -> Vec<FieldError> {
    let path = Path::new("status").child("admissionChecks");
    let before = |name: &str| {
        old.status
            .as_ref()?
            .admission_checks
            .iter()
            .find(|check| check.name == name)
    };
    let mut errors = Vec::new();
    for (i, is) in new
        .status
        .iter()
        .flat_map(|s| &s.admission_checks)
        .enumerate()
    {
        let Some(was) = before(&is.name) else {
            continue;
        };
        let stays_ready = was.state == CheckState::Ready && is.state == CheckState::Ready;
        if stays_ready && was.pod_set_updates != is.pod_set_updates {
            errors.push(FieldError::invalid(
                &path.index(i).child("podSetUpdates"),
                json(&is.pod_set_updates),
                IMMUTABLE,
            ));
        }
    }
    errors
}
