//! Rules of Workloads: their specification. Statuses are in `workload_status`, changes in `workload_update`.

use k8s_openapi::api::core::v1::ResourceRequirements;

use super::quotas::NOT_NEGATIVE;
use super::{admission_gates, names, quotas, workload_status};
use crate::features::{Features, gate};
use crate::field::{FieldError, Path};
use crate::names::annotations;
use crate::v1beta2::{PodSet, PodSetTopologyRequest, Workload};
use crate::workload::slices;
use crate::{PodTemplateSpec, Quantity};

/// What is wrong with a Workload, new or changed.
#[must_use]
pub fn workload(workload: &Workload, features: &Features) -> Vec<FieldError> {
    let mut errors = pod_sets(workload, features);
    errors.extend(workload_status::status(workload, None, features));
    errors.extend(annotations(workload, features));
    errors
}

/// Whether a workload may change its size while it runs.
pub(super) fn is_elastic(workload: &Workload, features: &Features) -> bool {
    features.on(gate::ELASTIC_JOBS) && slices::is_marked(&workload.metadata)
}

pub(super) fn pod_sets(workload: &Workload, features: &Features) -> Vec<FieldError> {
    let path = Path::new("spec").child("podSets");
    let mut errors = Vec::new();
    let variable = workload
        .spec
        .pod_sets
        .iter()
        .filter(|set| set.min_count.is_some())
        .count();
    if variable > 1 {
        errors.push(FieldError::invalid(
            &path,
            variable,
            "at most one podSet can use minCount",
        ));
    }
    if variable > 0 && is_elastic(workload, features) {
        errors.push(FieldError::invalid(
            &path,
            variable,
            "partial admission and elastic job cannot be used together",
        ));
    }
    for (i, set) in workload.spec.pod_sets.iter().enumerate() {
        errors.extend(pod_set(&path.index(i), set, features));
    }
    errors
}

fn pod_set(path: &Path, set: &PodSet, features: &Features) -> Vec<FieldError> {
    let template = path.child("template");
    let mut errors = Vec::new();
    if let (true, Some(meta)) = (
        features.on(gate::VALIDATE_POD_SET_METADATA),
        &set.template.metadata,
    ) {
        let path = template.child("metadata");
        errors.extend(names::labels(&path.child("labels"), meta.labels.as_ref()));
        errors.extend(names::annotations(
            &path.child("annotations"),
            meta.annotations.as_ref(),
        ));
    }
    errors.extend(resources(
        &template.child("spec"),
        &set.template,
        features.on(gate::VALIDATE_NON_NEGATIVE),
    ));
    if features.on(gate::TAS_VALIDATE_SLICE_SIZE) {
        errors.extend(
            set.topology_request
                .iter()
                .flat_map(|request| slices(&path.child("topologyRequest"), request)),
        );
    }
    errors
}

fn resources(path: &Path, template: &PodTemplateSpec, non_negative: bool) -> Vec<FieldError> {
    let Some(spec) = &template.spec else {
        return Vec::new();
    };
    let init = spec
        .init_containers
        .iter()
        .flatten()
        .map(|c| c.resources.as_ref())
        .enumerate()
        .map(|(i, r)| ("initContainers", i, r));
    let main = spec
        .containers
        .iter()
        .map(|c| c.resources.as_ref())
        .enumerate()
        .map(|(i, r)| ("containers", i, r));
    let mut errors = Vec::new();
    for (list, i, resources) in init.chain(main) {
        errors.extend(resources.into_iter().flat_map(|r| {
            requirements(
                &path.child(list).index(i).child("resources"),
                r,
                non_negative,
            )
        }));
    }
    errors.extend(
        spec.resources
            .iter()
            .flat_map(|r| requirements(&path.child("resources"), r, non_negative)),
    );
    errors
}

fn requirements(
    path: &Path,
    requirements: &ResourceRequirements,
    non_negative: bool,
) -> Vec<FieldError> {
    let lists = [
        ("requests", &requirements.requests),
        ("limits", &requirements.limits),
    ];
    let amounts = lists.into_iter().flat_map(|(list, amounts)| {
        amounts
            .iter()
            .flatten()
            .map(move |(name, amount)| (list, name, amount))
    });
    amounts
        .filter_map(|(list, name, amount)| {
            amount_of(&path.child(list).key(name), name, amount, non_negative)
        })
        .collect()
}

fn amount_of(path: &Path, name: &str, amount: &Quantity, non_negative: bool) -> Option<FieldError> {
    if name == "pods" {
        return Some(FieldError::invalid(
            path,
            name,
            "the key is reserved for internal kueue use",
        ));
    }
    let negative = quotas::parse(amount).is_ok_and(quantity::Quantity::is_negative);
    (non_negative && negative).then(|| FieldError::invalid(path, amount.0.as_str(), NOT_NEGATIVE))
}

fn slices(path: &Path, request: &PodSetTopologyRequest) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (size, topology) = (
        path.child("podSetSliceSize"),
        path.child("podSetSliceRequiredTopology"),
    );
    match (
        request.pod_set_slice_size,
        &request.pod_set_slice_required_topology,
    ) {
        (Some(_), None) => errors.push(FieldError::forbidden(
            &size,
            "may only be set together with podSetSliceRequiredTopology",
        )),
        (None, Some(_)) => errors.push(FieldError::required(
            &size,
            "must be set when podSetSliceRequiredTopology is set",
        )),
        (Some(_), Some(name)) if name.is_empty() => {
            errors.push(FieldError::required(&topology, "must not be empty"));
        }
        (Some(count), Some(_)) if count <= 0 => {
            errors.push(FieldError::invalid(&size, count, "must be greater than 0"));
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
    for (i, constraint) in request
        .podset_slice_required_topology_constraints
        .iter()
        .enumerate()
    {
        if constraint.size <= 0 {
            let path = path
                .child("podsetSliceRequiredTopologyConstraints")
                .index(i)
                .child("size");
            errors.push(FieldError::invalid(
                &path,
                constraint.size,
                "must be greater than 0",
            ));
        }
    }
    errors
}

pub(super) fn annotations(workload: &Workload, features: &Features) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if features.on(gate::ADMISSION_GATED_BY) {
        errors.extend(admission_gates::format(&workload.metadata));
    }
    if features.on(gate::PRIORITY_BOOST) {
        errors.extend(priority_boost(workload));
    }
    errors
}

fn priority_boost(workload: &Workload) -> Option<FieldError> {
    let text = workload
        .metadata
        .annotations
        .as_ref()?
        .get(annotations::PRIORITY_BOOST)?;
    let detail = match text.parse::<i32>() {
        Ok(_) => return None,
        Err(_) if text.is_empty() => {
            "must be a valid signed integer; use \"0\" explicitly, empty string is not allowed"
        }
        Err(_) => "must be a valid signed integer",
    };
    Some(FieldError::invalid(
        &admission_gates::annotation(annotations::PRIORITY_BOOST),
        text.as_str(),
        detail,
    ))
}
