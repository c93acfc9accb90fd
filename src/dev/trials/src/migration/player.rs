//! Plays the Job controller and the kubelets: whoever may run has pods, whoever is suspended loses them, and when it is time everybody ends.
//! It plays until nothing changes any more.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::bail;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::{Client, Resource, ResourceExt as _};
use kueue_api::v1beta2::{ClusterQueue, LocalQueue, Workload};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, interval};

use super::load::SUCCEEDED;
use crate::clock::stamp;
use crate::endings::complete;

const LOOK: Duration = Duration::from_millis(150);
/// Longer than any pause that either controller makes between two steps here.
const QUIET: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(120);

pub(super) struct Player {
    client: Client,
    jobs: Api<Job>,
    pods: Api<Pod>,
    /// Whether those end that are to end before the change.
    early: bool,
    /// Whether everybody who runs ends.
    pub(super) finishing: bool,
}

impl Player {
    pub(super) fn new(client: &Client, early: bool) -> Self {
        Self {
            client: client.clone(),
            jobs: Api::default_namespaced(client.clone()),
            pods: Api::default_namespaced(client.clone()),
            early,
            finishing: false,
        }
    }

    /// Plays until no object has changed for a while.
    pub(super) async fn settle(&mut self) -> anyhow::Result<()> {
        let began = Instant::now();
        let (mut since, mut before) = (began, BTreeMap::new());
        let mut looks = interval(LOOK);
        while since.elapsed() < QUIET {
            looks.tick().await;
            self.act().await?;
            let now = self.versions().await?;
            if now != before {
                (since, before) = (Instant::now(), now);
            }
            if began.elapsed() > PATIENCE {
                bail!("never quiet: objects still change");
            }
        }
        Ok(())
    }

    async fn act(&self) -> anyhow::Result<()> {
        for job in self.jobs.list(&ListParams::default()).await?.items {
            if let Some(status) = self.job(&job) {
                let name = job.name_any();
                write(&self.jobs, &name, &status).await?;
            }
        }
        for pod in self.pods.list(&ListParams::default()).await?.items {
            if let Some(status) = self.pod(&pod) {
                write(&self.pods, &pod.name_any(), &status).await?;
            }
        }
        Ok(())
    }

    /// The status that a Job has to have now, if another one.
    fn job(&self, job: &Job) -> Option<Value> {
        let status = job.status.clone().unwrap_or_default();
        if status.completion_time.is_some() {
            return None;
        }
        let spec = job.spec.clone().unwrap_or_default();
        let pods = spec.parallelism.unwrap_or(1);
        let active = status.active.unwrap_or(0);
        if spec.suspend == Some(true) {
            return (active > 0).then(|| json!({"active": 0, "ready": 0, "startTime": null}));
        }
        let done: i32 = annotation(job.metadata.annotations.as_ref(), SUCCEEDED);
        if active == 0 {
            return Some(json!({
                "active": pods - done, "ready": pods - done, "succeeded": done, "startTime": stamp(),
            }));
        }
        let early = self.early && job.name_any() == "finished";
        (early || self.finishing).then(|| complete(pods))
    }

    fn pod(&self, pod: &Pod) -> Option<Value> {
        let spec = pod.spec.clone().unwrap_or_default();
        if spec.scheduling_gates.is_some_and(|gates| !gates.is_empty()) {
            return None;
        }
        let phase = pod.status.clone().unwrap_or_default().phase;
        let ready =
            |is: &str| json!([{"type": "Ready", "status": is, "lastTransitionTime": stamp()}]);
        match phase.as_deref() {
            Some("Pending") => Some(json!({"phase": "Running", "conditions": ready("True")})),
            Some("Running") if self.finishing => {
                Some(json!({"phase": "Succeeded", "conditions": ready("False")}))
            }
            _ => None,
        }
    }

    async fn versions(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let mut all = BTreeMap::new();
        versions::<Job>(&self.client, &mut all).await?;
        versions::<Pod>(&self.client, &mut all).await?;
        versions::<Workload>(&self.client, &mut all).await?;
        versions::<ClusterQueue>(&self.client, &mut all).await?;
        versions::<LocalQueue>(&self.client, &mut all).await?;
        Ok(all)
    }
}

async fn versions<K>(client: &Client, all: &mut BTreeMap<String, String>) -> anyhow::Result<()>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    let api = Api::<K>::all(client.clone());
    for object in api.list(&ListParams::default()).await?.items {
        let name = format!("{} {}", K::kind(&()), object.name_any());
        all.insert(name, object.resource_version().unwrap_or_default());
    }
    Ok(())
}

/// Somebody else may have been faster; the next look sees what is so.
async fn write<K>(api: &Api<K>, name: &str, status: &Value) -> anyhow::Result<()>
where
    K: Clone + DeserializeOwned + std::fmt::Debug,
{
    let patch = Patch::Merge(json!({ "status": status }));
    let parameters = PatchParams::default();
    match api.patch_status(name, &parameters, &patch).await {
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409 | 422) => Ok(()),
        other => Ok(other.map(|_| ())?),
    }
}

fn annotation(all: Option<&BTreeMap<String, String>>, key: &str) -> i32 {
    let value = all.and_then(|all| all.get(key));
    value.and_then(|value| value.parse().ok()).unwrap_or(0)
}
