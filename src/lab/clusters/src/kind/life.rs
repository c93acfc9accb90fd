//! A cluster's containers through their life: made by kind, stopped and started by the engine, looked after, removed.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use exec::Cmd;
use tokio_util::sync::CancellationToken;

use super::engine::{Container, Engine};
use super::{Settings, cluster_name, plan, shells, words, worker_count};
use crate::local::layout::Layout;
use crate::profile::Profile;

/// kind's own deadlines are within this; a machine that is slower is too busy for a classroom.
const LONGEST_CREATION: Duration = Duration::from_secs(600);
/// A kubelet ends its pods and etcd writes its last pages; containers are killed after that.
const GRACE_SECONDS: &str = "15";
/// How often the containers are looked at.
const LOOK: Duration = Duration::from_secs(10);

/// The cluster of one environment.
#[derive(Debug, Clone)]
pub(crate) struct Cluster {
    settings: Settings,
    name: String,
}

/// What the containers of a cluster need.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    /// These do not run and can be started.
    Start(Vec<String>),
    /// These are gone: for a worker its Node cannot come back by itself, for the control plane everything is lost.
    Lost(Vec<String>),
}

impl Cluster {
    pub(crate) fn of(settings: &Settings, layout: &Layout) -> Self {
        Self {
            settings: settings.clone(),
            name: cluster_name(layout.dir()),
        }
    }

    fn engine(&self) -> Engine<'_> {
        Engine(&self.settings.engine)
    }

    /// Makes the containers, or starts those that are there. When this returns, the API server is about to answer.
    pub(crate) async fn up(
        &self,
        layout: &Layout,
        profile: &Profile,
        cancel: &CancellationToken,
    ) -> Result<(), String> {
        let there = self.engine().containers(&self.name).await;
        let there = there.map_err(|error| words::of(&error, &self.settings))?;
        match need(&there, worker_count(profile)) {
            _ if there.is_empty() => self.create(layout, profile, cancel).await,
            Need::Nothing => Ok(()),
            Need::Start(names) => self.start(&names).await,
            Need::Lost(names) => Err(format!(
                "the container of {} is gone, and its node with it: rebuild the environment",
                names.join(", ")
            )),
        }
    }

    /// Where the API server listens on this machine now; another port may be given at each start.
    pub(crate) async fn port(&self) -> Result<u16, String> {
        let port = self.engine().api_port(&self.name).await;
        port.map_err(|error| words::of(&error, &self.settings))
    }

    async fn create(
        &self,
        layout: &Layout,
        profile: &Profile,
        cancel: &CancellationToken,
    ) -> Result<(), String> {
        let config = plan::cluster(profile, &layout.pki(), &layout.volumes());
        self.make(layout, config, cancel).await?;
        if let Some(network) = shells::network(&self.settings, layout.dir()) {
            let had = shells::have_image(&network).await;
            had.map_err(|error| words::of(&error, &self.settings))?;
        }
        self.load(cancel).await
    }

    /// As many nodes from the same image, as kind makes them by itself: what an environment is measured against.
    pub(crate) async fn bare(&self, layout: &Layout, profile: &Profile) -> Result<(), String> {
        let config = plan::bare(profile);
        self.make(layout, config, &CancellationToken::new()).await
    }

    /// What the containers use: the engine's own count, without file pages that nobody would miss.
    pub(crate) async fn memory(&self) -> Result<Vec<(String, u64)>, String> {
        let containers = self.engine().containers(&self.name).await?;
        let names = containers.iter().map(|container| container.name.as_str());
        let format = "{{.Name}}\t{{.MemUsage}}";
        let stats = ["stats", "--no-stream", "--format", format].into_iter();
        let answer = self.engine().run(stats.chain(names)).await?;
        Ok(answer.lines().filter_map(usage).collect())
    }

    async fn make(
        &self,
        layout: &Layout,
        config: String,
        cancel: &CancellationToken,
    ) -> Result<(), String> {
        let in_words = |error: String| words::of(&error, &self.settings);
        self.have_image().await.map_err(in_words)?;
        self.engine()
            .create_network(&self.name)
            .await
            .map_err(in_words)?;
        // A kubeconfig of kind's own, which nobody reads: it must not touch the user's.
        let kubeconfig = layout.run().join("kind.kubeconfig");
        let cmd = Cmd::new(&self.settings.kind)
            .args(["create", "cluster", "--config", "-", "--wait", "0s"])
            .args(["--name", &self.name, "--image", &self.settings.image])
            .arg("--kubeconfig")
            .arg(&kubeconfig)
            .env("KUBECONFIG", &kubeconfig)
            .env("KIND_EXPERIMENTAL_DOCKER_NETWORK", &self.name)
            .env("KIND_EXPERIMENTAL_PODMAN_NETWORK", &self.name)
            .env("KIND_EXPERIMENTAL_PROVIDER", self.provider())
            .stdin(config)
            .deadline(LONGEST_CREATION);
        // Line by line: whoever waits may look on, and the end is there even if this program is killed.
        let mut log = std::fs::File::create(layout.log("kind")).ok();
        let mut said = String::new();
        let made = cmd
            .run_lines(cancel, |_, line| {
                said.push_str(line);
                said.push('\n');
                if let Some(log) = &mut log {
                    let _ = writeln!(log, "{line}");
                }
            })
            .await;
        let _ = std::fs::remove_file(&kubeconfig);
        made.map(drop)
            .map_err(|error| words::of(&format!("{said}\n{error}"), &self.settings))
    }

    /// Once for every build of the image, however many clusters are made from it.
    async fn have_image(&self) -> Result<(), String> {
        let (engine, image) = (self.engine(), &self.settings.image);
        match &self.settings.node_archive {
            Some(archive) if !engine.has_image(image).await => {
                engine.load(archive, super::NODE_IMAGE, image).await?;
                engine.keep_only(image).await;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Images that the node image lacks, into every node.
    async fn load(&self, cancel: &CancellationToken) -> Result<(), String> {
        for archive in &self.settings.archives {
            let cmd = Cmd::new(&self.settings.kind)
                .args(["load", "image-archive", "--name", &self.name])
                .arg(archive)
                .env("KIND_EXPERIMENTAL_PROVIDER", self.provider())
                .deadline(LONGEST_CREATION);
            let loaded = cmd.run_cancellable(cancel).await;
            loaded.map_err(|error| words::of(&error.to_string(), &self.settings))?;
        }
        Ok(())
    }

    fn provider(&self) -> &'static str {
        let name = self.settings.engine.file_name().unwrap_or_default();
        if name == "podman" { "podman" } else { "docker" }
    }

    /// The control plane first: the others look for it.
    async fn start(&self, names: &[String]) -> Result<(), String> {
        let args = std::iter::once("start").chain(names.iter().map(String::as_str));
        let started = self.engine().run(args).await;
        started
            .map(drop)
            .map_err(|error| words::of(&error, &self.settings))
    }

    /// Stops every container and keeps what is in them.
    pub(crate) async fn down(&self) -> Result<(), String> {
        shells::remove(&self.engine(), &self.name).await?;
        let containers = self.engine().containers(&self.name).await?;
        let running: Vec<&str> = containers
            .iter()
            .rev()
            .filter(|container| container.runs())
            .map(|container| container.name.as_str())
            .collect();
        if running.is_empty() {
            return Ok(());
        }
        let stop = ["stop", "--time", GRACE_SECONDS].into_iter();
        self.engine().run(stop.chain(running)).await.map(drop)
    }

    /// Starts again what has ended, until cancelled; calls `lost` once when something is beyond that. An engine that does
    /// not answer is waited for: when it comes back, its containers may have other ports, which `lost` is for as well.
    pub(crate) async fn look_after(&self, workers: usize, port: u16, lost: impl Fn(String)) {
        loop {
            tokio::time::sleep(LOOK).await;
            let Ok(there) = self.engine().containers(&self.name).await else {
                continue;
            };
            match need(&there, workers) {
                Need::Nothing => match self.port().await {
                    Ok(now) if now != port => {
                        return lost(format!("its API server moved from port {port} to {now}"));
                    }
                    _ => {}
                },
                Need::Start(names) => {
                    tracing::warn!(
                        ?names,
                        "containers of nodes have ended; starting them again"
                    );
                    if let Err(error) = self.start(&names).await {
                        tracing::warn!(%error, "containers of nodes cannot be started");
                    }
                }
                Need::Lost(names) => {
                    return lost(format!("the container of {} is gone", names.join(", ")));
                }
            }
        }
    }
}

/// A line of the engine's statistics, such as `name<TAB>103.6MiB / 23.5GiB`.
pub(super) fn usage(line: &str) -> Option<(String, u64)> {
    let (name, memory) = line.split_once('\t')?;
    let used = memory.split('/').next()?.trim();
    let unit = used.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = used.split_at(unit);
    let factor = match unit {
        "B" => 1.0,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * factor;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of bytes that a machine has"
    )]
    let bytes = bytes.max(0.0) as u64;
    Some((name.to_owned(), bytes))
}

/// Pure: what these containers need to be a cluster of one control plane and so many workers.
pub(super) fn need(there: &[Container], workers: usize) -> Need {
    let mut missing = Vec::new();
    if !there.iter().any(Container::is_control_plane) {
        missing.push("the control plane".to_owned());
    }
    let found = there
        .iter()
        .filter(|container| !container.is_control_plane())
        .count();
    if found < workers {
        missing.push(format!("{} of {workers} workers", workers - found));
    }
    if !missing.is_empty() {
        return Need::Lost(missing);
    }
    let ended = there.iter().filter(|container| !container.runs());
    let names: Vec<String> = ended.map(|container| container.name.clone()).collect();
    if names.is_empty() {
        Need::Nothing
    } else {
        Need::Start(names)
    }
}

/// Removes everything that the engine holds of the environment in `dir`.
pub(crate) async fn remove(
    settings: &Settings,
    dir: &Path,
    broken_off: bool,
) -> Result<(), String> {
    let engine = Engine(&settings.engine);
    let removed = engine.remove(&cluster_name(dir), broken_off).await;
    removed.map_err(|error| words::of(&error, settings))
}
