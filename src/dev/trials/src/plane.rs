//! A bare control plane: etcd and an API server in one folder, on loopback, with certificates of its own and an administrator's kubeconfig.
//! Each of the two can be killed and started again on the same data. Nothing else runs: no pods start, no Job makes pods.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clusters::pki::{ADMIN, Pki};
use clusters::tools::Tools;
use exec::process::Signal;
use exec::{Child, Cmd, Grouping, RotatingLog};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;

use crate::clock;

/// How long a server may take to come up on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
const GRACE: Duration = Duration::from_secs(10);

/// etcd, an API server, and the folder they live in.
#[derive(Debug)]
pub struct Plane {
    dir: PathBuf,
    tools: Tools,
    port: u16,
    etcd: Option<Child>,
    api: Option<Child>,
}

impl Plane {
    /// Brings both up in `dir`, which is made, and waits until the API server is ready.
    ///
    /// # Errors
    /// When a file cannot be written, or a server does not come up.
    pub async fn start(tools: &Tools, dir: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(dir.join("run"))?;
        let pki = Pki::ensure(&dir.join("pki"), clock::now())?;
        let mut plane = Self {
            dir: dir.to_owned(),
            tools: tools.clone(),
            port: free_port()?,
            etcd: None,
            api: None,
        };
        fs::write(plane.kubeconfig(), kubeconfig(&pki, plane.port)?)?;
        plane.start_etcd()?;
        plane.start_api_server().await?;
        Ok(plane)
    }

    /// The administrator's kubeconfig.
    #[must_use]
    pub fn kubeconfig(&self) -> PathBuf {
        self.dir.join("admin.kubeconfig")
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A pair of a certificate and its key, for whoever has to serve TLS without being checked.
    #[must_use]
    pub fn serving_pair(&self) -> (PathBuf, PathBuf) {
        let pki = self.dir.join("pki");
        (pki.join("apiserver.pem"), pki.join("apiserver-key.pem"))
    }

    /// A client with the administrator's rights.
    ///
    /// # Errors
    /// When the kubeconfig cannot be used.
    pub async fn client(&self) -> anyhow::Result<Client> {
        let file = Kubeconfig::read_from(self.kubeconfig())?;
        let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
        Ok(Client::try_from(config)?)
    }

    /// Starts etcd on the data that is there.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start_etcd(&mut self) -> anyhow::Result<()> {
        self.etcd = Some(self.spawn("etcd", &self.server(&self.tools.etcd).args(ETCD))?);
        Ok(())
    }

    /// Starts the API server and waits until it is ready.
    ///
    /// # Errors
    /// When it does not come up in time.
    pub async fn start_api_server(&mut self) -> anyhow::Result<()> {
        let server = self.server(&self.tools.kube_apiserver).args(API_SERVER);
        let server = server.arg(format!("--secure-port={}", self.port));
        self.api = Some(self.spawn("kube-apiserver", &server)?);
        let client = self.client().await?;
        let ready = async {
            while !is_ready(&client).await {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let came_up = tokio::time::timeout(PATIENCE, ready).await;
        came_up.with_context(|| format!("the API server is not ready; see {}", self.dir.display()))
    }

    /// Kills etcd without warning.
    ///
    /// # Errors
    /// When it cannot be reaped.
    pub async fn kill_etcd(&mut self) -> anyhow::Result<()> {
        kill(&mut self.etcd).await
    }

    /// Kills the API server without warning.
    ///
    /// # Errors
    /// When it cannot be reaped.
    pub async fn kill_api_server(&mut self) -> anyhow::Result<()> {
        kill(&mut self.api).await
    }

    /// The processes, to stop them for a while or to look at what they cost.
    #[must_use]
    pub fn pids(&self) -> [Option<u32>; 2] {
        [self.etcd.as_ref(), self.api.as_ref()].map(|child| child.map(Child::pid))
    }

    /// Stops both.
    ///
    /// # Errors
    /// When one cannot be reaped.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        for child in [&mut self.api, &mut self.etcd] {
            if let Some(mut child) = child.take() {
                child.stop(GRACE).await?;
            }
        }
        Ok(())
    }

    fn server(&self, program: &Path) -> Cmd {
        Cmd::new(program)
            .cwd(self.dir.join("run"))
            .env_clear()
            .env("HOME", self.dir.join("run"))
            .env("PATH", "/usr/bin:/bin")
    }

    fn spawn(&self, name: &str, command: &Cmd) -> anyhow::Result<Child> {
        let log = RotatingLog::new(self.dir.join(format!("{name}.log")));
        Ok(command.spawn(Grouping::Own, Some(log))?)
    }
}

async fn kill(child: &mut Option<Child>) -> anyhow::Result<()> {
    if let Some(mut child) = child.take() {
        child.signal(Signal::KILL).await;
        child.wait().await?;
    }
    Ok(())
}

async fn is_ready(client: &Client) -> bool {
    let Ok(request) = http::Request::get("/readyz").body(Vec::new()) else {
        return false;
    };
    client.request_text(request).await.is_ok()
}

/// A port that nobody listens on at this moment.
///
/// # Errors
/// When there is none.
pub fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// JSON is YAML, and needs no care with quotes.
fn kubeconfig(pki: &Pki, port: u16) -> anyhow::Result<String> {
    let path = |name: String| pki.file(&name);
    let cluster = json!({ "server": format!("https://127.0.0.1:{port}"), "certificate-authority": path("ca.pem".to_owned()) });
    let user = json!({
        "client-certificate": path(format!("{}.pem", ADMIN.file)),
        "client-key": path(format!("{}-key.pem", ADMIN.file)),
    });
    let kubeconfig = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "trial", "cluster": cluster }],
        "users": [{ "name": "admin", "user": user }],
        "contexts": [{ "name": "trial", "context": { "cluster": "trial", "user": "admin" } }],
        "current-context": "trial",
    });
    Ok(serde_json::to_string_pretty(&kubeconfig)?)
}

const ETCD: &[&str] = &[
    "--name=trial",
    "--data-dir=../etcd",
    "--listen-client-urls=unix://etcd.sock",
    "--advertise-client-urls=unix://etcd.sock",
    "--listen-peer-urls=unix://peer.sock",
    "--initial-advertise-peer-urls=unix://peer.sock",
    "--initial-cluster=trial=unix://peer.sock",
    "--unsafe-no-fsync",
    "--log-level=warn",
];

/// As the reference's harness starts its own: no service accounts, room for many requests.
const API_SERVER: &[&str] = &[
    "--etcd-servers=unix://etcd.sock",
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    "--endpoint-reconciler-type=none",
    "--authorization-mode=RBAC",
    "--disable-admission-plugins=ServiceAccount",
    "--service-cluster-ip-range=10.96.0.0/16",
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    "--service-account-key-file=../pki/sa.pub",
    "--service-account-signing-key-file=../pki/sa.key",
    "--client-ca-file=../pki/ca.pem",
    "--tls-cert-file=../pki/apiserver.pem",
    "--tls-private-key-file=../pki/apiserver-key.pem",
    "--max-requests-inflight=800",
    "--max-mutating-requests-inflight=400",
    "--shutdown-delay-duration=0s",
];
