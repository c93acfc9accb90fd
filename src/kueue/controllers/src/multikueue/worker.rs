//! What one worker cluster holds of one Workload: reads and writes there. Nothing of somebody else is touched: an object counts as ours by the
//! label that names its origin.

use jobs::multikueue::{Adapter, is_of_origin, workload_of};
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use kueue_api::names::labels;
use kueue_api::v1beta2::{Workload, WorkloadStatus};
use serde_json::Value;

use super::Settings;
use super::decide::Remote;
use crate::key::Key;
use crate::write::{WriteError, Writer};

/// See the module.
#[derive(Debug)]
pub(super) struct Worker {
    writer: Writer,
    pub(super) adapter: &'static Adapter,
    origin: String,
    workload: Key,
    /// Its name; empty if nobody knows.
    job: String,
}

/// The resource of a kind.
pub(super) fn resource(adapter: &Adapter) -> ApiResource {
    let gvk = GroupVersionKind::gvk(adapter.group, adapter.version, adapter.kind);
    ApiResource::from_gvk_with_plural(&gvk, adapter.plural)
}

impl Worker {
    pub(super) fn new(
        client: kube::Client,
        settings: &Settings,
        adapter: &'static Adapter,
        workload: &Workload,
        job: &str,
    ) -> Self {
        Self {
            writer: Writer::new(client),
            adapter,
            origin: settings.rules.origin.clone(),
            workload: Key::of(&workload.metadata),
            job: job.to_owned(),
        }
    }

    /// Everything there is of it.
    pub(super) async fn read(&self) -> Result<Remote, WriteError> {
        Ok(Remote {
            workload: self.writer.find_workload(&self.workload).await?,
            jobs: self.jobs().await?,
        })
    }

    async fn jobs(&self) -> Result<Vec<Value>, WriteError> {
        let resource = resource(self.adapter);
        if self.adapter.is_pods() {
            let namespace = &self.workload.namespace;
            let selector = format!("{}={}", labels::MULTIKUEUE_ORIGIN, self.origin);
            let listed = self
                .writer
                .list_jobs(&resource, namespace, &selector)
                .await?;
            let listed = listed.into_iter().filter_map(value);
            return Ok(listed
                .filter(|pod| workload_of(pod) == Some(&self.workload.name))
                .collect());
        }
        if self.job.is_empty() {
            return Ok(Vec::new());
        }
        let key = Key::new(&self.workload.namespace, &self.job);
        let found = self.writer.find_job(&resource, &key).await?;
        Ok(found.and_then(value).into_iter().collect())
    }

    /// Deletes it: the job first, if it is our copy.
    pub(super) async fn remove(&self) -> Result<(), WriteError> {
        let resource = resource(self.adapter);
        for job in self.jobs().await? {
            if !is_of_origin(&job, &self.origin) {
                continue;
            }
            let text = |path| job.pointer(path).and_then(Value::as_str);
            let name = text("/metadata/name").unwrap_or_default();
            let key = Key::new(&self.workload.namespace, name);
            let uid = text("/metadata/uid");
            self.writer.delete_job(&resource, &key, uid).await?;
        }
        let Some(copy) = self.writer.find_workload(&self.workload).await? else {
            return Ok(());
        };
        let copy = self.writer.release(&copy).await?.unwrap_or(copy);
        self.writer.delete(&copy).await
    }

    /// Gives it the Workload. One that came into being meanwhile is looked at next time.
    pub(super) async fn offer(&self, copy: &Workload) -> Result<(), WriteError> {
        self.writer.create(copy).await.map(drop)
    }

    /// Creates the copy of the job, or of one of its pods.
    pub(super) async fn create(&self, object: Value) -> Result<(), WriteError> {
        let resource = resource(self.adapter);
        self.writer
            .create_job(&resource, &self.workload.namespace, object)
            .await
    }

    /// Changes the copy of the job.
    pub(super) async fn change_job(&self, name: &str, patch: Value) -> Result<(), WriteError> {
        let resource = resource(self.adapter);
        let key = Key::new(&self.workload.namespace, name);
        let written = self.writer.job(&resource, &key, None, patch, false).await;
        written.map(drop)
    }

    /// Changes the Workload there.
    pub(super) async fn change(&self, patch: Value) -> Result<(), WriteError> {
        match self.writer.find_workload(&self.workload).await? {
            Some(copy) => self.writer.workload(&copy, patch).await.map(drop),
            None => Ok(()),
        }
    }

    /// Changes the status of the Workload there.
    pub(super) async fn status(
        &self,
        change: impl FnOnce(&Workload) -> WorkloadStatus,
    ) -> Result<(), WriteError> {
        match self.writer.find_workload(&self.workload).await? {
            Some(copy) => self.writer.status(&copy, &change(&copy)).await.map(drop),
            None => Ok(()),
        }
    }
}

fn value(object: DynamicObject) -> Option<Value> {
    serde_json::to_value(object).ok()
}

/// The Workloads in a worker cluster that came from a manager.
pub(super) async fn copies(
    client: kube::Client,
    origin: &str,
) -> Result<Vec<Workload>, kube::Error> {
    let selector = format!("{}={origin}", labels::MULTIKUEUE_ORIGIN);
    let api: Api<Workload> = Api::all(client);
    Ok(api
        .list(&ListParams::default().labels(&selector))
        .await?
        .items)
}
