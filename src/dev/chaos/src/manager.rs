//! The controller as a process. It reaches the API server through the proxy, and can be killed, started again and stopped for a while.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use exec::{Child, Cmd, Grouping, RotatingLog};
use rustix::process::Signal;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{interval, timeout};

use crate::{plane, ports};

pub(crate) struct Manager {
    command: Cmd,
    log: PathBuf,
    child: Child,
    health: u16,
}

impl Manager {
    pub(crate) async fn start(folder: &Path, program: &Path, api: u16) -> anyhow::Result<Self> {
        let health = ports::free()?;
        let file = |name: &str| folder.join(name);
        std::fs::write(file("kubeconfig"), plane::kubeconfig(api).to_string())?;
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
                if asked(self.health)
                    .await
                    .is_ok_and(|answer| answer.contains(" 200 "))
                {
                    return;
                }
            }
        };
        let waited = timeout(Duration::from_secs(180), answers).await;
        waited.context("the controller does not become ready; its log is in the folder of --keep")
    }
}

async fn asked(port: u16) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let request = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

fn configuration(health: u16) -> anyhow::Result<serde_json::Value> {
    Ok(json!({
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": "kueue-system",
        "health": {"healthProbeBindAddress": format!(":{health}")},
        "metrics": {"bindAddress": format!("127.0.0.1:{}", ports::free()?)},
        "webhook": {"port": ports::free()?},
        "visibilityServer": {"bindPort": ports::free()?},
        "leaderElection": {"leaderElect": false},
        "clientConnection": {"qps": 300, "burst": 500},
        "integrations": {"frameworks": ["batch/job"]},
    }))
}
