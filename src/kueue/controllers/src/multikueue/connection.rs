//! One connection to one worker cluster: it is told there what becomes of our Workloads and of the copies of our jobs, so that the manager looks
//! at them again; and it clears away what is left over there. Lives until it is stopped, through any number of failures.

use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, TryStreamExt};
use jobs::multikueue::{ADAPTERS, Adapter, gvk, workload_of};
use kube::ResourceExt;
use kube::api::{Api, DynamicObject, PartialObjectMeta};
use kube::runtime::watcher::{self, Event, watcher};
use kueue_api::names::{annotations, labels};
use kueue_api::v1beta2::Workload;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::worker::{self, Worker, copies};
use super::{decide::owner, stray};
use crate::context::Context;
use crate::key::Key;

const SHORTEST_TIMEOUT: Duration = Duration::from_mins(1);
const LONGEST_TIMEOUT: Duration = Duration::from_mins(10);
const FIRST_RETRY: Duration = Duration::from_secs(5);
/// Failures after which the wait does not grow any more.
const LAST_DOUBLING: u32 = 7;

/// How long a cluster has to answer, after so many failures in a row.
#[must_use]
pub fn establish_timeout(failed: u32) -> Duration {
    let factor = 2_u32.saturating_pow(failed.min(10));
    SHORTEST_TIMEOUT.saturating_mul(factor).min(LONGEST_TIMEOUT)
}

/// How long to wait after so many failures in a row.
#[must_use]
pub fn retry(failed: u32) -> Duration {
    let doublings = failed.clamp(1, LAST_DOUBLING) - 1;
    FIRST_RETRY.saturating_mul(2_u32.saturating_pow(doublings))
}

/// Starts what a connection consists of.
pub(super) fn start(
    context: &Arc<Context>,
    name: &str,
    client: &kube::Client,
    stop: &CancellationToken,
) {
    let link = |kind: Option<&'static Adapter>| Connection {
        context: context.clone(),
        name: name.to_owned(),
        client: client.clone(),
        kind,
    };
    spawn(stop, link(None).workloads());
    for adapter in ADAPTERS {
        spawn(stop, link(Some(adapter)).jobs());
    }
    spawn(stop, link(None).collect());
}

fn spawn(stop: &CancellationToken, work: impl Future<Output = ()> + Send + 'static) {
    let stop = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = work => {}
            () = stop.cancelled() => {}
        }
    });
}

struct Connection {
    context: Arc<Context>,
    name: String,
    client: kube::Client,
    kind: Option<&'static Adapter>,
}

impl Connection {
    fn origin(&self) -> &str {
        let settings = self.context.settings.multikueue.as_ref();
        settings.map_or("", |settings| &settings.rules.origin)
    }

    fn selector(&self) -> watcher::Config {
        let selector = format!("{}={}", labels::MULTIKUEUE_ORIGIN, self.origin());
        watcher::Config::default().labels(&selector)
    }

    /// Follows our Workloads there; whether this works is whether the cluster can be reached.
    async fn workloads(self) {
        let mut failed = 0;
        loop {
            let api: Api<PartialObjectMeta<Workload>> = Api::all(self.client.clone());
            let stream = watcher(api, self.selector());
            let why = self.follow(stream, &mut failed).await;
            failed += 1;
            let wait = retry(failed);
            self.is_lost(why, failed, wait);
            tokio::time::sleep(wait).await;
        }
    }

    /// Follows a stream to its end, and says why it ended.
    async fn follow<K: ResourceExt>(
        &self,
        stream: impl Stream<Item = Result<Event<K>, watcher::Error>>,
        failed: &mut u32,
    ) -> String {
        let mut stream = std::pin::pin!(stream);
        let mut listed = false;
        loop {
            let next = stream.try_next();
            let event = if listed {
                next.await
            } else {
                match tokio::time::timeout(establish_timeout(*failed), next).await {
                    Ok(event) => event,
                    Err(_) => return "the cluster does not answer in time".to_owned(),
                }
            };
            match event {
                Ok(Some(Event::InitDone)) => {
                    (listed, *failed) = (true, 0);
                    self.is_connected();
                }
                Ok(Some(Event::Apply(copy) | Event::InitApply(copy) | Event::Delete(copy))) => {
                    self.ask(&copy.namespace().unwrap_or_default(), &copy.name_any());
                }
                Ok(Some(Event::Init)) => {}
                Ok(None) => return "the watch has ended".to_owned(),
                Err(error) => return error.to_string(),
            }
        }
    }

    /// Follows the copies of our jobs of one kind. A kind that is not installed there is asked for again later.
    async fn jobs(self) {
        let Some(adapter) = self.kind else { return };
        let mut failed = 0;
        loop {
            let resource = worker::resource(adapter);
            let api: Api<PartialObjectMeta<DynamicObject>> =
                Api::all_with(self.client.clone(), &resource);
            let mut stream = std::pin::pin!(watcher(api, self.selector()));
            loop {
                let event: Result<_, watcher::Error> = stream.try_next().await;
                match event {
                    Ok(Some(Event::Apply(job) | Event::InitApply(job) | Event::Delete(job))) => {
                        failed = 0;
                        self.ask_for(adapter, &job);
                    }
                    Ok(Some(Event::Init | Event::InitDone)) => {}
                    Ok(None) | Err(_) => break,
                }
            }
            failed += 1;
            tokio::time::sleep(retry(failed)).await;
        }
    }

    /// Asks for the Workloads of a copy.
    fn ask_for(&self, adapter: &Adapter, copy: &PartialObjectMeta<DynamicObject>) {
        let namespace = copy.namespace().unwrap_or_default();
        if adapter.has_groups() {
            let gvk = gvk(&adapter.api_version(), adapter.kind);
            let name = copy.name_any();
            let all = self.context.world.stores.workloads.list_in(&namespace);
            let its = |workload: &Workload| {
                let notes = workload.metadata.annotations.as_ref();
                let says = |key: &str, what: &str| {
                    notes.and_then(|notes| notes.get(key)).map(String::as_str) == Some(what)
                };
                says(annotations::JOB_OWNER_GVK, &gvk) && says(annotations::JOB_OWNER_NAME, &name)
            };
            for workload in all.iter().filter(|workload| its(workload)) {
                self.ask(&namespace, workload.name());
            }
            return;
        }
        let meta = json!({"metadata": copy.metadata});
        if let Some(workload) = workload_of(&meta) {
            self.ask(&namespace, workload);
        }
    }

    /// Clears away, from time to time, what belongs to nothing here.
    async fn collect(self) {
        let Some(settings) = &self.context.settings.multikueue else {
            return;
        };
        if settings.gc_interval.is_zero() {
            return;
        }
        loop {
            tokio::time::sleep(settings.gc_interval).await;
            if self.context.links.client(&self.name).is_err() {
                continue;
            }
            match copies(self.client.clone(), self.origin()).await {
                Ok(copies) => {
                    for copy in copies {
                        self.collect_one(settings, &copy).await;
                    }
                }
                Err(error) => {
                    tracing::debug!(cluster = self.name, "cannot list what is there: {error}");
                }
            }
        }
    }

    async fn collect_one(&self, settings: &super::Settings, copy: &Workload) {
        let key = Key::of(&copy.metadata);
        if !stray(self.context.world.stores.workloads.get(&key).as_deref()) {
            return;
        }
        // Without a job that we know only the Workload goes: nothing has the empty name.
        let (adapter, job) = owner(copy, &settings.rules.kinds).unwrap_or((&ADAPTERS[0], ""));
        let worker = Worker::new(self.client.clone(), settings, adapter, copy, job);
        match worker.remove().await {
            Ok(()) => tracing::info!(cluster = self.name, workload = %key, "left over, deleted"),
            Err(error) => {
                tracing::warn!(cluster = self.name, workload = %key, "left over, cannot be deleted: {error}");
            }
        }
    }

    fn ask(&self, namespace: &str, name: &str) {
        self.context
            .world
            .queues
            .handed
            .add(Key::new(namespace, name));
    }

    fn is_connected(&self) {
        if self.context.links.connected(&self.name) {
            tracing::info!(cluster = self.name, "worker cluster is connected");
            self.spread();
        }
    }

    fn is_lost(&self, why: String, failed: u32, wait: Duration) {
        let now = (self.context.clock)();
        let next = now.checked_add(wait).unwrap_or(now);
        tracing::warn!(
            cluster = self.name,
            attempt = failed,
            retry.s = wait.as_secs(),
            "worker cluster cannot be reached: {why}"
        );
        if self.context.links.lost(&self.name, now, next, why, failed) {
            self.spread();
        }
    }

    /// Everything that depends on the cluster is looked at again.
    fn spread(&self) {
        self.context
            .world
            .queues
            .clusters
            .add(Key::cluster(&self.name));
        self.context.world.ask_handed();
    }
}
