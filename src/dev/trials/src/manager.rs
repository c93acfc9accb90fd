//! Either controller as a plain process on a plane, with the same configuration file, and what it has cost.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use exec::process::Signal;
use exec::{Child, Cmd, Grouping, RotatingLog};
use serde_json::{Value, json};

use crate::plane::{Plane, free_port};

const PATIENCE: Duration = Duration::from_secs(60);
/// Linux counts processor time in hundredths of a second.
const TICKS: f64 = 100.0;

/// Their manager looks for the certificate of its metrics at one place only, when certificates are given from outside. Here it finds it there,
/// in an `/etc` that nobody else sees; its process keeps its number.
const OWN_ETC: &str = "mount -t tmpfs tmpfs /etc && mkdir -p /etc/kueue/metrics/certs \
    && cp \"$1/tls.crt\" \"$1/tls.key\" /etc/kueue/metrics/certs/ && shift && exec \"$@\"";

/// What a process has cost so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Processor seconds, the kernel's for it included.
    pub cpu: f64,
    /// The most memory it ever held, in MB.
    pub memory: f64,
}

/// A controller that runs.
#[derive(Debug)]
pub struct Manager {
    child: Child,
    log: PathBuf,
}

impl Manager {
    /// Starts `program` with a configuration that leaves out what a bare plane cannot serve: no webhooks are registered, nobody elects.
    ///
    /// # Errors
    /// When a file cannot be written or the program does not become ready.
    pub async fn start(plane: &Plane, program: &Path, settings: &Settings) -> anyhow::Result<Self> {
        let dir = plane.dir().join("manager");
        fs::create_dir_all(&dir)?;
        let (certificate, key) = plane.serving_pair();
        fs::copy(certificate, dir.join("tls.crt"))?;
        fs::copy(key, dir.join("tls.key"))?;
        let health = free_port()?;
        let file = settings.write(&dir, health)?;
        let log = dir.join("manager.log");
        let command = match settings.own_etc {
            true => Cmd::new("unshare")
                .args(["-rm", "sh", "-c", OWN_ETC, "sh"])
                .arg(&dir)
                .arg(program),
            false => Cmd::new(program),
        };
        let child = command
            .arg(format!("--config={}", file.display()))
            .args(&settings.arguments)
            .env("KUBECONFIG", plane.kubeconfig())
            .spawn(Grouping::Own, Some(RotatingLog::new(&log)))?;
        let mut manager = Self { child, log };
        manager.ready(health).await?;
        Ok(manager)
    }

    async fn ready(&mut self, port: u16) -> anyhow::Result<()> {
        let until = async {
            while !is_ready(port).await {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::select! {
            () = until => Ok(()),
            status = self.child.wait() => bail!("the manager ended with {}; see {}", status?, self.log.display()),
            () = tokio::time::sleep(PATIENCE) => bail!("the manager is not ready; see {}", self.log.display()),
        }
    }

    /// What it has cost so far.
    ///
    /// # Errors
    /// When it has ended.
    pub fn cost(&self) -> anyhow::Result<Cost> {
        cost(self.child.pid())
    }

    /// The process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Kills it without warning.
    ///
    /// # Errors
    /// When it cannot be reaped.
    pub async fn kill(mut self) -> anyhow::Result<()> {
        self.child.signal(Signal::KILL).await;
        self.child.wait().await?;
        Ok(())
    }

    /// Stops it.
    ///
    /// # Errors
    /// When it cannot be reaped.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        self.child.stop(Duration::from_secs(20)).await?;
        Ok(())
    }
}

/// What differs between trials.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Requests a second that the manager's client may send, and at once.
    pub qps: u32,
    pub burst: u32,
    /// More fields of the configuration, merged over it.
    pub more: Value,
    /// More command-line arguments.
    pub arguments: Vec<String>,
    /// Whether it is theirs, which needs a file in `/etc`.
    pub own_etc: bool,
}

impl Settings {
    /// A manager that may send as much as it wants.
    #[must_use]
    pub fn without_limit() -> Self {
        Self {
            qps: 100_000,
            burst: 100_000,
            more: json!({}),
            arguments: Vec::new(),
            own_etc: false,
        }
    }

    /// Writes the configuration file into `dir`, where the certificate is too.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, dir: &Path, health: u16) -> anyhow::Result<PathBuf> {
        let file = dir.join("config.yaml");
        let configuration = self.configuration(dir, health)?;
        fs::write(&file, serde_json::to_vec_pretty(&configuration)?)?;
        Ok(file)
    }

    fn configuration(&self, dir: &Path, health: u16) -> anyhow::Result<Value> {
        let mut configuration = json!({
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "health": { "healthProbeBindAddress": format!("127.0.0.1:{health}") },
            "metrics": { "bindAddress": "0" },
            "webhook": { "port": free_port()?, "certDir": dir },
            "leaderElection": { "leaderElect": false },
            "controller": { "groupKindConcurrency": {
                "Job.batch": 5, "Pod": 5, "Workload.kueue.x-k8s.io": 5, "LocalQueue.kueue.x-k8s.io": 1,
                "ClusterQueue.kueue.x-k8s.io": 1, "ResourceFlavor.kueue.x-k8s.io": 1,
            } },
            "clientConnection": { "qps": self.qps, "burst": self.burst },
            "internalCertManagement": { "enable": false },
            "integrations": { "frameworks": ["batch/job"] },
        });
        merge(&mut configuration, &self.more);
        Ok(configuration)
    }
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

/// Whether the manager whose health is told on `port` is ready.
pub async fn is_ready(port: u16) -> bool {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let asked = async {
        let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await?;
        let request = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        std::io::Result::Ok(answer.starts_with("HTTP/1.1 200"))
    };
    asked.await.unwrap_or(false)
}

/// What a process has cost so far.
///
/// # Errors
/// When there is no such process.
pub fn cost(pid: u32) -> anyhow::Result<Cost> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in parentheses may hold anything; user and system time are the 12th and 13th field after it.
    let (_, fields) = stat.rsplit_once(") ").context("/proc/PID/stat")?;
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: f64 = ticks.filter_map(|one| one.parse::<f64>().ok()).sum();
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|text| text.trim().trim_end_matches(" kB").parse::<f64>().ok());
    Ok(Cost {
        cpu: ticks / TICKS,
        memory: peak.context("VmHWM")? / 1024.0,
    })
}
