//! Workloads of jobs that grow and shrink while they run. Each size that had to be asked for is a slice, a Workload of its own; the slices of
//! one job form a chain, named after the first of them. KEP-77; reference section 5.1, "Elastic".

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::names::annotations;
use crate::v1beta2::Workload;

fn note<'a>(meta: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    let notes = meta.annotations.as_ref()?;
    notes.get(key).map(String::as_str)
}

/// Whether a job, or the Workload of one, says that it grows and shrinks. Only counts with the gate `ElasticJobsViaWorkloadSlices`.
#[must_use]
pub fn is_marked(meta: &ObjectMeta) -> bool {
    note(meta, annotations::ELASTIC_JOB) == Some("true")
}

/// The slice that this one is to replace, as `namespace/name`.
#[must_use]
pub fn replaces(workload: &Workload) -> Option<&str> {
    note(
        &workload.metadata,
        annotations::WORKLOAD_SLICE_REPLACEMENT_FOR,
    )
}

/// The name of the chain.
#[must_use]
pub fn chain_of(workload: &Workload) -> &str {
    note(&workload.metadata, annotations::WORKLOAD_SLICE_NAME).unwrap_or_else(|| workload.name())
}

/// The chain that a pod belongs to: what it says itself, or the Workload that it names.
#[must_use]
pub fn chain_of_pod(pod: &Pod) -> Option<&str> {
    note(&pod.metadata, annotations::WORKLOAD_SLICE_NAME).or_else(|| super::pods::workload_of(pod))
}
