//! Whether a Workload still describes its job. A wrong "no" deletes a Workload, so only what the job's owner wrote is
//! compared, and in a form in which two spellings of the same value are equal.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, PodSpec};
use kueue_api::v1beta2::PodSet;
use serde_json::{Map, Value};

/// Whether two lists of podsets ask for the same. Names and node selectors do not count; `admitted` leaves out tolerations, too, as
/// admission writes them.
#[must_use]
pub fn same_pod_sets(job: &[PodSet], workload: &[PodSet], admitted: bool) -> bool {
    job.len() == workload.len()
        && job
            .iter()
            .zip(workload)
            .all(|(a, b)| same_pod_set(a, b, admitted))
}

fn same_pod_set(a: &PodSet, b: &PodSet, admitted: bool) -> bool {
    if a.count != b.count || a.min_count != b.min_count {
        return false;
    }
    let nothing = PodSpec::default();
    let (a, b) = (
        a.template.spec.as_ref().unwrap_or(&nothing),
        b.template.spec.as_ref().unwrap_or(&nothing),
    );
    let tolerations = |spec: &PodSpec| spec.tolerations.clone().unwrap_or_default();
    (admitted || tolerations(a) == tolerations(b))
        && same_containers(&a.containers, &b.containers)
        && same_containers(
            some(a.init_containers.as_ref()),
            some(b.init_containers.as_ref()),
        )
}

fn some(containers: Option<&Vec<Container>>) -> &[Container] {
    containers.map_or(&[], Vec::as_slice)
}

fn same_containers(a: &[Container], b: &[Container]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| canonical(a) == canonical(b))
}

/// A container without empty values, with amounts as numbers.
fn canonical(container: &Container) -> Option<Value> {
    let mut value = serde_json::to_value(container).ok()?;
    for part in ["requests", "limits"] {
        if let Some(Value::Object(amounts)) = value.pointer_mut(&format!("/resources/{part}")) {
            amounts.values_mut().for_each(canonical_amount);
        }
    }
    prune(&mut value);
    Some(value)
}

fn canonical_amount(value: &mut Value) {
    if let Some(amount) = value
        .as_str()
        .and_then(|text| text.parse::<quantity::Quantity>().ok())
    {
        *value = Value::String(amount.nano().to_string());
    }
}

fn prune(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(prune);
            let kept: BTreeMap<String, Value> = std::mem::take(fields)
                .into_iter()
                .filter(|(_, v)| !is_empty(v))
                .collect();
            *fields = kept.into_iter().collect::<Map<_, _>>();
        }
        Value::Array(items) => items.iter_mut().for_each(prune),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
