//! What runs on a node: follows the configuration, keeps the plugin registered, measures every few seconds, and shows the figures
//! to containers (a file a device) and to Prometheus (`/metrics`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::config::{Config, ConfigError};
use crate::inventory::{Folders, Inventory};
use crate::measure::{Meter, Now, Places};
use crate::metrics;
use crate::plugin::Plugin;
use crate::usage::{self, Reading};
use crate::watch::FolderWatch;

/// Between two looks at the containers.
const EVERY: Duration = Duration::from_secs(2);
const STATE: &str = "device.json";

/// Where everything is.
#[derive(Debug, Clone)]
pub struct Settings {
    pub node: String,
    /// The file with the devices of all nodes.
    pub config: PathBuf,
    /// The kubelet's folder for plugins.
    pub kubelet: PathBuf,
    pub places: Places,
    /// The `nvidia-smi` that containers get.
    pub smi: PathBuf,
    /// Of the wall; the steady clock is tokio's.
    pub wall: fn() -> SystemTime,
}

/// Why the daemon could not start.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("the configuration has no GPUs for node `{0}`")]
    NoSuchNode(String),
    #[error("prepare {}: {source}", path.display())]
    Prepare { path: PathBuf, source: io::Error },
    #[error("serve the metrics: {0}")]
    Serve(#[source] io::Error),
}

/// Runs until it is cancelled. The listener is for `/metrics` and `/healthz`.
///
/// # Errors
/// When it cannot start; what happens later is told in the log, and tried again.
pub async fn run(
    settings: Settings,
    listener: TcpListener,
    cancel: CancellationToken,
) -> Result<(), DaemonError> {
    let inventory = Arc::new(read(&settings)?);
    prepare(&settings, &inventory)?;
    let (change, inventories) = watch::channel(inventory);
    let (show, shown) = watch::channel(String::new());
    let plugin = Plugin {
        kubelet: settings.kubelet.clone(),
        folders: settings.places.folders.clone(),
        inventory: inventories.clone(),
    };
    let serving = axum::serve(listener, router(shown));
    tokio::select! {
        () = plugin.run(cancel.clone()) => Ok(()),
        () = follow(&settings, &change) => Ok(()),
        () = measure(&settings, &inventories, &show) => Ok(()),
        outcome = async { serving.await } => outcome.map_err(DaemonError::Serve),
        () = cancel.cancelled() => Ok(()),
    }
}

fn read(settings: &Settings) -> Result<Inventory, DaemonError> {
    let text = fs::read_to_string(&settings.config).map_err(ConfigError::Read)?;
    let config = Config::parse(&text)?;
    let gpus = config.nodes.get(&settings.node);
    gpus.and_then(|gpus| Inventory::new(&settings.node, gpus))
        .ok_or_else(|| DaemonError::NoSuchNode(settings.node.clone()))
}

/// Folders that containers mount must be there before the first of them.
fn prepare(settings: &Settings, inventory: &Inventory) -> Result<(), DaemonError> {
    let folders = &settings.places.folders;
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| DaemonError::Prepare { path, source }
    };
    for device in &inventory.devices {
        let folder = folders.device(&device.uuid);
        fs::create_dir_all(&folder).map_err(failed(&folder))?;
    }
    let smi = folders.smi();
    install(&settings.smi, &smi).map_err(failed(&smi))
}

/// A container may be running the old one: it is replaced, not written over.
fn install(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    let new = to.with_extension("new");
    fs::copy(from, &new)?;
    fs::rename(new, to)
}

/// Reads the configuration again whenever its folder changes. A mistake in it is told, and changes nothing.
async fn follow(settings: &Settings, change: &watch::Sender<Arc<Inventory>>) {
    let folder = settings.config.parent().unwrap_or(Path::new("/"));
    loop {
        let watch = FolderWatch::new(folder);
        match read(settings).and_then(|new| prepare(settings, &new).map(|()| new)) {
            Ok(new) => {
                change.send_if_modified(|current| {
                    let changed = **current != new;
                    if changed {
                        tracing::info!(devices = new.devices.len(), "the devices changed");
                        *current = Arc::new(new);
                    }
                    changed
                });
            }
            Err(error) => tracing::warn!(%error, "the devices stay as they were"),
        }
        let changed = match watch {
            Ok(watch) => watch.changed().await,
            Err(error) => Err(error),
        };
        if let Err(error) = changed {
            tracing::warn!(%error, "{} cannot be watched", folder.display());
            tokio::time::sleep(EVERY).await;
        }
    }
}

async fn measure(
    settings: &Settings,
    inventories: &watch::Receiver<Arc<Inventory>>,
    show: &watch::Sender<String>,
) {
    let mut meter = Meter::new(settings.places.clone());
    let begun = tokio::time::Instant::now();
    let mut ticks = tokio::time::interval(EVERY);
    loop {
        ticks.tick().await;
        let now = Now {
            steady: begun.elapsed(),
            wall: (settings.wall)(),
        };
        let inventory = inventories.borrow().clone();
        let readings = usage::readings(&inventory, &meter.look(now).await);
        show.send_replace(metrics::render(&readings));
        for reading in &readings {
            if let Err(error) = write(&settings.places.folders, reading) {
                tracing::warn!(%error, uuid = reading.uuid, "nvidia-smi shows old figures");
            }
        }
    }
}

/// Readers see the old file or the new one, never half of one.
fn write(folders: &Folders, reading: &Reading) -> io::Result<()> {
    let folder = folders.device(&reading.uuid);
    let new = folder.join("device.new");
    fs::write(&new, serde_json::to_vec(reading)?)?;
    fs::rename(new, folder.join(STATE))
}

/// What the devices in a container's folder look like, in the order of their index. Read by `nvidia-smi`.
///
/// # Errors
/// When the folder cannot be read: then the container has no devices.
pub fn visible(folder: &Path) -> io::Result<Vec<Reading>> {
    let mut readings: Vec<Reading> = Vec::new();
    for entry in fs::read_dir(folder)? {
        let text = fs::read(entry?.path().join(STATE));
        readings.extend(
            text.ok()
                .and_then(|text| serde_json::from_slice(&text).ok()),
        );
    }
    readings.sort_by_key(|reading| reading.index);
    // A container counts its own devices from 0, whatever they are on the node.
    for (index, reading) in (0..).zip(&mut readings) {
        reading.index = index;
    }
    Ok(readings)
}

fn router(shown: watch::Receiver<String>) -> Router {
    let page = |State(shown): State<watch::Receiver<String>>| async move {
        let text = shown.borrow().clone();
        (
            [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
            text,
        )
    };
    Router::new()
        .route("/metrics", get(page))
        .route("/healthz", get(async || "ok"))
        .with_state(shown)
}

#[cfg(test)]
mod tests;
