//! Rules of the status of a Workload that do not depend on what it was before, except where an old fault is tolerated.

use super::workload::is_elastic;
use super::{names, quotas, resource_flavor};
use crate::Condition;
use crate::features::Features;
use crate::field::{FieldError, Path};
use crate::v1beta2::{AdmissionCheckState, PodSetAssignment, Workload, WorkloadStatus};

pub(super) fn status(
    workload: &Workload,
    old: Option<&Workload>,
    features: &Features,
) -> Vec<FieldError> {
    let Some(status) = &workload.status else {
        return Vec::new();
    };
    let path = Path::new("status");
    let mut errors = Vec::new();
    errors.extend(admission(&path.child("admission"), workload, status, old));
    errors.extend(conditions(&path.child("conditions"), &status.conditions));
    errors.extend(reclaimable(
        &path.child("reclaimablePods"),
        workload,
        old,
        features,
    ));
    for (i, check) in status.admission_checks.iter().enumerate() {
        errors.extend(updates(
            &path
                .child("admissionChecks")
                .index(i)
                .child("podSetUpdates"),
            workload,
            check,
        ));
    }
    errors
}

fn admission(
    path: &Path,
    workload: &Workload,
    status: &WorkloadStatus,
    old: Option<&Workload>,
) -> Vec<FieldError> {
    let Some(admission) = &status.admission else {
        let was_so = old.is_some_and(|old| {
            old.has_quota_reservation() && old.status.as_ref().is_none_or(|s| s.admission.is_none())
        });
        let missing = workload.has_quota_reservation() && !was_so;
        return missing
            .then(|| {
                FieldError::required(
                    path,
                    "must be set while the QuotaReserved condition is true",
                )
            })
            .into_iter()
            .collect();
    };
    let mut errors = Vec::new();
    for (i, assignment) in admission.pod_set_assignments.iter().enumerate() {
        let path = path.child("podSetAssignments").index(i);
        if !workload
            .spec
            .pod_sets
            .iter()
            .any(|set| set.name == assignment.name)
        {
            errors.push(FieldError::not_found(
                &path.child("name"),
                assignment.name.as_str(),
            ));
        }
        errors.extend(multiples(&path.child("resourceUsage"), assignment));
    }
    errors
}

/// The usage of a set must be the usage of one pod times their number.
fn multiples(path: &Path, assignment: &PodSetAssignment) -> Vec<FieldError> {
    let Some(count) = assignment.count.filter(|count| *count > 0) else {
        return Vec::new();
    };
    let mut errors = Vec::new();
    for (name, amount) in &assignment.resource_usage {
        let decimals = if name == "cpu" { 3 } else { 0 };
        if quotas::parse(amount)
            .is_ok_and(|amount| amount.scaled_up(decimals) % i64::from(count) != 0)
        {
            errors.push(FieldError::invalid(
                &path.key(name),
                amount.0.as_str(),
                &format!("is not a multiple of {count}"),
            ));
        }
    }
    errors
}

fn conditions(path: &Path, conditions: &[Condition]) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (i, condition) in conditions.iter().enumerate() {
        let path = path.index(i);
        if condition.type_.is_empty() {
            errors.push(FieldError::required(&path.child("type"), "must be set"));
        }
        if conditions[..i]
            .iter()
            .any(|before| before.type_ == condition.type_)
        {
            errors.push(FieldError::duplicate(
                &path.child("type"),
                condition.type_.as_str(),
            ));
        }
        if !["True", "False", "Unknown"].contains(&condition.status.as_str()) {
            errors.push(FieldError::not_supported(
                &path.child("status"),
                condition.status.as_str(),
                ["True", "False", "Unknown"],
            ));
        }
        if condition.reason.is_empty() {
            errors.push(FieldError::required(&path.child("reason"), "must be set"));
        }
    }
    errors
}

fn reclaimable(
    path: &Path,
    workload: &Workload,
    old: Option<&Workload>,
    features: &Features,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let sets = &workload.spec.pod_sets;
    let before = |name: &str| {
        old?.status
            .as_ref()?
            .reclaimable_pods
            .iter()
            .find(|p| p.name == name)
            .map(|p| p.count)
    };
    for pods in workload.status.iter().flat_map(|s| &s.reclaimable_pods) {
        let path = path.key(&pods.name);
        let Some(set) = sets.iter().find(|set| set.name == pods.name) else {
            errors.push(FieldError::not_supported(
                &path.child("name"),
                pods.name.as_str(),
                sets.iter().map(|set| set.name.as_str()),
            ));
            continue;
        };
        // An elastic workload shrinks before its reclaimable pods are counted anew.
        let stale = is_elastic(workload, features) && before(&pods.name) == Some(pods.count);
        if pods.count > set.count && !stale {
            let detail = format!("should be less or equal to {}", set.count);
            errors.push(FieldError::invalid(
                &path.child("count"),
                pods.count,
                &detail,
            ));
        }
    }
    errors
}

fn updates(path: &Path, workload: &Workload, check: &AdmissionCheckState) -> Vec<FieldError> {
    let sets = &workload.spec.pod_sets;
    let mut errors = Vec::new();
    for (i, update) in check.pod_set_updates.iter().enumerate() {
        let path = path.index(i);
        if !sets.iter().any(|set| set.name == update.name) {
            errors.push(FieldError::not_supported(
                &path.child("name"),
                update.name.as_str(),
                sets.iter().map(|set| set.name.as_str()),
            ));
        }
        errors.extend(names::labels(&path.child("labels"), Some(&update.labels)));
        errors.extend(names::annotations(
            &path.child("annotations"),
            Some(&update.annotations),
        ));
        errors.extend(names::labels(
            &path.child("nodeSelector"),
            Some(&update.node_selector),
        ));
        errors.extend(resource_flavor::tolerations(
            &path.child("tolerations"),
            &update.tolerations,
        ));
    }
    errors
}
