//! The Workload of a job, as the reference builds it.

use k8s_openapi::api::core::v1::{Container, EnvVar};
use kueue_api::ObjectMeta;
use kueue_api::names::{RESOURCE_IN_USE_FINALIZER, annotations, labels};
use kueue_api::v1beta2::{PodSet, PriorityClassRef, Workload, WorkloadSpec};
use kueue_api::workload::slices;

use crate::admission::names::is_label_value;
use crate::error::JobError;
use crate::job::GenericJob;
use crate::naming;

/// Priority of a Workload, and the class it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Priority {
    pub class: Option<PriorityClassRef>,
    pub value: i32,
}

/// Settings that change how Workloads are made.
#[derive(Clone, Debug)]
pub struct Options {
    /// Labels of the job that its Workload gets too.
    pub label_keys_to_copy: Vec<String>,
    /// Annotations of the job that its Workload gets too (gate `CustomMetricLabels`).
    pub annotations_to_copy: Vec<String>,
    /// Whether jobs can keep their Workloads out of the queues (gate `AdmissionGatedBy`).
    pub admission_gates: bool,
    /// Whether a job may start with fewer pods (gate `PartialAdmission`).
    pub partial: bool,
    /// Longest name of a Workload.
    pub longest_name: usize,
    /// Whether jobs may grow and shrink while they run (gate `ElasticJobsViaWorkloadSlices`).
    pub elastic: bool,
    /// Whether placement in topologies may be asked for (gate `TopologyAwareScheduling`).
    pub topology: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            label_keys_to_copy: Vec::new(),
            annotations_to_copy: Vec::new(),
            admission_gates: true,
            partial: true,
            longest_name: naming::MAX_NAME,
            elastic: true,
            topology: true,
        }
    }
}

/// Makes the Workload of a job.
pub fn workload(
    job: &dyn GenericJob,
    priority: Priority,
    options: &Options,
) -> Result<Workload, JobError> {
    let pod_sets = pod_sets(job, options)?;
    let spec = WorkloadSpec {
        pod_sets,
        queue_name: job.queue_name().map(str::to_owned),
        priority_class_ref: priority.class,
        priority: Some(priority.value),
        maximum_execution_time_seconds: job.max_execution_seconds(),
        ..WorkloadSpec::default()
    };
    Ok(Workload {
        metadata: metadata(job, options),
        spec,
        status: None,
    })
}

/// The podsets of a job in the form a Workload can hold.
pub fn pod_sets(job: &dyn GenericJob, options: &Options) -> Result<Vec<PodSet>, JobError> {
    let mut sets = job.pod_sets()?;
    for set in &mut sets {
        set.topology_request = set.topology_request.take().filter(|_| options.topology);
        set.min_count = set.min_count.filter(|_| options.partial);
        tidy(set);
    }
    Ok(sets)
}

/// Brings a podset into a form that a Workload can hold.
pub fn tidy(set: &mut PodSet) {
    if let Some(spec) = set.template.spec.as_mut() {
        let init = spec.init_containers.iter_mut().flatten();
        spec.containers
            .iter_mut()
            .chain(init)
            .for_each(one_value_per_variable);
    }
}

/// Jobs may name a variable twice, Workloads may not; the last value is the one a container would see.
fn one_value_per_variable(container: &mut Container) {
    let Some(env) = container.env.as_mut() else {
        return;
    };
    let mut once: Vec<EnvVar> = Vec::with_capacity(env.len());
    for variable in std::mem::take(env) {
        match once.iter_mut().find(|other| other.name == variable.name) {
            Some(other) => *other = variable,
            None => once.push(variable),
        }
    }
    *env = once;
}

/// Whether each size of a job has a Workload of its own.
#[must_use]
pub fn is_elastic(job: &dyn GenericJob, options: &Options) -> bool {
    options.elastic && slices::is_marked(job.meta())
}

fn name(job: &dyn GenericJob, options: &Options) -> String {
    let (kind, longest) = (job.kind(), options.longest_name);
    if is_elastic(job, options) {
        let extra = job.slice_mark();
        naming::slice_name(kind, job.name(), job.uid(), &extra, longest)
    } else {
        naming::workload_name(kind, job.name(), job.uid(), longest)
    }
}

fn metadata(job: &dyn GenericJob, options: &Options) -> ObjectMeta {
    let own = job.meta();
    let mut copied: std::collections::BTreeMap<_, _> = own
        .labels
        .iter()
        .flatten()
        .filter(|(key, _)| options.label_keys_to_copy.contains(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if is_label_value(job.uid()) {
        copied.insert(labels::JOB_UID.to_owned(), job.uid().to_owned());
    }
    let copied_note = |key: &String| {
        key.starts_with(annotations::PROVISIONING_REQUEST_PREFIX)
            || options.annotations_to_copy.contains(key)
            || options.admission_gates && key == annotations::ADMISSION_GATED_BY
    };
    let notes = own.annotations.iter().flatten();
    let notes = notes.filter(|(key, value)| copied_note(key) && !value.is_empty());
    ObjectMeta {
        name: Some(name(job, options)),
        namespace: own.namespace.clone(),
        labels: Some(copied),
        annotations: Some(
            notes
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        ),
        finalizers: Some(vec![RESOURCE_IN_USE_FINALIZER.to_owned()]),
        owner_references: Some(vec![job.owner_reference()]),
        ..ObjectMeta::default()
    }
}
