//! Carries out one step for a job: writes, tells the world what came of it, and sends events.

use std::sync::Arc;

use jobs::job::StartError;
use jobs::{Change, GenericJob, PodSetInfo, merge};
use kube::core::ApiResource;
use kueue_api::conditions::reasons;
use kueue_api::v1beta2::Workload;
use serde_json::{Value, json};

use super::decide::{self, Step};
use super::priority;
use crate::context::Context;
use crate::error::ReconcileError;
use crate::events::Kind::{Normal, Warning};
use crate::key::Key;
use crate::stores::Job;
use cache::Draft;

/// More writes than any kind needs to stop.
const STOP_STEPS: usize = 5;

struct Act<'a> {
    context: &'a Arc<Context>,
    kind: usize,
    job: &'a dyn GenericJob,
}

pub(super) async fn step(
    context: &Arc<Context>,
    kind: usize,
    job: &Job,
    step: Step,
) -> Result<(), ReconcileError> {
    let act = Act {
        context,
        kind,
        job: job.0.as_ref(),
    };
    match step {
        Step::Rest => Ok(()),
        Step::ClassMissing => {
            act.class_missing();
            Ok(())
        }
        Step::Create => act.create().await,
        Step::Update { workload } => act.update(&workload).await,
        Step::Delete { workload } => act.delete(&workload).await,
        Step::Settle { workload } => act.settle(&workload).await,
        Step::Finish {
            workload,
            success,
            message,
        } => {
            act.finish(&workload, decide::finish_reason(success), &message)
                .await
        }
        Step::Reclaim { workload, pods } => {
            let written = context.writer.reclaimable(&workload, &pods).await?;
            context.world.saw_workload(written);
            Ok(())
        }
        Step::PodsReady { workload, ready } => act.pods_ready(&workload, ready).await,
        Step::Start { workload, infos } => act.start(&workload, &infos).await,
        Step::Stop { message, infos } => act.stop(infos.as_deref(), &message).await,
        Step::Release { workload } => act.release(&workload).await,
        Step::Move { workload, queue } => {
            act.change(&workload, json!({"spec": {"queueName": queue}}))
                .await
        }
        Step::SetPriority { workload } => act.set_priority(&workload).await,
    }
}

impl Act<'_> {
    fn event(&self, kind: crate::events::Kind, reason: &str, note: String) {
        self.context.job_event(self.job, kind, reason, note);
    }

    fn class_missing(&self) {
        let pod_class = || {
            self.job.pod_sets().ok().and_then(|s| {
                s.first()?
                    .template
                    .spec
                    .as_ref()?
                    .priority_class_name
                    .clone()
            })
        };
        match self.job.workload_priority_class() {
            Some(name) => self.event(
                Warning,
                "WorkloadPriorityClassNotFound",
                format!("WorkloadPriorityClass {name:?} not found"),
            ),
            None => {
                let name = pod_class().unwrap_or_default();
                self.event(
                    Warning,
                    "ErrWorkloadCompose",
                    format!("priorityclasses.scheduling.k8s.io {name:?} not found"),
                );
            }
        }
    }

    fn compose(&self) -> Result<Workload, ReconcileError> {
        let priority = priority::of(self.job, &self.context.world.stores).unwrap_or_default();
        Ok(jobs::workload(
            self.job,
            priority,
            &self.context.settings.workloads,
        )?)
    }

    async fn create(&self) -> Result<(), ReconcileError> {
        let made = match self.compose() {
            Ok(workload) => self
                .context
                .writer
                .create(&workload)
                .await
                .map_err(ReconcileError::from),
            Err(error) => Err(error),
        };
        match made {
            Ok(created) => {
                self.event(
                    Normal,
                    "CreatedWorkload",
                    format!("Created Workload: {}", created.key()),
                );
                self.context
                    .metrics
                    .workload_created(self.job, (self.context.clock)());
                self.context.world.saw_workload(created);
                Ok(())
            }
            Err(error) => {
                if error.is_refusal() {
                    self.event(Warning, "ErrWorkloadCompose", error.to_string());
                }
                Err(error)
            }
        }
    }

    async fn change(&self, workload: &Workload, patch: Value) -> Result<(), ReconcileError> {
        let written = self.context.writer.workload(workload, patch).await?;
        self.context.world.saw_workload(written);
        Ok(())
    }

    async fn update(&self, workload: &Workload) -> Result<(), ReconcileError> {
        let wanted = self.compose()?;
        let json = |w: &Workload| serde_json::to_value(&w.spec).map_err(ReconcileError::Json);
        let Some(spec) = merge::between(&json(workload)?, &json(&wanted)?) else {
            return Err(ReconcileError::NeverEquivalent(workload.key()));
        };
        self.change(workload, json!({ "spec": spec })).await?;
        self.event(
            Normal,
            "UpdatedWorkload",
            format!(
                "Updated not matching Workload for suspended job: {}",
                workload.key()
            ),
        );
        Ok(())
    }

    async fn delete(&self, workload: &Workload) -> Result<(), ReconcileError> {
        self.context.writer.delete(workload).await?;
        // The deletion changed the version; the finalizer goes with whatever version is there now.
        let unpinned = Workload {
            metadata: kueue_api::ObjectMeta {
                resource_version: None,
                ..workload.metadata.clone()
            },
            ..workload.clone()
        };
        self.context.writer.release(&unpinned).await?;
        self.context.world.lost_workload(
            &Key::of(&workload.metadata),
            workload.metadata.uid.as_deref(),
        );
        self.event(
            Normal,
            "DeletedWorkload",
            format!("Deleted not matching Workload: {}", workload.key()),
        );
        Ok(())
    }

    async fn settle(&self, workload: &Workload) -> Result<(), ReconcileError> {
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
        if workload.is_finished() {
            self.event(
                Normal,
                "FinishedWorkload",
                format!("Workload '{}' is declared finished", workload.key()),
            );
        }
        Ok(())
    }

    async fn finish(
        &self,
        workload: &Workload,
        reason: &str,
        message: &str,
    ) -> Result<(), ReconcileError> {
        let now = (self.context.clock)();
        let status = Draft::of(workload, now).finished(reason, message).done();
        let written = self.context.writer.status(workload, &status).await?;
        self.context.metrics.finished(workload, now);
        self.context.world.saw_workload(written);
        Ok(())
    }

    async fn pods_ready(&self, workload: &Workload, ready: bool) -> Result<(), ReconcileError> {
        let now = (self.context.clock)();
        let draft = Draft::of(workload, now);
        let draft = if ready {
            draft.pods_ready(
                true,
                reasons::STARTED,
                "All pods reached readiness and the workload is running",
            )
        } else {
            draft.pods_ready(
                false,
                reasons::WAIT_FOR_START,
                "Not all pods are ready or succeeded",
            )
        };
        let written = self.context.writer.status(workload, &draft.done()).await?;
        if ready {
            self.context.metrics.ready(workload, now);
        }
        self.context.world.saw_workload(written);
        Ok(())
    }

    async fn start(&self, workload: &Workload, infos: &[PodSetInfo]) -> Result<(), ReconcileError> {
        let before = self.job.to_value()?;
        let mut job = (self.job.kind().read)(before.clone())?;
        match job.run_with(infos) {
            Ok(()) => {}
            Err(error @ StartError::Inject(_)) => {
                return self
                    .finish(workload, reasons::FAILED_TO_START, &error.to_string())
                    .await;
            }
            Err(StartError::Job(error)) => return Err(error.into()),
        }
        let Some(patch) = merge::between(&before, &job.to_value()?) else {
            return Ok(());
        };
        self.write(self.job, Change::Object(patch)).await?;
        let queue = workload
            .status
            .as_ref()
            .and_then(|s| s.admission.as_ref())
            .map(|a| a.cluster_queue.clone())
            .unwrap_or_default();
        self.event(
            Normal,
            "Started",
            format!("Admitted by clusterQueue {queue}"),
        );
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

    async fn stop(
        &self,
        infos: Option<&[PodSetInfo]>,
        message: &str,
    ) -> Result<(), ReconcileError> {
        let mut now: Option<Arc<Job>> = None;
        for _ in 0..STOP_STEPS {
            let job = now.as_ref().map_or(self.job, |job| job.0.as_ref());
            let Some(change) = job.stop_step(infos) else {
                break;
            };
            let suspends = matches!(&change, Change::Object(patch) if patch.pointer("/spec/suspend") == Some(&Value::Bool(true)));
            now = self.write(job, change).await?;
            if suspends {
                self.event(Normal, "Stopped", message.to_owned());
            }
            if now.is_none() {
                break;
            }
        }
        Ok(())
    }

    async fn release(&self, workload: &Workload) -> Result<(), ReconcileError> {
        let now = (self.context.clock)();
        let status = Draft::of(workload, now).released().done();
        let written = self.context.writer.status(workload, &status).await?;
        self.context.metrics.released(workload, now);
        self.context.world.saw_workload(written);
        Ok(())
    }

    async fn set_priority(&self, workload: &Workload) -> Result<(), ReconcileError> {
        let Some(priority) = priority::of(self.job, &self.context.world.stores) else {
            return Ok(());
        };
        self.change(
            workload,
            json!({"spec": {"priority": priority.value, "priorityClassRef": priority.class}}),
        )
        .await?;
        self.event(
            Normal,
            "UpdatedWorkload",
            format!("Updated workload priority class: {}", workload.key()),
        );
        Ok(())
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
