//! What the API holds, read again and again. Each reading is shown to the actor and to the judge; whoever waits for something watches it.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use kube::api::ListParams;
use kube::{Api, Client};
use kueue_api::v1beta2::Workload;
use tokio::sync::{mpsc, watch};
use tokio::time::{interval, timeout};

use crate::actor::Actor;
use crate::judge;
use crate::load::Load;

/// How often.
pub(crate) const EVERY: Duration = Duration::from_millis(250);

/// One reading. All Workloads are of one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) jobs: Vec<Job>,
    pub(crate) workloads: Vec<Workload>,
}

/// Reads once.
pub(crate) async fn look(client: &Client) -> anyhow::Result<Seen> {
    let jobs: Api<Job> = Api::namespaced(client.clone(), "default");
    let workloads: Api<Workload> = Api::namespaced(client.clone(), "default");
    let all = ListParams::default();
    let (jobs, workloads) = timeout(Duration::from_secs(5), async {
        Ok::<_, kube::Error>((jobs.list(&all).await?, workloads.list(&all).await?))
    })
    .await??;
    Ok(Seen {
        jobs: jobs.items,
        workloads: workloads.items,
    })
}

/// Reads for ever. Readings that fail, because somebody was killed, are left out.
pub(crate) fn keep_looking(
    client: Client,
    load: Arc<Load>,
    mut actor: Actor,
    violations: mpsc::UnboundedSender<String>,
) -> watch::Receiver<Arc<Seen>> {
    let (show, shown) = watch::channel(Arc::new(Seen::default()));
    tokio::spawn(async move {
        let mut ticks = interval(EVERY);
        loop {
            ticks.tick().await;
            let Ok(seen) = look(&client).await else {
                continue;
            };
            for violation in judge::never(&load, &seen) {
                let _ = violations.send(violation);
            }
            actor.act(&seen).await;
            show.send_replace(Arc::new(seen));
        }
    });
    shown
}
