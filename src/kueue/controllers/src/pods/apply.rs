//! Carries out what a pass asked for: one write after the other, each on the newest state that the ones before left.

use std::collections::BTreeMap;
use std::sync::Arc;

use jobs::pods::POD;
use k8s_openapi::api::core::v1::{ObjectReference, Pod};
use kueue_api::names::POD_FINALIZER;
use kueue_api::v1beta2::Workload;
use serde_json::json;

use super::act::{About, Act};
use super::key::of_pod;
use crate::context::{Context, regarding};
use crate::error::ReconcileError;
use crate::events::Kind::Warning;
use crate::key::Key;
use crate::write::WriteError;

const REPORTER: &str = "kueue-pod-controller";

fn about(pod: &kueue_api::ObjectMeta) -> ObjectReference {
    regarding(POD.api_version(), POD.kind, pod)
}

/// Versions that writes of this pass left, by UID.
pub(super) struct Hand<'a> {
    context: &'a Arc<Context>,
    versions: BTreeMap<String, String>,
}

impl<'a> Hand<'a> {
    pub(super) fn new(context: &'a Arc<Context>) -> Self {
        Self {
            context,
            versions: BTreeMap::new(),
        }
    }

    /// The object's metadata with the version that it has by now.
    fn newest(&self, meta: &kueue_api::ObjectMeta) -> kueue_api::ObjectMeta {
        let known = meta.uid.as_ref().and_then(|uid| self.versions.get(uid));
        kueue_api::ObjectMeta {
            resource_version: known.cloned().or_else(|| meta.resource_version.clone()),
            ..meta.clone()
        }
    }

    fn note(&mut self, meta: &kueue_api::ObjectMeta) {
        if let (Some(uid), Some(version)) = (&meta.uid, &meta.resource_version) {
            self.versions.insert(uid.clone(), version.clone());
        }
    }

    fn current(&self, workload: &Workload) -> Workload {
        Workload {
            metadata: self.newest(&workload.metadata),
            ..workload.clone()
        }
    }

    fn saw(&mut self, workload: Workload) {
        self.note(&workload.metadata);
        self.context.world.saw_workload(workload);
    }

    fn saw_pod(&mut self, pod: Pod) {
        self.note(&pod.metadata);
        let (key, uid) = (Key::of(&pod.metadata), pod.metadata.uid.clone());
        let going = pod.metadata.deletion_timestamp.is_some();
        let held = pod.metadata.finalizers.iter().flatten().count() > 0;
        let grace = pod.metadata.deletion_grace_period_seconds.unwrap_or(0);
        if going && !held && grace == 0 {
            self.context.world.lost_pod(&key, uid.as_deref());
        } else {
            self.context.world.saw_pod(pod);
        }
    }

    /// Carries out one act.
    pub(super) async fn carry_out(&mut self, act: Act) -> Result<(), ReconcileError> {
        let context = self.context;
        let writer = &context.writer;
        match act {
            Act::CreateWorkload(workload) => return self.create(&workload).await,
            Act::ChangeWorkload(workload, patch) => {
                let written = writer.workload(&self.current(&workload), patch).await?;
                self.saw(written);
            }
            Act::WriteStatus(workload, status) => {
                let written = writer.status(&self.current(&workload), &status).await?;
                self.saw(written);
            }
            Act::Reclaim(workload, pods) => {
                let written = writer.reclaimable(&workload, &pods).await?;
                self.saw(written);
            }
            Act::Release(workload) => return self.release(&workload).await,
            Act::DeleteWorkload(workload) => {
                writer.delete(&workload).await?;
                let uid = workload.metadata.uid.as_deref();
                let key = Key::of(&workload.metadata);
                context.world.lost_workload(&key, uid);
            }
            Act::Start(before, after) => return self.start(&before, &after).await,
            Act::LetGo(pod) => return self.let_go(&pod).await,
            Act::Terminate {
                pod,
                reason,
                message,
            } => return self.terminate(&pod, &reason, &message).await,
            Act::DeletePod(pod) => return self.delete(&pod).await,
            Act::CountStart {
                cluster_queue,
                grouped,
                seconds,
            } => context.metrics.ungated(
                kueue_api::names::gates::ADMISSION,
                &cluster_queue,
                grouped,
                seconds,
                &context.world.around_queue(&cluster_queue),
            ),
            Act::Event(About::Pod(pod), kind, reason, note) => {
                context.send(about(&pod.metadata), REPORTER, kind, reason, note);
            }
            Act::Event(About::Workload(workload), kind, reason, note) => {
                context.event(&*workload, REPORTER, kind, reason, note);
            }
        }
        Ok(())
    }

    async fn create(&mut self, workload: &Workload) -> Result<(), ReconcileError> {
        let context = self.context;
        match context.writer.create(workload).await {
            Ok(created) => {
                self.saw(created);
                Ok(())
            }
            Err(error) => {
                if error.is_refusal() {
                    let owners = workload.metadata.owner_references.as_deref();
                    if let Some(owner) = owners.and_then(|owners| owners.first()) {
                        let about = kueue_api::ObjectMeta {
                            name: Some(owner.name.clone()),
                            namespace: workload.metadata.namespace.clone(),
                            uid: Some(owner.uid.clone()),
                            ..kueue_api::ObjectMeta::default()
                        };
                        let (about, text) = (self::about(&about), error.to_string());
                        context.send(about, REPORTER, Warning, "ErrWorkloadCompose", text);
                    }
                }
                Err(error.into())
            }
        }
    }

    async fn release(&mut self, workload: &Workload) -> Result<(), ReconcileError> {
        let current = self.current(workload);
        let Some(written) = self.context.writer.release(&current).await? else {
            return Ok(());
        };
        if workload.metadata.deletion_timestamp.is_some() {
            let key = Key::of(&workload.metadata);
            let uid = workload.metadata.uid.as_deref();
            self.context.world.lost_workload(&key, uid);
        } else {
            self.saw(written);
        }
        Ok(())
    }

    async fn start(&mut self, before: &Pod, after: &Pod) -> Result<(), ReconcileError> {
        let json = |pod: &Pod| serde_json::to_value(pod).map_err(ReconcileError::Json);
        let Some(patch) = jobs::merge::between(&json(before)?, &json(after)?) else {
            return Ok(());
        };
        let pod = self.pod(before);
        match self
            .context
            .writer
            .namespaced(&pod, patch, "start Pod")
            .await
        {
            Ok(written) => {
                self.saw_pod(written);
                Ok(())
            }
            Err(WriteError::Gone { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn pod(&self, pod: &Pod) -> Pod {
        Pod {
            metadata: self.newest(&pod.metadata),
            ..pod.clone()
        }
    }

    /// Takes the finalizer away. Until the pod is seen without it, nothing else is cleaned up in its group.
    async fn let_go(&mut self, pod: &Pod) -> Result<(), ReconcileError> {
        let mut finalizers = pod.metadata.finalizers.clone().unwrap_or_default();
        finalizers.retain(|name| name != POD_FINALIZER);
        let patch = json!({"metadata": {"finalizers": finalizers}});
        let annotated = self.context.settings.annotated_groups();
        let (group, uid) = (
            of_pod(pod, annotated),
            pod.metadata.uid.clone().unwrap_or_default(),
        );
        let expectations = &self.context.world.stores.shelf.expectations;
        expectations.expect(&group, &uid);
        let current = self.pod(pod);
        let written = self
            .context
            .writer
            .namespaced(&current, patch, "let go Pod")
            .await;
        match written {
            Ok(written) => {
                self.saw_pod(written);
                Ok(())
            }
            Err(WriteError::Gone { .. }) => {
                expectations.observed(&group, &uid);
                Ok(())
            }
            Err(error) => {
                expectations.observed(&group, &uid);
                Err(error.into())
            }
        }
    }

    async fn terminate(
        &mut self,
        pod: &Pod,
        reason: &str,
        message: &str,
    ) -> Result<(), ReconcileError> {
        let writer = &self.context.writer;
        let told = writer
            .termination(pod, reason, message, (self.context.clock)())
            .await;
        match told {
            Ok(told) => {
                self.saw_pod(told);
                self.delete(pod).await
            }
            Err(WriteError::Gone { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn delete(&mut self, pod: &Pod) -> Result<(), ReconcileError> {
        match self.context.writer.delete_pod(pod).await? {
            Some(left) => self.saw_pod(left),
            None => {
                let key = Key::of(&pod.metadata);
                let uid = pod.metadata.uid.as_deref();
                self.context.world.lost_pod(&key, uid);
            }
        }
        Ok(())
    }
}
