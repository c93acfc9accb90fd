//! Carries out what was decided about one Workload: writes here through our own client, there through that of the worker cluster.

use std::collections::BTreeMap;

use cache::Draft;
use kueue_api::conditions::reasons;
use kueue_api::names::gates;
use kueue_api::v1beta2::{AdmissionCheckState, Workload, WorkloadStatus};
use serde_json::{Value, json};

use super::Settings;
use super::decide::{Act, Answer, Tone, answered, opened};
use super::worker::{self, Worker};
use crate::context::Context;
use crate::error::ReconcileError;
use crate::events::Kind;
use crate::key::Key;
use crate::write::WriteError;

const REPORTER: &str = "kueue-multikueue";

/// One look at one Workload.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    pub(super) context: &'a Context,
    pub(super) settings: &'a Settings,
    pub(super) workload: &'a Workload,
    pub(super) check: &'a AdmissionCheckState,
}

impl Pass<'_> {
    /// Does one thing after the other. A cluster that cannot be given the Workload does not keep it from the others.
    pub(super) async fn carry_out(
        &self,
        acts: Vec<Act>,
        workers: Option<&BTreeMap<String, Worker>>,
    ) -> Result<(), ReconcileError> {
        let mut failed = None;
        for act in acts {
            let (cluster, offers) = match &act {
                Act::Offer(cluster, _) => (cluster.clone(), true),
                Act::Remove(cluster)
                | Act::Respecify(cluster, _)
                | Act::OpenGate(cluster)
                | Act::Deactivate(cluster, _)
                | Act::ChangeJob(cluster, ..)
                | Act::CreateJob(cluster, _) => (cluster.clone(), false),
                _ => {
                    self.here(act, workers).await?;
                    continue;
                }
            };
            let Some(worker) = workers.and_then(|workers| workers.get(&cluster)) else {
                continue;
            };
            match self.there(act, worker).await {
                Ok(()) if offers => self.count_offer(&cluster),
                Ok(()) => {}
                Err(source) => {
                    let error = ReconcileError::Cluster { cluster, source };
                    if !offers {
                        return Err(error);
                    }
                    failed.get_or_insert(error);
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }

    async fn there(&self, act: Act, worker: &Worker) -> Result<(), WriteError> {
        let now = (self.context.clock)();
        match act {
            Act::Remove(_) => worker.remove().await,
            Act::Offer(_, copy) => worker.offer(&copy).await,
            Act::Respecify(_, spec) => {
                let (class, priority) = (spec.priority_class_ref, spec.priority);
                let patch = json!({"spec": {"priority": priority, "priorityClassRef": class}});
                worker.change(patch).await
            }
            Act::ChangeJob(_, name, patch) => worker.change_job(&name, patch).await,
            Act::OpenGate(_) => {
                let open = |copy: &Workload| {
                    opened(
                        copy.status.clone().unwrap_or_default(),
                        gates::MULTIKUEUE,
                        now,
                    )
                };
                worker.status(open).await
            }
            Act::Deactivate(_, words) => {
                let cause = reasons::EVICTED_ON_MANAGER_CLUSTER;
                worker
                    .status(|copy| Draft::of(copy, now).targeted(cause, &words).done())
                    .await
            }
            Act::CreateJob(_, object) => worker.create(object).await,
            _ => Ok(()),
        }
    }

    async fn here(
        &self,
        act: Act,
        workers: Option<&BTreeMap<String, Worker>>,
    ) -> Result<(), ReconcileError> {
        let now = (self.context.clock)();
        let status = || self.workload.status.clone().unwrap_or_default();
        match act {
            Act::JobStatus(name, status) => {
                let worker = workers.and_then(|workers| workers.values().next());
                if let Some(worker) = worker {
                    self.job_status(worker, &name, status).await?;
                }
            }
            Act::Finish { reason, message } => {
                let draft = Draft::of(self.workload, now);
                self.write(draft.finished(&reason, &message).done()).await?;
            }
            Act::Nominate(clusters) => {
                let status = WorkloadStatus {
                    nominated_cluster_names: clusters,
                    ..status()
                };
                self.write(status).await?;
            }
            Act::Round => {
                let key = Key::of(&self.workload.metadata);
                self.context.world.handed.began(key, now);
            }
            Act::Answer(answer) => {
                let before = status();
                let status = answered(before.clone(), &self.check.name, &answer, now);
                if status != before {
                    self.write(status).await?;
                }
                self.tell(&answer);
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes the status of the Workload here, unless somebody else did meanwhile.
    async fn write(&self, status: WorkloadStatus) -> Result<(), ReconcileError> {
        let key = Key::of(&self.workload.metadata);
        let _right = self.context.world.locks.hold([key]).await;
        let written = self.context.writer.status(self.workload, &status).await?;
        self.context.world.saw_workload(written);
        Ok(())
    }

    /// Gives the job here the state of its copy.
    async fn job_status(
        &self,
        worker: &Worker,
        name: &str,
        status: Value,
    ) -> Result<(), ReconcileError> {
        let resource = worker::resource(worker.adapter);
        let key = Key::new(self.workload.namespace(), name);
        let Some(job) = self.context.writer.find_job(&resource, &key).await? else {
            return Ok(());
        };
        let before = job.data.get("status").cloned().unwrap_or_else(|| json!({}));
        let Some(change) = jobs::merge::between(&before, &status) else {
            return Ok(());
        };
        let version = job.metadata.resource_version.as_deref();
        let patch = json!({"status": change});
        self.context
            .writer
            .job(&resource, &key, version, patch, true)
            .await?;
        Ok(())
    }

    fn tell(&self, answer: &Answer) {
        let kind = match answer.event {
            Some(Tone::Normal) => Kind::Normal,
            Some(Tone::Warning) => Kind::Warning,
            None => return,
        };
        let note = answer.message.clone();
        self.context
            .event(self.workload, REPORTER, kind, "MultiKueue", note);
        if let Some(cluster) = &answer.cluster
            && self.check.state != answer.state
        {
            let queue = self.cluster_queue();
            self.context.metrics.admitted_elsewhere(queue, cluster);
        }
    }

    fn count_offer(&self, cluster: &str) {
        let queue = self.cluster_queue();
        self.context.metrics.dispatched(queue, cluster);
    }

    fn cluster_queue(&self) -> &str {
        let status = self.workload.status.as_ref();
        let admission = status.and_then(|status| status.admission.as_ref());
        admission.map_or("", |admission| &admission.cluster_queue)
    }
}
