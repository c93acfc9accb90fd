//! The life of one pod on the host node, from its plan to its removal from the cluster.
//!
//! Decisions are in `plan`, `status`, `backoff` and `probes`; here they are carried out in order, and every wait also
//! listens to what happens to the pod.

mod prepare;
mod report;
mod running;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::Context;
use super::backoff::Backoff;
use super::logs::ContainerKey;
use super::payload::Fetched;
use super::plan::{self, PodPlan, Refusal, RestartPolicy};
use super::process::PodDir;
use super::status::{Doing, Ended, PodState};
use super::sync::News;

/// What a runner is told while it waits for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Labels or annotations changed.
    Changed,
    /// The pod is being deleted; its container has this long.
    Deleting(Duration),
    /// The pod is no longer in the cluster.
    Gone,
    /// The host node stops.
    Shutdown,
}

/// How one run of the container ended.
enum Outcome {
    Ended(Ended),
    Told(Told),
}

struct Runner {
    context: Arc<Context>,
    pod: Arc<Pod>,
    news: watch::Receiver<News>,
    cancel: CancellationToken,
    dir: PodDir,
    state: PodState,
    fetched: Fetched,
    reported: Option<serde_json::Value>,
    /// The last status could not be written and must be tried again.
    behind: bool,
}

/// Runs the pod until it is gone from the cluster or the host node stops. A node that is `full` only says so.
pub(super) async fn run(
    context: Arc<Context>,
    pod: Arc<Pod>,
    news: watch::Receiver<News>,
    cancel: CancellationToken,
    full: bool,
) {
    let dir = PodDir::new(&context.options.dir, &pod.uid().unwrap_or_default());
    let state = first_state(&pod, context.now());
    let mut runner = Runner {
        context,
        pod,
        news,
        cancel,
        dir,
        state,
        fetched: Fetched::default(),
        reported: None,
        behind: false,
    };
    let last = if full {
        runner.refuse(no_room()).await
    } else {
        runner.live().await
    };
    runner.clean();
    if let Told::Deleting(_) = last {
        runner.finish_deletion().await;
    }
}

fn no_room() -> Refusal {
    let message =
        "node plateforme runs no more pods at once; delete another one and make this one anew"
            .to_owned();
    Refusal {
        reason: "OutOfpods",
        message,
    }
}

/// Where a pod begins. One that was seen running before was left by an earlier run of the platform.
fn first_state(pod: &Pod, now: Timestamp) -> PodState {
    let container = pod.spec.as_ref().and_then(|spec| spec.containers.first());
    let before = pod
        .status
        .as_ref()
        .and_then(|status| status.container_statuses.as_ref()?.first());
    let began =
        before.and_then(|status| status.state.as_ref()?.running.as_ref()?.started_at.as_ref());
    let left = began.map(|began| Ended {
        code: 137,
        reason: "ContainerStatusUnknown",
        message: Some("the platform was stopped while the container ran".to_owned()),
        started: began.0,
        finished: now,
    });
    PodState {
        container: container
            .map(|container| container.name.clone())
            .unwrap_or_default(),
        image: container
            .and_then(|container| container.image.clone())
            .unwrap_or_default(),
        restart: RestartPolicy::Always,
        doing: Doing::Waiting {
            reason: "ContainerCreating",
            message: None,
        },
        restarts: before.map_or(0, |status| status.restart_count) + i32::from(left.is_some()),
        last: left,
        address: None,
        start: pod
            .status
            .as_ref()
            .and_then(|status| status.start_time.as_ref())
            .map_or(now, |time| time.0),
        conditions: BTreeMap::new(),
        deleting: false,
    }
}

impl Runner {
    /// Answers why it ended.
    async fn live(&mut self) -> Told {
        match plan::plan(&self.pod, &self.context.options.images) {
            Ok(plan) => {
                self.state.restart = plan.restart;
                self.runs(&plan).await
            }
            Err(refusal) => self.refuse(refusal).await,
        }
    }

    /// One run of the container after another.
    async fn runs(&mut self, plan: &PodPlan) -> Told {
        let mut backoff = Backoff::default();
        let before = self
            .pod
            .status
            .as_ref()
            .and_then(|status| status.pod_ip.as_ref()?.parse().ok());
        self.state.address = self.context.addresses.take(before);
        loop {
            let ended = match self.one_run(plan).await {
                Outcome::Ended(ended) => ended,
                Outcome::Told(told) => return told,
            };
            let again = plan.restart.restarts(ended.code);
            self.state.doing = Doing::Ended(ended.clone());
            self.report().await;
            if !again {
                return self.until_over().await;
            }
            let ran = ended.finished.duration_since(ended.started).unsigned_abs();
            self.state.last = Some(ended);
            if let Some(told) = self.back_off(plan, backoff.wait_after(ran)).await {
                return told;
            }
            self.state.restarts += 1;
        }
    }

    async fn back_off(&mut self, plan: &PodPlan, wait: Duration) -> Option<Told> {
        if wait.is_zero() {
            return None;
        }
        let name = &plan.container.name;
        let message = format!(
            "back-off {} s restarting failed container {name} of pod {}",
            wait.as_secs(),
            self.pod.name_any()
        );
        self.event_warning("BackOff", message.clone()).await;
        self.state.doing = Doing::Waiting {
            reason: "CrashLoopBackOff",
            message: Some(message),
        };
        self.report().await;
        self.pause(wait).await
    }

    /// The pod cannot run here: say so, and wait until somebody deletes it.
    async fn refuse(&mut self, refusal: Refusal) -> Told {
        let Refusal { reason, message } = refusal;
        self.event_warning("Failed", message.clone()).await;
        self.state.doing = Doing::Waiting {
            reason,
            message: Some(message),
        };
        self.report().await;
        self.until_over().await
    }

    /// Nothing left to do but to notice the end of the pod.
    async fn until_over(&mut self) -> Told {
        loop {
            match self.pause(Duration::from_secs(3600)).await {
                None | Some(Told::Changed) => {}
                Some(told) => return told,
            }
        }
    }

    /// Waits, unless something happens that ends the pod; writes the status again if that failed before.
    async fn pause(&mut self, wait: Duration) -> Option<Told> {
        let until = tokio::time::Instant::now() + wait;
        loop {
            tokio::select! {
                told = self.told() => match told {
                    Told::Changed => {}
                    told => return Some(told),
                },
                () = tokio::time::sleep_until(until) => return None,
                () = tokio::time::sleep(report::TRY_AGAIN), if self.behind => self.report().await,
            }
        }
    }

    /// The next thing that happens to the pod. Ends only with news; a deletion is told as often as asked.
    async fn told(&mut self) -> Told {
        if let Some(told) = self.already_told() {
            return told;
        }
        tokio::select! {
            () = self.cancel.cancelled() => Told::Shutdown,
            changed = self.news.changed() => match changed {
                Ok(()) => self.already_told().unwrap_or(Told::Changed),
                Err(_) => Told::Shutdown,
            },
        }
    }

    fn already_told(&mut self) -> Option<Told> {
        match &*self.news.borrow() {
            News::Gone => Some(Told::Gone),
            News::Pod(pod) => {
                self.pod = pod.clone();
                let grace = pod
                    .metadata
                    .deletion_grace_period_seconds
                    .and_then(|grace| u64::try_from(grace).ok());
                pod.metadata
                    .deletion_timestamp
                    .as_ref()
                    .map(|_| Told::Deleting(Duration::from_secs(grace.unwrap_or(30))))
            }
        }
    }

    fn key(&self) -> ContainerKey {
        (
            self.pod.namespace().unwrap_or_default(),
            self.pod.name_any(),
            self.state.container.clone(),
        )
    }

    /// Removes what the pod had on this machine.
    fn clean(&mut self) {
        if let Some(address) = self.state.address.take() {
            self.context.options.routes.remove_pod(address);
            self.context.addresses.release(address);
        }
        self.context.logs.forget(&self.key());
        match self.dir.remove() {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                warn!(%error, "remove the folder of a pod");
            }
            _ => {}
        }
    }
}
