//! The controller as a process. It reaches the API server through the proxy, and can be killed, started again and stopped for a while.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use exec::process::Signal;
use exec::{Child, Cmd, Grouping, RotatingLog};
use serde_json::json;
use tokio::time::{interval, timeout};
use trials::manager::is_ready;
use trials::plane::{Plane, free_port};

pub(crate) struct Manager {
    command: Cmd,
    log: PathBuf,
    child: Child,
    health: u16,
}

impl Manager {
    /// Starts it with a way to the API server that leads through `port`.
    pub(crate) async fn start(
        folder: &Path,
        program: &Path,
        plane: &Plane,
        port: u16,
    ) -> anyhow::Result<Self> {
        let health = free_port()?;
        let file = |name: &str| folder.join(name);
        std::fs::write(file("kubeconfig"), plane.kubeconfig_through(port)?)?;
        std::fs::write(file("config.yaml"), configuration(health)?.to_string())?;
        let command = Cmd::new(program).args([
            format!("--config={}", file("config.yaml").display()),
            format!("--kubeconfig={}", file("kubeconfig").display()),
        ]);
        let command = command.env("POD_NAMESPACE", "kueue-system").cwd(folder);
        let log = file("manager.log");
        let child = command.spawn(Grouping::Own, Some(RotatingLog::new(&log)))?;
        let manager = Self {
            command,
            log,
            child,
            health,
        };
        manager.ready().await?;
        Ok(manager)
    }

    pub(crate) async fn kill(&mut self) -> anyhow::Result<()> {
        self.child.signal(Signal::KILL).await;
        self.child.wait().await?;
        Ok(())
    }

    pub(crate) fn revive(&mut self) -> anyhow::Result<()> {
        let log = RotatingLog::new(&self.log);
        self.child = self.command.spawn(Grouping::Own, Some(log))?;
        Ok(())
    }

    pub(crate) async fn pause(&self) {
        self.child.signal(Signal::STOP).await;
    }

    pub(crate) async fn proceed(&self) {
        self.child.signal(Signal::CONT).await;
    }

    /// Whether it ended by itself, which it never may.
    pub(crate) async fn has_ended(&mut self) -> bool {
        timeout(Duration::from_millis(1), self.child.wait())
            .await
            .is_ok()
    }

    pub(crate) async fn ready(&self) -> anyhow::Result<()> {
        let answers = async {
            let mut ticks = interval(Duration::from_millis(200));
            loop {
                ticks.tick().await;
                if is_ready(self.health).await {
                    return;
                }
            }
        };
        let waited = timeout(Duration::from_secs(180), answers).await;
        waited.context("the controller does not become ready; its log is in the folder of --keep")
    }
}

fn configuration(health: u16) -> anyhow::Result<serde_json::Value> {
    Ok(json!({
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": "kueue-system",
        "health": {"healthProbeBindAddress": format!(":{health}")},
        "metrics": {"bindAddress": format!("127.0.0.1:{}", free_port()?)},
        "webhook": {"port": free_port()?},
        "visibilityServer": {"bindPort": free_port()?},
        "leaderElection": {"leaderElect": false},
        "clientConnection": {"qps": 300, "burst": 500},
        "integrations": {"frameworks": ["batch/job"]},
    }))
}
