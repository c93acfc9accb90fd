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
use tokio::time::{interval, timeout};

use crate::clock;

/// How long a server may take to come up on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);
/// How long one look at a server may take.
const ONE_LOOK: Duration = Duration::from_secs(5);
const GRACE: Duration = Duration::from_secs(10);

/// One of the two servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Etcd,
    ApiServer,
}

/// etcd, an API server, and the folder they live in.
#[derive(Debug)]
pub struct Plane {
    dir: PathBuf,
    tools: Tools,
    pki: Pki,
    port: u16,
    etcd: Option<Child>,
    api: Option<Child>,
}

impl Plane {
    /// Brings both up in `dir`, which is made, and waits until the API server is ready.
    ///
    /// # Errors
    /// When a file cannot be written, or a server does not come up.
    pub async fn open(tools: &Tools, dir: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(dir.join("run"))?;
        let pki = Pki::ensure(&dir.join("pki"), clock::now())?;
        let mut plane = Self {
            dir: dir.to_owned(),
            tools: tools.clone(),
            pki,
            port: free_port()?,
            etcd: None,
            api: None,
        };
        fs::write(plane.kubeconfig(), plane.kubeconfig_through(plane.port)?)?;
        plane.start(Part::Etcd)?;
        plane.start(Part::ApiServer)?;
        plane.ready().await?;
        Ok(plane)
    }

    /// The administrator's kubeconfig.
    #[must_use]
    pub fn kubeconfig(&self) -> PathBuf {
        self.dir.join("admin.kubeconfig")
    }

    /// The administrator's kubeconfig for a port that leads to the API server. JSON is YAML, and needs no care with quotes.
    ///
    /// # Errors
    /// When it cannot be written as text.
    pub fn kubeconfig_through(&self, port: u16) -> anyhow::Result<String> {
        let path = |name: String| self.pki.file(&name);
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

    /// The API server's port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
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

    /// Starts one of the two on the data that is there; [`ready`](Self::ready) waits for both.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(&mut self, part: Part) -> anyhow::Result<()> {
        let child = match part {
            Part::Etcd => self.spawn("etcd", &self.server(&self.tools.etcd).args(ETCD)),
            Part::ApiServer => {
                let server = self.server(&self.tools.kube_apiserver).args(API_SERVER);
                let server = server.arg(format!("--secure-port={}", self.port));
                self.spawn("kube-apiserver", &server)
            }
        };
        *self.part(part) = Some(child?);
        Ok(())
    }

    /// Waits until the API server answers, and through it etcd.
    ///
    /// # Errors
    /// When it does not come up in time.
    pub async fn ready(&self) -> anyhow::Result<()> {
        let client = self.client().await?;
        let ready = async {
            let mut looks = interval(Duration::from_millis(100));
            loop {
                looks.tick().await;
                // Asked of a server that stands still, a look would never end.
                let look = timeout(ONE_LOOK, is_ready(&client)).await;
                if look.unwrap_or(false) {
                    return;
                }
            }
        };
        let came_up = timeout(PATIENCE, ready).await;
        came_up.with_context(|| format!("the API server is not ready; see {}", self.dir.display()))
    }

    /// One of the two stands still: whoever talks to it waits.
    pub async fn pause(&mut self, part: Part) {
        self.signal(part, Signal::STOP).await;
    }

    /// It goes on.
    pub async fn proceed(&mut self, part: Part) {
        self.signal(part, Signal::CONT).await;
    }

    async fn signal(&mut self, part: Part, signal: Signal) {
        if let Some(child) = self.part(part) {
            child.signal(signal).await;
        }
    }

    fn part(&mut self, part: Part) -> &mut Option<Child> {
        match part {
            Part::Etcd => &mut self.etcd,
            Part::ApiServer => &mut self.api,
        }
    }

    /// Kills one of the two without warning.
    ///
    /// # Errors
    /// When it cannot be reaped.
    pub async fn kill(&mut self, part: Part) -> anyhow::Result<()> {
        if let Some(mut child) = self.part(part).take() {
            child.signal(Signal::KILL).await;
            child.wait().await?;
        }
        Ok(())
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
