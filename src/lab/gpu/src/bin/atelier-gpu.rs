//! The daemon of a node with faked GPUs. In a cluster it is a `DaemonSet` (`manifests/gpu`).

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Parser;
use gpu::daemon::{self, Settings};
use gpu::inventory::Folders;
use gpu::measure::Places;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

#[derive(Debug, Parser)]
#[command(
    name = "atelier-gpu",
    about = "Device plugin and exporter of a node with faked GPUs"
)]
struct Options {
    /// The node's name in the cluster.
    #[arg(long, env = "NODE_NAME")]
    node: String,
    /// The devices of all nodes, as JSON.
    #[arg(long, default_value = "/etc/atelier-gpu/config.json")]
    config: PathBuf,
    #[arg(long, default_value = "/var/lib/kubelet/device-plugins")]
    kubelet: PathBuf,
    #[arg(long, default_value = "/var/lib/kubelet/pod-resources/kubelet.sock")]
    pod_resources: PathBuf,
    /// Folder on the node, under the same path there and here, for containers mount parts of it.
    #[arg(long, default_value = "/var/lib/atelier-gpu")]
    root: PathBuf,
    #[arg(long, default_value = "/proc")]
    proc: PathBuf,
    #[arg(long, default_value = "/sys/fs/cgroup")]
    cgroups: PathBuf,
    /// The `nvidia-smi` that containers get.
    #[arg(long, default_value = "/usr/bin/nvidia-smi")]
    smi: PathBuf,
    /// Address of `/metrics` and `/healthz`.
    #[arg(long, default_value = "0.0.0.0:9400")]
    listen: SocketAddr,
}

#[expect(clippy::print_stderr, reason = "a program that cannot start says why")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = Options::parse();
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    match run(options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("atelier-gpu: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Result<(), Box<dyn std::error::Error>> {
    let cancel = CancellationToken::new();
    let mut end = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let listener = tokio::net::TcpListener::bind(options.listen).await?;
    let settings = Settings {
        node: options.node,
        config: options.config,
        kubelet: options.kubelet,
        places: Places {
            proc: options.proc,
            cgroups: options.cgroups,
            pod_resources: options.pod_resources,
            folders: Folders::new(options.root),
        },
        smi: options.smi,
        wall,
    };
    let daemon = daemon::run(settings, listener, cancel.clone());
    tokio::select! {
        outcome = daemon => outcome?,
        _ = end.recv() => cancel.cancel(),
        _ = interrupt.recv() => cancel.cancel(),
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the clock of this binary")]
fn wall() -> SystemTime {
    SystemTime::now()
}
