//! Carries out the effects of a step for a job: writes, tells the world what came of it, sends events, and counts.

use std::sync::Arc;

use jiff::Timestamp;
use jobs::{Change, GenericJob, PodSetInfo};
use kube::core::ApiResource;
use kueue_api::conditions::{MAX_EVENT_NOTE, truncate};
use kueue_api::v1beta2::{Workload, WorkloadStatus};
use serde_json::Value;

use super::effects::Effect;
use crate::context::Context;
use crate::error::ReconcileError;
use crate::events::Kind::{Normal, Warning};
use crate::key::Key;
use crate::stores::Job;

/// More writes than any kind needs to stop.
const STOP_STEPS: usize = 5;

/// One job being worked on.
pub(super) struct Act<'a> {
    context: &'a Arc<Context>,
    kind: usize,
    job: &'a dyn GenericJob,
}

impl<'a> Act<'a> {
    pub(super) fn new(context: &'a Arc<Context>, kind: usize, job: &'a dyn GenericJob) -> Self {
        Self { context, kind, job }
    }

    /// All effects in their order. False if the job has to be waited for.
    pub(super) async fn all(&self, effects: Vec<Effect>) -> Result<bool, ReconcileError> {
        for effect in effects {
            if !self.one(effect).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A Workload was made: how long that took.
    pub(super) fn measure(&self, now: Timestamp) {
        let world = &self.context.world;
        let queue = self.job.queue_name().and_then(|name| {
            let key = Key::new(self.job.namespace(), name);
            world.stores.local_queues.get(&key)
        });
        self.context
            .metrics
            .workload_created(self.job, queue.as_deref(), now);
    }

    async fn one(&self, effect: Effect) -> Result<bool, ReconcileError> {
        match effect {
            Effect::Tell {
                warning,
                reason,
                note,
            } => self.tell(warning, reason, note),
            Effect::Create(workload) => self.create(&workload).await?,
            Effect::Change { workload, patch } => self.change(&workload, patch).await?,
            Effect::Status { workload, status } => self.status(&workload, &status).await?,
            Effect::Reclaim { workload, pods } => {
                let written = self.context.writer.reclaimable(&workload, &pods).await?;
                self.context.world.saw_workload(written);
            }
            Effect::Delete(workload) => self.context.delete_workload(&workload).await?,
            Effect::Release(workload) => self.release(&workload).await?,
            Effect::Job(patch) => {
                self.write(self.job, Change::Object(patch)).await?;
            }
            Effect::Stop { infos, message } => {
                return self.stop(infos.as_deref(), &message).await;
            }
            Effect::DeleteJob => self.delete_job().await?,
        }
        Ok(true)
    }

    fn tell(&self, warning: bool, reason: &str, note: String) {
        let kind = if warning { Warning } else { Normal };
        self.context.job_event(self.job, kind, reason, note);
    }

    async fn create(&self, workload: &Workload) -> Result<(), ReconcileError> {
        match self.context.writer.create(workload).await {
            Ok(created) => {
                self.context.world.saw_workload(created);
                Ok(())
            }
            Err(error) => {
                if error.is_refusal() {
                    self.tell(true, "ErrWorkloadCompose", error.to_string());
                }
                Err(error.into())
            }
        }
    }

    async fn change(&self, workload: &Workload, patch: Value) -> Result<(), ReconcileError> {
        let written = self.context.writer.workload(workload, patch).await?;
        self.context.world.saw_workload(written);
        Ok(())
    }

    async fn status(
        &self,
        workload: &Workload,
        status: &WorkloadStatus,
    ) -> Result<(), ReconcileError> {
        let written = self.context.writer.status(workload, status).await?;
        self.context.world.saw_workload(written);
        Ok(())
    }

    async fn release(&self, workload: &Workload) -> Result<(), ReconcileError> {
        if let Some(written) = self.context.writer.release(workload).await? {
            if workload.metadata.deletion_timestamp.is_none() {
                self.context.world.saw_workload(written);
            } else {
                self.context.world.lost_workload(
                    &Key::of(&workload.metadata),
                    workload.metadata.uid.as_deref(),
                );
            }
        }
        Ok(())
    }

    /// Writes a change of the job; gives the job as it is then.
    async fn write(
        &self,
        job: &dyn GenericJob,
        change: Change,
    ) -> Result<Option<Arc<Job>>, ReconcileError> {
        let key = Key::of(job.meta());
        let version = job.meta().resource_version.as_deref();
        let resource = resource_of(job.kind());
        let (patch, status) = match change {
            Change::Object(patch) => (patch, false),
            Change::Status(patch) => (patch, true),
        };
        let written = self
            .context
            .writer
            .job(&resource, &key, version, patch, status)
            .await?;
        Ok(self.context.world.saw_job(self.kind, written))
    }

    async fn delete_job(&self) -> Result<(), ReconcileError> {
        let meta = self.job.meta();
        let resource = resource_of(self.job.kind());
        let uid = meta.uid.as_deref();
        let key = Key::of(meta);
        self.context.writer.delete_job(&resource, &key, uid).await?;
        Ok(())
    }

    /// False if the API server does not let its templates change yet: servers from 1.36 on wait for the last pod of the run.
    async fn stop(
        &self,
        infos: Option<&[PodSetInfo]>,
        message: &str,
    ) -> Result<bool, ReconcileError> {
        let mut now: Option<Arc<Job>> = None;
        let mut runs = !self.job.is_suspended();
        for _ in 0..STOP_STEPS {
            let job = now.as_ref().map_or(self.job, |job| job.0.as_ref());
            let Some(change) = job.stop_step(infos) else {
                break;
            };
            let active = job.is_active();
            now = match self.write(job, change).await {
                Err(error) if error.is_refusal() && active => return Ok(false),
                written => written?,
            };
            let Some(job) = &now else {
                break;
            };
            if runs && job.0.is_suspended() {
                runs = false;
                self.tell(false, "Stopped", truncate(message, MAX_EVENT_NOTE));
            }
        }
        Ok(true)
    }
}

/// How the API server calls the objects of a kind.
#[must_use]
pub fn resource_of(kind: &jobs::JobKind) -> ApiResource {
    ApiResource {
        group: kind.group.to_owned(),
        version: kind.version.to_owned(),
        api_version: kind.api_version(),
        kind: kind.kind.to_owned(),
        plural: kind.plural.to_owned(),
    }
}
