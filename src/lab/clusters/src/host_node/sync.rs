//! Watches the pods bound to the host node and keeps one runner for each.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, ResourceExt as _};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::{Context, NODE_NAME, runner};

/// A little more than the node offers to the scheduler.
const MOST_PODS: usize = 24;

/// What a runner hears about its pod.
#[derive(Debug, Clone)]
pub(super) enum News {
    /// The pod as it is now, possibly being deleted.
    Pod(Arc<Pod>),
    /// The pod is no longer in the cluster.
    Gone,
}

struct Pods {
    context: Arc<Context>,
    cancel: CancellationToken,
    by_uid: BTreeMap<String, watch::Sender<News>>,
    runners: JoinSet<String>,
    seen: Vec<String>,
}

/// Runs until cancelled, then until every runner has ended its container.
pub(super) async fn run(context: Arc<Context>, cancel: CancellationToken) {
    let api = Api::<Pod>::all(context.options.client.clone());
    let ours = watcher::Config::default().fields(&format!("spec.nodeName={NODE_NAME}"));
    let mut events = watcher(api, ours).default_backoff().boxed();
    let mut pods = Pods {
        context,
        cancel: cancel.clone(),
        by_uid: BTreeMap::new(),
        runners: JoinSet::new(),
        seen: Vec::new(),
    };
    loop {
        tokio::select! {
            () = cancel.cancelled() => break,
            event = events.next() => match event {
                Some(Ok(event)) => pods.event(event),
                Some(Err(error)) => warn!(%error, "watch the pods of the host node"),
                None => break,
            },
            Some(ended) = pods.runners.join_next() => pods.ended(ended),
        }
    }
    while pods.runners.join_next().await.is_some() {}
}

impl Pods {
    fn event(&mut self, event: watcher::Event<Pod>) {
        match event {
            watcher::Event::Init => self.seen.clear(),
            watcher::Event::InitApply(pod) => {
                self.seen.extend(pod.uid());
                self.apply(pod);
            }
            watcher::Event::Apply(pod) => self.apply(pod),
            watcher::Event::InitDone => self.forget_unseen(),
            watcher::Event::Delete(pod) => self.gone(&pod.uid().unwrap_or_default()),
        }
    }

    fn apply(&mut self, pod: Pod) {
        let Some(uid) = pod.uid() else { return };
        let pod = Arc::new(pod);
        if let Some(runner) = self.by_uid.get(&uid) {
            runner.send_replace(News::Pod(pod));
            return;
        }
        if is_over(&pod) {
            return;
        }
        // Pods that name this node themselves were never counted by the scheduler.
        let full = self.by_uid.len() >= MOST_PODS;
        let (tell, news) = watch::channel(News::Pod(pod.clone()));
        self.by_uid.insert(uid.clone(), tell);
        let run = runner::run(self.context.clone(), pod, news, self.cancel.clone(), full);
        self.runners.spawn(async move {
            run.await;
            uid
        });
    }

    /// Pods that disappeared while the watch was interrupted.
    fn forget_unseen(&mut self) {
        let seen = std::mem::take(&mut self.seen);
        let gone: Vec<String> = self
            .by_uid
            .keys()
            .filter(|uid| !seen.contains(uid))
            .cloned()
            .collect();
        gone.iter().for_each(|uid| self.gone(uid));
    }

    fn gone(&mut self, uid: &str) {
        if let Some(runner) = self.by_uid.get(uid) {
            runner.send_replace(News::Gone);
        }
    }

    fn ended(&mut self, ended: Result<String, tokio::task::JoinError>) {
        match ended {
            Ok(uid) => drop(self.by_uid.remove(&uid)),
            Err(error) => warn!(%error, "a pod's runner"),
        }
    }
}

/// A finished pod that nobody is deleting needs nothing from this node.
fn is_over(pod: &Pod) -> bool {
    let phase = pod
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed")) && pod.metadata.deletion_timestamp.is_none()
}
