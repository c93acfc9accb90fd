//! A control plane of two processes, etcd and the API server, each of which can be killed, revived, stopped and continued.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use exec::{Child, Cmd, Grouping, RotatingLog};
use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::time::{interval, timeout};

use crate::ports;

const TOKEN: &str = "chaos";
const PATIENCE: Duration = Duration::from_secs(180);

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Etcd,
    ApiServer,
}

/// Both, and how to reach them.
pub(crate) struct Plane {
    folder: PathBuf,
    etcd: (Cmd, Child),
    api: (Cmd, Child),
    /// The API server's port.
    pub(crate) port: u16,
    pub(crate) client: Client,
}

impl Plane {
    /// Starts both and waits until the API server answers.
    pub(crate) async fn start(folder: &Path, tools: &Path) -> anyhow::Result<Self> {
        let port = ports::free()?;
        std::fs::write(
            folder.join("sa.key"),
            rcgen::KeyPair::generate()?.serialize_pem(),
        )?;
        let user = format!("{TOKEN},admin,admin,system:masters\n");
        std::fs::write(folder.join("tokens.csv"), user)?;
        let etcd = etcd(folder, &tool(tools, "etcd")?);
        let api = api_server(folder, &tool(tools, "kube-apiserver")?, port);
        let etcd_child = spawn(&etcd, folder, "etcd")?;
        let api_child = spawn(&api, folder, "apiserver")?;
        let kubeconfig: Kubeconfig = serde_json::from_value(kubeconfig(port))?;
        let options = KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options);
        let plane = Self {
            folder: folder.to_owned(),
            etcd: (etcd, etcd_child),
            api: (api, api_child),
            port,
            client: Client::try_from(config.await?)?,
        };
        plane.ready().await?;
        Ok(plane)
    }

    /// Waits until the API server answers, and through it etcd.
    pub(crate) async fn ready(&self) -> anyhow::Result<()> {
        let answers = async {
            let mut ticks = interval(Duration::from_millis(200));
            loop {
                ticks.tick().await;
                let asked = self.client.apiserver_version();
                let version = timeout(Duration::from_secs(2), asked).await;
                if version.is_ok_and(|version| version.is_ok()) && self.stores().await {
                    return;
                }
            }
        };
        let waited = timeout(PATIENCE, answers).await;
        waited.context("the API server does not become ready; its log is in the folder of --keep")
    }

    async fn stores(&self) -> bool {
        use k8s_openapi::api::core::v1::Namespace;
        let namespaces: kube::Api<Namespace> = kube::Api::all(self.client.clone());
        let asked = namespaces.get_opt("default");
        let found = timeout(Duration::from_secs(5), asked).await;
        found.is_ok_and(|found| found.is_ok_and(|found| found.is_some()))
    }

    fn part(&mut self, part: Part) -> &mut (Cmd, Child) {
        match part {
            Part::Etcd => &mut self.etcd,
            Part::ApiServer => &mut self.api,
        }
    }

    /// Ends it without a word.
    pub(crate) async fn kill(&mut self, part: Part) -> anyhow::Result<()> {
        let (_, child) = self.part(part);
        child.signal(Signal::KILL).await;
        child.wait().await?;
        Ok(())
    }

    /// Starts it again, on what it left.
    pub(crate) fn revive(&mut self, part: Part) -> anyhow::Result<()> {
        let folder = self.folder.clone();
        let (command, child) = self.part(part);
        let name = match part {
            Part::Etcd => "etcd",
            Part::ApiServer => "apiserver",
        };
        *child = spawn(command, &folder, name)?;
        Ok(())
    }

    /// It stands still: whoever talks to it waits.
    pub(crate) async fn pause(&mut self, part: Part) {
        self.part(part).1.signal(Signal::STOP).await;
    }

    /// It goes on.
    pub(crate) async fn proceed(&mut self, part: Part) {
        self.part(part).1.signal(Signal::CONT).await;
    }
}

/// How to reach an API server, or a proxy before it, as everything.
pub(crate) fn kubeconfig(port: u16) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "chaos",
        "clusters": [{"name": "chaos", "cluster": {
            "server": format!("https://127.0.0.1:{port}"),
            "insecure-skip-tls-verify": true,
        }}],
        "users": [{"name": "chaos", "user": {"token": TOKEN}}],
        "contexts": [{"name": "chaos", "context": {"cluster": "chaos", "user": "chaos"}}],
    })
}

/// `etcd-3.7.3/etcd` in the folder of tools; the last version by name.
pub(crate) fn tool(tools: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let list = std::fs::read_dir(tools);
    let list = list.with_context(|| {
        format!(
            "{} cannot be read: `cargo xtask tools` fills it",
            tools.display()
        )
    })?;
    let programs = list.filter_map(|entry| {
        let folder = entry.ok()?;
        let versions = folder
            .file_name()
            .to_str()?
            .strip_prefix(name)?
            .starts_with('-');
        Some(folder.path().join(name)).filter(|path| versions && path.exists())
    });
    match programs.max() {
        Some(path) => Ok(path),
        None => bail!(
            "no {name} in {}: `cargo xtask tools` obtains it",
            tools.display()
        ),
    }
}

fn spawn(command: &Cmd, folder: &Path, name: &str) -> anyhow::Result<Child> {
    let log = RotatingLog::new(folder.join(format!("{name}.log")));
    Ok(command.spawn(Grouping::Own, Some(log))?)
}

fn etcd(folder: &Path, program: &Path) -> Cmd {
    let socket = |name: &str| format!("unix://{}", folder.join(name).display());
    let (clients, peers) = (socket("e.sock"), socket("p.sock"));
    Cmd::new(program).cwd(folder).args([
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls={clients}"),
        format!("--advertise-client-urls={clients}"),
        format!("--listen-peer-urls={peers}"),
        format!("--initial-advertise-peer-urls={peers}"),
        format!("--initial-cluster=default={peers}"),
        "--log-level=warn".to_owned(),
    ])
}

fn api_server(folder: &Path, program: &Path, port: u16) -> Cmd {
    let file = |name: &str| folder.join(name).display().to_string();
    Cmd::new(program).cwd(folder).args([
        format!("--etcd-servers=unix://{}", file("e.sock")),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--cert-dir={}", file("certs")),
        format!("--service-account-key-file={}", file("sa.key")),
        format!("--service-account-signing-key-file={}", file("sa.key")),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--token-auth-file={}", file("tokens.csv")),
        "--authorization-mode=AlwaysAllow".to_owned(),
        "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
    ])
}
