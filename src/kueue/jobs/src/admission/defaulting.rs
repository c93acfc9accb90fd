//! Defaults of a new job: its queue, its priority class, that it starts suspended, and who runs it. Reference section 5.1.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::features::{Features, gate};
use kueue_api::names::{
    DEFAULT_LOCAL_QUEUE, DEFAULT_WORKLOAD_PRIORITY_CLASS, MULTIKUEUE_CONTROLLER, labels,
};

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
    /// The job belongs to an object of a kind that Kueue manages.
    pub owner_managed: bool,
    /// One of its ancestors is managed, and so decides when it runs.
    pub ancestor_managed: bool,
    /// `manageJobsWithoutQueueName`.
    pub manage_without_queue_name: bool,
}

/// Applies the defaults, in the reference's order.
pub fn default(job: &mut dyn GenericJob, around: Surroundings) {
    default_names(job.meta_mut(), around);
    if job.meta().deletion_timestamp.is_none() && should_manage(job.meta(), around) {
        job.suspend();
    }
}

/// The default queue and priority class of an object that names none.
pub fn default_names(meta: &mut ObjectMeta, around: Surroundings) {
    if meta.deletion_timestamp.is_some() || !around.namespace_managed || around.owner_managed {
        return;
    }
    if around.has_default_queue && label(meta, labels::QUEUE_NAME).is_none() {
        set_label(meta, labels::QUEUE_NAME, DEFAULT_LOCAL_QUEUE);
    }
    if around.has_default_priority_class && label(meta, labels::PRIORITY_CLASS).is_none() {
        set_label(
            meta,
            labels::PRIORITY_CLASS,
            DEFAULT_WORKLOAD_PRIORITY_CLASS,
        );
    }
}

/// Whether the object is ours to hold back.
#[must_use]
pub fn should_manage(meta: &ObjectMeta, around: Surroundings) -> bool {
    let named = label(meta, labels::QUEUE_NAME).is_some();
    around.namespace_managed
        && !around.ancestor_managed
        && (named || around.manage_without_queue_name)
}

/// Whether the job is ours to hold back.
#[must_use]
pub fn should_suspend(job: &dyn GenericJob, around: Surroundings) -> bool {
    should_manage(job.meta(), around)
}

/// A job whose queue leads to other clusters is run by nobody here, unless its user named a controller.
pub fn default_managed_by(
    job: &mut dyn GenericJob,
    features: &Features,
    leads_elsewhere: impl FnOnce(&str) -> bool,
) {
    let native = job.kind().native_controller;
    let free = job.managed_by().is_none_or(|name| name == native);
    if native.is_empty() || !free || !features.on(gate::MULTIKUEUE) {
        return;
    }
    if job.queue_name().is_some_and(leads_elsewhere) {
        job.set_managed_by(MULTIKUEUE_CONTROLLER);
    }
}

/// A label's value, if it is set to something.
pub(crate) fn label<'a>(meta: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    let own = meta.labels.as_ref()?.get(key).map(String::as_str);
    own.filter(|value| !value.is_empty())
}

pub(crate) fn set_label(meta: &mut ObjectMeta, key: &str, value: &str) {
    let labels = meta.labels.get_or_insert_default();
    labels.insert(key.to_owned(), value.to_owned());
}
