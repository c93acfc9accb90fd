//! `batch/v1` Job. Its pods are those of one template; it is stopped in three writes, because the API server lets a
//! template change only while the Job is suspended and has no start time.

mod indexes;
mod validation;

#[cfg(test)]
mod tests;

use k8s_openapi::api::batch::v1::{Job, JobSpec, JobStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::features::{Features, gate};
use kueue_api::field::FieldError;
use kueue_api::names::{DEFAULT_POD_SET, annotations, gates};
use kueue_api::v1beta2::{PodSet, ReclaimablePod};
use kueue_api::workload::slices;
use serde_json::{Value, json};

use crate::error::JobError;
use crate::job::{Change, Finish, GenericJob, StartError};
use crate::kind::{BATCH_JOB, JobKind};
use crate::merge;
use crate::pod_set_info::PodSetInfo;
use crate::topology_request::{self, Ranks};

/// Labels that the Job controller puts into the template and that say nothing about the work.
const OWN_LABELS: &[&str] = &[
    "controller-uid",
    "batch.kubernetes.io/controller-uid",
    "job-name",
];

/// A Job.
#[derive(Clone, Debug)]
pub struct BatchJob(pub Job);

impl BatchJob {
    /// Reads an object.
    pub fn read(value: Value) -> Result<Box<dyn GenericJob>, JobError> {
        let job = serde_json::from_value(value).map_err(|source| JobError::Read {
            kind: BATCH_JOB.kind,
            source,
        })?;
        Ok(Box::new(Self(job)))
    }

    /// Its podsets as far as they can be read; what cannot is refused by the check of that very annotation.
    fn pod_sets_for_checks(&self) -> Vec<PodSet> {
        vec![PodSet {
            template: self.spec().map(|s| s.template.clone()).unwrap_or_default(),
            count: self.pods(),
            ..PodSet::default()
        }]
    }

    fn spec(&self) -> Option<&JobSpec> {
        self.0.spec.as_ref()
    }

    fn status(&self) -> Option<&JobStatus> {
        self.0.status.as_ref()
    }

    fn annotation(&self, key: &str) -> Option<&str> {
        self.0
            .metadata
            .annotations
            .as_ref()?
            .get(key)
            .map(String::as_str)
    }

    fn is_stopping(&self) -> bool {
        self.annotation(annotations::JOB_STOPPING) == Some("true")
    }

    fn parallelism(&self) -> i32 {
        self.spec().and_then(|s| s.parallelism).unwrap_or(1)
    }

    /// Pods that run at the same time.
    fn pods(&self) -> i32 {
        let completions = self.spec().and_then(|s| s.completions).unwrap_or(i32::MAX);
        self.parallelism().min(completions)
    }

    fn min_parallelism(&self) -> Result<Option<i32>, JobError> {
        let Some(text) = self.annotation(annotations::JOB_MIN_PARALLELISM) else {
            return Ok(None);
        };
        let wrong = |_| JobError::Value {
            place: format!("metadata.annotations[{}]", annotations::JOB_MIN_PARALLELISM),
            value: text.to_owned(),
            wanted: "is not a number",
        };
        text.parse().map(Some).map_err(wrong)
    }

    fn completions_follow_parallelism(&self) -> bool {
        self.annotation(annotations::JOB_COMPLETIONS_EQUAL_PARALLELISM) == Some("true")
    }

    fn set_parallelism(&mut self, count: i32) {
        let follow = self.completions_follow_parallelism();
        let spec = self.0.spec.get_or_insert_default();
        spec.parallelism = Some(count);
        if follow {
            spec.completions = Some(count);
        }
    }

    /// Pods that will not run again.
    fn terminal(&self) -> i32 {
        let Some(status) = self.status() else {
            return 0;
        };
        if self.spec().and_then(|s| s.completion_mode.as_deref()) == Some("Indexed") {
            let below = self.spec().and_then(|s| s.completions).unwrap_or_default();
            let lists = [
                status.completed_indexes.as_deref(),
                status.failed_indexes.as_deref(),
            ];
            return indexes::count_union(lists.into_iter().flatten(), below);
        }
        status.succeeded.unwrap_or_default()
    }

    /// The job with its template as `infos` has it and without the mark of stopping.
    fn restored(&self, infos: Option<&[PodSetInfo]>) -> Self {
        let mut job = self.clone();
        if let Some([info]) = infos {
            if matches!(self.min_parallelism(), Ok(Some(_))) {
                job.set_parallelism(info.count);
            }
            info.restore_into(&mut job.0.spec.get_or_insert_default().template, OWN_LABELS);
        }
        if let Some(notes) = job.0.metadata.annotations.as_mut() {
            notes.remove(annotations::JOB_STOPPING);
        }
        job
    }

    fn patch_to(&self, new: &Self) -> Option<Value> {
        let (old, new) = (
            serde_json::to_value(&self.0).ok()?,
            serde_json::to_value(&new.0).ok()?,
        );
        merge::between(&old, &new)
    }
}

impl GenericJob for BatchJob {
    fn kind(&self) -> &'static JobKind {
        &BATCH_JOB
    }

    fn meta(&self) -> &ObjectMeta {
        &self.0.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.0.metadata
    }

    fn is_suspended(&self) -> bool {
        self.spec().and_then(|s| s.suspend) == Some(true) && !self.is_stopping()
    }

    fn suspend(&mut self) {
        self.0.spec.get_or_insert_default().suspend = Some(true);
    }

    /// Pods of a Job that grows wait until its slice has room for them.
    fn default_own(&mut self, features: &Features) {
        if features.on(gate::ELASTIC_JOBS) && slices::is_marked(self.meta()) {
            let spec = self.0.spec.get_or_insert_default();
            let pods = spec.template.spec.get_or_insert_default();
            crate::pods::gate(pods, gates::ELASTIC_JOB);
        }
    }

    fn pod_sets(&self) -> Result<Vec<PodSet>, JobError> {
        let mut template = self.spec().map(|s| s.template.clone()).unwrap_or_default();
        if let Some(labels) = template.metadata.as_mut().and_then(|m| m.labels.as_mut()) {
            labels.retain(|key, _| !OWN_LABELS.contains(&key.as_str()));
        }
        let ranks = Ranks {
            pod_index_label: Some("batch.kubernetes.io/job-completion-index"),
            sub_groups: None,
        };
        let topology_request = topology_request::of(template.metadata.as_ref(), &ranks)?;
        Ok(vec![PodSet {
            name: DEFAULT_POD_SET.to_owned(),
            template,
            count: self.pods(),
            min_count: self.min_parallelism()?,
            topology_request,
        }])
    }

    fn run_with(&mut self, infos: &[PodSetInfo]) -> Result<(), StartError> {
        let [info] = infos else {
            return Err(JobError::Infos {
                want: 1,
                got: infos.len(),
            }
            .into());
        };
        if self.min_parallelism()?.is_some() {
            self.set_parallelism(info.count);
        }
        let spec = self.0.spec.get_or_insert_default();
        info.merge_into(&mut spec.template)?;
        spec.suspend = Some(false);
        Ok(())
    }

    fn stop_step(&self, infos: Option<&[PodSetInfo]>) -> Option<Change> {
        if self.spec().and_then(|s| s.suspend) != Some(true) {
            let stopping = json!({"metadata": {"annotations": {annotations::JOB_STOPPING: "true"}}, "spec": {"suspend": true}});
            return Some(Change::Object(stopping));
        }
        let patch = self.patch_to(&self.restored(infos))?;
        if self.status().is_some_and(|s| s.start_time.is_some()) {
            return Some(Change::Status(json!({"status": {"startTime": null}})));
        }
        Some(Change::Object(patch))
    }

    fn finished(&self) -> Option<Finish> {
        let over = |c: &&k8s_openapi::api::batch::v1::JobCondition| {
            c.status == "True" && matches!(c.type_.as_str(), "Complete" | "Failed")
        };
        let condition = self.status()?.conditions.iter().flatten().find(over)?;
        let message = condition.message.clone().unwrap_or_default();
        Some(Finish {
            success: condition.type_ == "Complete",
            message,
        })
    }

    fn is_active(&self) -> bool {
        self.status().and_then(|s| s.active).unwrap_or_default() != 0
    }

    fn pods_ready(&self) -> bool {
        let Some(status) = self.status() else {
            return false;
        };
        let uncounted = status
            .uncounted_terminated_pods
            .as_ref()
            .and_then(|u| u.succeeded.as_ref())
            .map_or(0, Vec::len);
        let done = status.succeeded.unwrap_or_default() + status.ready.unwrap_or_default();
        done.saturating_add(i32::try_from(uncounted).unwrap_or(i32::MAX)) >= self.pods()
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn to_value(&self) -> Result<Value, JobError> {
        serde_json::to_value(&self.0).map_err(|source| JobError::Write {
            kind: BATCH_JOB.kind,
            source,
        })
    }

    fn managed_by(&self) -> Option<&str> {
        self.spec()?.managed_by.as_deref()
    }

    fn set_managed_by(&mut self, controller: &str) {
        let spec = self.0.spec.get_or_insert_default();
        spec.managed_by = Some(controller.to_owned());
    }

    fn reclaimable_pods(&self) -> Option<Vec<ReclaimablePod>> {
        let parallelism = self.parallelism();
        let terminal = self.terminal();
        if parallelism <= 1 || terminal == 0 {
            return Some(Vec::new());
        }
        let completions = self
            .spec()
            .and_then(|s| s.completions)
            .unwrap_or(parallelism);
        let remaining = completions.saturating_sub(terminal).max(0);
        if remaining >= parallelism {
            return Some(Vec::new());
        }
        Some(vec![ReclaimablePod {
            name: DEFAULT_POD_SET.to_owned(),
            count: parallelism - remaining,
        }])
    }

    fn problems(&self, features: &Features) -> Vec<FieldError> {
        validation::problems(self, features)
    }

    fn change_problems(&self, old: &dyn GenericJob) -> Vec<FieldError> {
        let old = old.as_any().downcast_ref::<Self>();
        old.map(|old| validation::change_problems(old, self))
            .unwrap_or_default()
    }
}
