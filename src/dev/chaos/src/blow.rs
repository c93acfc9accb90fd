//! What is done to the control plane, the controller and the network between them.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use kueue_api::v1beta2::Workload;
use simulator::random::Chance;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use trials::plane::{Part, Plane};

use crate::manager::Manager;
use crate::proxy::Proxy;
use crate::seen::Seen;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Blow {
    KillController,
    /// Once a Workload is told to leave, and before it gives its quota back.
    KillControllerBetweenTwoWrites,
    KillApiServer,
    KillEtcd,
    PauseController,
    PauseApiServer,
    PauseEtcd,
    PauseNetwork,
    CutNetwork,
}

const ALL: &[Blow] = &[
    Blow::KillController,
    Blow::KillControllerBetweenTwoWrites,
    Blow::KillControllerBetweenTwoWrites,
    Blow::KillApiServer,
    Blow::KillEtcd,
    Blow::PauseController,
    Blow::PauseApiServer,
    Blow::PauseEtcd,
    Blow::PauseNetwork,
    Blow::CutNetwork,
];

impl Blow {
    pub(crate) fn any(chance: &mut Chance) -> Self {
        ALL.get(chance.below(ALL.len()))
            .copied()
            .unwrap_or(Self::KillController)
    }
}

/// Whom they hit.
pub(crate) struct Targets {
    pub(crate) plane: Plane,
    /// To the API server itself, not through the proxy.
    pub(crate) client: Client,
    pub(crate) manager: Manager,
    pub(crate) proxy: Proxy,
}

impl Targets {
    /// Deals it, and lets everything run again. Returns whether it hit between two writes of an eviction.
    pub(crate) async fn deal(
        &mut self,
        blow: Blow,
        chance: &mut Chance,
        seen: &mut watch::Receiver<Arc<Seen>>,
    ) -> anyhow::Result<bool> {
        let mut between = false;
        let span = millis(chance, 200, 3_000);
        match blow {
            Blow::KillController => self.kill_controller(chance).await?,
            Blow::KillControllerBetweenTwoWrites => {
                let evicted = seen.wait_for(|seen| seen.workloads.iter().any(is_leaving));
                between = timeout(Duration::from_secs(4), evicted).await.is_ok();
                self.kill_controller(chance).await?;
            }
            Blow::KillApiServer => self.kill(Part::ApiServer, span).await?,
            Blow::KillEtcd => self.kill(Part::Etcd, span).await?,
            Blow::PauseController => {
                self.manager.pause().await;
                sleep(span).await;
                self.manager.proceed().await;
            }
            Blow::PauseApiServer => self.pause(Part::ApiServer, span).await,
            Blow::PauseEtcd => self.pause(Part::Etcd, span).await,
            Blow::PauseNetwork => {
                self.proxy.pause();
                sleep(span).await;
                if chance.once_in(2) {
                    self.proxy.cut();
                }
                self.proxy.proceed();
            }
            Blow::CutNetwork => {
                for _ in 0..chance.between(1, 4) {
                    self.proxy.cut();
                    sleep(millis(chance, 50, 500)).await;
                }
            }
        }
        self.plane.ready().await?;
        self.manager.ready().await?;
        Ok(between)
    }

    /// Now and then once more while it starts.
    async fn kill_controller(&mut self, chance: &mut Chance) -> anyhow::Result<()> {
        loop {
            self.manager.kill().await?;
            sleep(millis(chance, 0, 1_000)).await;
            self.manager.revive()?;
            if !chance.once_in(3) {
                return Ok(());
            }
            sleep(millis(chance, 0, 2_000)).await;
        }
    }

    async fn kill(&mut self, part: Part, span: Duration) -> anyhow::Result<()> {
        self.plane.kill(part).await?;
        sleep(span).await;
        self.plane.start(part)
    }

    async fn pause(&mut self, part: Part, span: Duration) {
        self.plane.pause(part).await;
        sleep(span).await;
        self.plane.proceed(part).await;
    }
}

/// Told to leave, and holding its quota.
pub(crate) fn is_leaving(workload: &Workload) -> bool {
    workload.is_evicted() && workload.has_quota_reservation() && !workload.is_finished()
}

/// Some time between two lengths.
pub(crate) fn millis(chance: &mut Chance, least: usize, most: usize) -> Duration {
    Duration::from_millis(u64::try_from(chance.between(least, most)).unwrap_or_default())
}
