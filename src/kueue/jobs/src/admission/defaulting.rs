//! Defaults of a new job: its queue, its priority class, and that it starts suspended.

use kueue_api::names::{DEFAULT_LOCAL_QUEUE, DEFAULT_WORKLOAD_PRIORITY_CLASS, labels};

use crate::job::GenericJob;

/// What the rule must know about the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The namespace matches `managedJobsNamespaceSelector`.
    pub namespace_managed: bool,
    /// The namespace has a LocalQueue called `default`.
    pub has_default_queue: bool,
    /// There is a WorkloadPriorityClass called `default`.
    pub has_default_priority_class: bool,
    /// The job belongs to another object that Kueue manages.
    pub owner_managed: bool,
    /// `manageJobsWithoutQueueName`.
    pub manage_without_queue_name: bool,
}

/// Applies the defaults, in the reference's order.
pub fn default(job: &mut dyn GenericJob, around: Surroundings) {
    if job.meta().deletion_timestamp.is_some() || !around.namespace_managed || around.owner_managed
    {
        return;
    }
    if around.has_default_queue && job.queue_name().is_none() {
        set_label(job, labels::QUEUE_NAME, DEFAULT_LOCAL_QUEUE);
    }
    if around.has_default_priority_class && job.workload_priority_class().is_none() {
        set_label(job, labels::PRIORITY_CLASS, DEFAULT_WORKLOAD_PRIORITY_CLASS);
    }
    if should_suspend(job, around) {
        job.suspend();
    }
}

/// Whether the job is ours to hold back.
#[must_use]
pub fn should_suspend(job: &dyn GenericJob, around: Surroundings) -> bool {
    around.namespace_managed
        && !around.owner_managed
        && (job.queue_name().is_some() || around.manage_without_queue_name)
}

fn set_label(job: &mut dyn GenericJob, key: &str, value: &str) {
    job.meta_mut()
        .labels
        .get_or_insert_default()
        .insert(key.to_owned(), value.to_owned());
}
