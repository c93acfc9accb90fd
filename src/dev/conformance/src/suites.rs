//! Which function runs the cases of which file: one module a folder of the corpus, in it one table.
//!
//! A module `pkg_scheduler` holds `pub(super) const FILES: &[File] = &[("TestSchedule", schedule::run), …]`. Files without a line are reported as
//! not built. Files that test a helper without an outcome of its own have a line that answers `Skip::Internal`, and a sentence in `INTERNAL.md`.

use scheduler::{OutOfBounds, messages};
use serde_json::{Value, json};

use crate::corpus::Case;
use crate::verdict::Verdict;

mod job_defaults;
mod job_reconcile;
mod jobs;
mod multikueue;
mod pkg_cache_queue;
mod pkg_cache_queue_afs;
mod pkg_cache_scheduler;
mod pkg_config;
mod pkg_controller_admissionchecks_multikueue;
mod pkg_controller_admissionchecks_provisioning;
mod pkg_controller_core;
mod pkg_controller_elasticjobs;
mod pkg_controller_failurerecovery;
mod pkg_controller_jobframework;
mod pkg_controller_jobs_deployment;
mod pkg_controller_jobs_leaderworkerset;
mod pkg_controller_jobs_pod;
mod pkg_controller_jobs_statefulset;
mod pkg_controller_tas;
mod pkg_podset;
mod pkg_resources;
mod pkg_scheduler;
mod pkg_scheduler_flavorassigner;
mod pkg_scheduler_preemption;
mod pkg_scheduler_preemption_common;
mod pkg_scheduler_preemption_fairsharing;
mod pkg_util_admissioncheck;
mod pkg_util_admissionfairsharing;
mod pkg_util_equality;
mod pkg_util_limitrange;
mod pkg_util_orderedgroups;
mod pkg_util_pod;
mod pkg_util_podset;
mod pkg_util_priority;
mod pkg_util_resource;
mod pkg_util_taints;
mod pkg_util_tas;
mod pkg_util_tolerations;
mod pkg_visibility;
mod pkg_visibility_storage;
mod pkg_webhooks;
mod pkg_workload;
mod pkg_workload_evict;
mod pkg_workload_finish;
mod pkg_workload_patching;
mod pkg_workloadslicing;
mod ray;
mod spark;
mod train_job;

/// Runs one case.
pub type Suite = fn(Case<'_>) -> Verdict;
type File = (&'static str, Suite);

const FOLDERS: &[(&str, &[File])] = &[
    (
        "pkg-controller-admissionchecks-multikueue",
        pkg_controller_admissionchecks_multikueue::FILES,
    ),
    (
        "pkg-controller-workloaddispatcher",
        pkg_controller_admissionchecks_multikueue::DISPATCHER,
    ),
    ("pkg-controller-core", pkg_controller_core::FILES),
    (
        "pkg-controller-failurerecovery",
        pkg_controller_failurerecovery::FILES,
    ),
    ("pkg-controller-jobs-pod", pkg_controller_jobs_pod::FILES),
    ("pkg-controller-tas", pkg_controller_tas::FILES),
    (
        "pkg-controller-jobframework",
        pkg_controller_jobframework::FILES,
    ),
    (
        "pkg-controller-jobs-deployment",
        pkg_controller_jobs_deployment::FILES,
    ),
    (
        "pkg-controller-jobs-leaderworkerset",
        pkg_controller_jobs_leaderworkerset::FILES,
    ),
    (
        "pkg-controller-jobs-statefulset",
        pkg_controller_jobs_statefulset::FILES,
    ),
    ("pkg-controller-jobs-job", jobs::JOB),
    ("pkg-controller-jobs-jobset", jobs::JOB_SET),
    ("pkg-controller-jobs-kubeflow-jobs-jaxjob", jobs::KUBEFLOW),
    (
        "pkg-controller-jobs-kubeflow-jobs-paddlejob",
        jobs::KUBEFLOW,
    ),
    (
        "pkg-controller-jobs-kubeflow-jobs-pytorchjob",
        jobs::KUBEFLOW,
    ),
    ("pkg-controller-jobs-kubeflow-jobs-tfjob", jobs::KUBEFLOW),
    (
        "pkg-controller-jobs-kubeflow-jobs-xgboostjob",
        jobs::KUBEFLOW,
    ),
    ("pkg-controller-jobs-mpijob", jobs::KUBEFLOW),
    ("pkg-controller-jobs-raycluster", ray::CLUSTER),
    ("pkg-controller-jobs-rayjob", ray::JOB),
    ("pkg-controller-jobs-rayservice", ray::SERVICE),
    ("pkg-controller-jobs-trainjob", train_job::FILES),
    ("pkg-controller-jobs-appwrapper", jobs::APP_WRAPPER),
    ("pkg-controller-jobs-sparkapplication", spark::FILES),
    ("pkg-cache-queue", pkg_cache_queue::FILES),
    ("pkg-cache-queue-afs", pkg_cache_queue_afs::FILES),
    (
        "pkg-util-admissionfairsharing",
        pkg_util_admissionfairsharing::FILES,
    ),
    ("pkg-visibility", pkg_visibility::FILES),
    ("pkg-visibility-storage", pkg_visibility_storage::FILES),
    ("pkg-resources", pkg_resources::FILES),
    ("pkg-scheduler", pkg_scheduler::FILES),
    (
        "pkg-scheduler-flavorassigner",
        pkg_scheduler_flavorassigner::FILES,
    ),
    ("pkg-util-tas", pkg_util_tas::FILES),
    ("pkg-webhooks", pkg_webhooks::FILES),
    ("pkg-cache-scheduler", pkg_cache_scheduler::FILES),
    ("pkg-scheduler-preemption", pkg_scheduler_preemption::FILES),
    (
        "pkg-scheduler-preemption-common",
        pkg_scheduler_preemption_common::FILES,
    ),
    (
        "pkg-scheduler-preemption-fairsharing",
        pkg_scheduler_preemption_fairsharing::FILES,
    ),
    ("pkg-util-limitrange", pkg_util_limitrange::FILES),
    ("pkg-workload", pkg_workload::FILES),
    ("pkg-workloadslicing", pkg_workloadslicing::FILES),
    (
        "pkg-controller-admissionchecks-provisioning",
        pkg_controller_admissionchecks_provisioning::FILES,
    ),
    (
        "pkg-controller-elasticjobs",
        pkg_controller_elasticjobs::FILES,
    ),
    ("pkg-config", pkg_config::FILES),
    ("pkg-podset", pkg_podset::FILES),
    ("pkg-util-admissioncheck", pkg_util_admissioncheck::FILES),
    ("pkg-util-equality", pkg_util_equality::FILES),
    ("pkg-util-orderedgroups", pkg_util_orderedgroups::FILES),
    ("pkg-util-pod", pkg_util_pod::FILES),
    ("pkg-util-podset", pkg_util_podset::FILES),
    ("pkg-util-priority", pkg_util_priority::FILES),
    ("pkg-util-resource", pkg_util_resource::FILES),
    ("pkg-util-taints", pkg_util_taints::FILES),
    ("pkg-util-tolerations", pkg_util_tolerations::FILES),
    ("pkg-workload-evict", pkg_workload_evict::FILES),
    ("pkg-workload-finish", pkg_workload_finish::FILES),
    ("pkg-workload-patching", pkg_workload_patching::FILES),
];

/// The function for the cases of a file.
#[must_use]
pub fn find(folder: &str, test: &str) -> Option<Suite> {
    let (_, files) = FOLDERS.iter().find(|(name, _)| *name == folder)?;
    let (_, suite) = files.iter().find(|(name, _)| *name == test)?;
    Some(*suite)
}

/// Compares bounds that pod templates do not keep, in the form of faults of fields.
fn violations(got: &[OutOfBounds], want: &Value) -> Verdict {
    let fault = |one: &OutOfBounds| {
        let names: Vec<_> = one.resources.iter().map(ToString::to_string).collect();
        json!({"type": "FieldValueInvalid", "field": one.field, "badValue": names, "detail": messages::rule(one.rule)})
    };
    Verdict::same(&got.iter().map(fault).collect::<Vec<_>>(), want)
}
