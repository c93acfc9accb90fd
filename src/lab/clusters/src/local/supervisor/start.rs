//! The order of a start. Each phase is told when it begins and ends; the first that fails ends the start.

use std::future::Future;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use exec::Cmd;
use kube::Client;
use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::keeper::{Keeper, Kept};
use super::{Context, containers, furnish, note_runtime, ready, relay};
use crate::host_node::HostNode;
use crate::local::kubeconfig::{self, IN_SANDBOX, server_on};
use crate::local::record::write_file;
use crate::local::servers;
use crate::pki::{self, Pki};
use crate::provider::{Phase, PhaseEvent, PhaseState, Progress};
use crate::{egress, kwok};

/// A program that dies this often before it answers will not answer.
const TOO_OFTEN: u32 = 3;
/// A machine that is this slow is not merely busy.
pub(super) const LONGEST_START: Duration = Duration::from_secs(180);
const PORTS_TRIED: u32 = 5;

/// Everything that must be ended, in the order in which it was started.
#[derive(Debug, Default)]
pub(super) struct Running {
    pub(super) keepers: Vec<Keeper>,
    pub(super) host_node: Option<HostNode>,
    /// Stopped last, after everything that speaks to it.
    pub(super) cluster: Option<crate::kind::Cluster>,
    pub(super) cancel: CancellationToken,
}

impl Running {
    /// Ends everything, the last started first; those that do not need each other together.
    pub(super) async fn stop(&mut self) {
        if let Some(host_node) = self.host_node.take() {
            host_node.stop().await;
        }
        let storage = ["etcd", "kube-apiserver"];
        let (clients, servers): (Vec<_>, Vec<_>) = self
            .keepers
            .drain(..)
            .partition(|keeper| !storage.contains(&keeper.name()));
        futures::future::join_all(clients.into_iter().map(Keeper::stop)).await;
        // The API server waits for its last client, and our own watches are clients too.
        self.cancel.cancel();
        for server in servers.into_iter().rev() {
            server.stop().await;
        }
        if let Some(cluster) = self.cluster.take()
            && let Err(error) = cluster.down().await
        {
            tracing::warn!(%error, "the containers of the environment could not be stopped");
        }
    }
}

pub(super) async fn start(context: &Context, running: &mut Running) -> Result<(), String> {
    if let Some(settings) = &context.record.kind {
        return Box::pin(containers::start(context, running, settings)).await;
    }
    let layout = &context.layout;
    phase(context, Phase::Directory, async {
        write_file(
            &layout.run().join(servers::EGRESS_CONFIGURATION),
            &servers::egress_configuration(),
        )
        .map_err(|error| format!("write the egress configuration: {error}"))?;
        kwok::write_configuration(&layout.run())
            .map_err(|error| error.to_string())
            .map(drop)
    })
    .await?;
    let routes = egress::Routes::default();
    serve_sockets(context, running, &routes)?;

    let etcd = keep(context, "etcd", {
        let context = context.clone();
        move || servers::etcd(&context.layout, &context.record.programs)
    })?;
    let etcd_deaths = etcd.deaths();
    running.keepers.push(etcd);
    let pki = certificates(context).await?;
    let ready = ready::socket(layout.run().join("etcd.sock"));
    phase(
        context,
        Phase::Etcd,
        answers(context, "etcd", etcd_deaths, ready),
    )
    .await?;
    let admin = phase(
        context,
        Phase::ApiServer,
        api_server(context, running, &pki),
    )
    .await?;
    Box::pin(furnish::furnish(context, running, &admin, &pki, routes)).await?;
    phase(context, Phase::Ready, async { Ok(()) }).await
}

/// The environment's own authority, and the kubeconfig of whoever works in it.
pub(super) async fn certificates(context: &Context) -> Result<Pki, String> {
    let layout = &context.layout;
    phase(context, Phase::Certificates, async {
        let now = (context.now)();
        let pki = match &context.record.kind {
            Some(_) => Pki::ensure_signing(&layout.pki(), now),
            None => Pki::ensure(&layout.pki(), now),
        };
        let pki = pki.map_err(|error| error.to_string())?;
        kubeconfig::write(layout, &pki, pki::TRAINEE, IN_SANDBOX)
            .map_err(|error| error.to_string())?;
        Ok(pki)
    })
    .await
}

/// The servers and nothing else.
pub(super) async fn bare(context: &Context, running: &mut Running) -> Result<(), String> {
    let layout = context.layout.clone();
    write_file(
        &layout.run().join(servers::EGRESS_CONFIGURATION),
        &servers::egress_configuration(),
    )
    .map_err(|error| format!("write the egress configuration: {error}"))?;
    let own = || (layout.clone(), context.record.programs.clone());
    let (paths, commands) = own();
    running.keepers.push(keep(context, "etcd", move || {
        servers::etcd(&paths, &commands)
    })?);
    let pki = Pki::ensure(&layout.pki(), (context.now)()).map_err(|error| error.to_string())?;
    ready::socket(layout.run().join("etcd.sock")).await;
    let admin = api_server(context, running, &pki).await?;
    let (paths, commands) = own();
    running
        .keepers
        .push(keep(context, "kube-controller-manager", move || {
            servers::controller_manager(&paths, &commands)
        })?);
    let (paths, commands) = own();
    running
        .keepers
        .push(keep(context, "kube-scheduler", move || {
            servers::scheduler(&paths, &commands)
        })?);
    ready::default_service_account(&admin).await;
    Ok(())
}

fn serve_sockets(
    context: &Context,
    running: &Running,
    routes: &egress::Routes,
) -> Result<(), String> {
    let layout = &context.layout;
    let api = layout.api_socket();
    relay::serve(&api, context.port.subscribe(), running.cancel.clone())
        .map_err(|error| format!("listen on {}: {error}", api.display()))?;
    let path = layout.egress_socket();
    let _ = std::fs::remove_file(&path);
    // The working folder is `run`, so the name alone is enough and never too long.
    let listener = UnixListener::bind("egress.sock")
        .map_err(|error| format!("listen on {}: {error}", path.display()))?;
    tokio::spawn(egress::serve(
        listener,
        routes.clone(),
        running.cancel.clone(),
    ));
    Ok(())
}

/// Starts the API server on a port that is free, on another one when somebody else took it in between.
async fn api_server(context: &Context, running: &mut Running, pki: &Pki) -> Result<Client, String> {
    for _ in 0..PORTS_TRIED {
        let port = free_port()?;
        let admin = use_port(context, pki, port).await?;
        let own = context.clone();
        let server = keep(context, "kube-apiserver", move || {
            servers::api_server(&own.layout, &own.record.programs, port)
        })?;
        let deaths = server.deaths();
        tokio::select! {
            () = ready::api_server(&admin) => {
                watch_port(context, port, server.deaths());
                running.keepers.push(server);
                return Ok(admin);
            }
            () = ready::died(deaths, 1) => {
                server.stop().await;
                if is_free(port) {
                    return Err(log_tail(context, "kube-apiserver"));
                }
            }
            () = tokio::time::sleep(LONGEST_START) => {
                server.stop().await;
                return Err(format!("kube-apiserver does not answer after {} s; {}", LONGEST_START.as_secs(), log_tail(context, "kube-apiserver")));
            }
        }
    }
    Err(format!(
        "{PORTS_TRIED} ports in turn were taken by other programs before the API server could listen"
    ))
}

/// Tells everybody the port, in files and in memory.
pub(super) async fn use_port(context: &Context, pki: &Pki, port: u16) -> Result<Client, String> {
    let admin = write_kubeconfigs(context, pki, port)?;
    context.port.send_replace(Some(port));
    note_runtime(context, Some(port)).map_err(|error| error.to_string())?;
    ready::client(&admin).await
}

fn write_kubeconfigs(context: &Context, pki: &Pki, port: u16) -> Result<PathBuf, String> {
    let server = server_on(port);
    for identity in [
        pki::CONTROLLER_MANAGER,
        pki::SCHEDULER,
        pki::KWOK,
        pki::HOST_NODE,
    ] {
        kubeconfig::write(&context.layout, pki, identity, &server)
            .map_err(|error| error.to_string())?;
    }
    kubeconfig::write(&context.layout, pki, pki::ADMIN, &server).map_err(|error| error.to_string())
}

/// When the API server dies later and its port is taken meanwhile, everything that knows the port must start anew.
fn watch_port(context: &Context, port: u16, mut deaths: watch::Receiver<u32>) {
    let lost = context.lost.clone();
    tokio::spawn(async move {
        while deaths.changed().await.is_ok() {
            if !is_free(port) {
                lost.cancel();
            }
        }
    });
}

fn free_port() -> Result<u16, String> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| format!("find a free port on 127.0.0.1: {error}"))
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

pub(super) fn keep(
    context: &Context,
    name: &'static str,
    command: impl Fn() -> Cmd + Send + Sync + 'static,
) -> Result<Keeper, String> {
    let grace = Duration::from_secs(10);
    let kept = Kept {
        name,
        command: Arc::new(command),
        log: context.layout.log(name),
        grace,
    };
    Keeper::start(kept, context.history.clone(), context.now).map_err(|error| error.to_string())
}

/// Waits for a sign of life, and no longer than makes sense.
pub(super) async fn answers(
    context: &Context,
    name: &str,
    deaths: watch::Receiver<u32>,
    sign: impl Future<Output = ()>,
) -> Result<(), String> {
    tokio::select! {
        () = sign => Ok(()),
        () = ready::died(deaths, TOO_OFTEN) => Err(log_tail(context, name)),
        () = tokio::time::sleep(LONGEST_START) => {
            Err(format!("{name} does not answer after {} s; {}", LONGEST_START.as_secs(), log_tail(context, name)))
        }
    }
}

/// Tells that a phase begins and how it ended.
pub(super) async fn phase<T>(
    context: &Context,
    phase: Phase,
    work: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    let tell = |state| {
        context.history.add(Progress::Phase(PhaseEvent {
            phase,
            state,
            at: (context.now)(),
        }));
    };
    tell(PhaseState::Started);
    let result = work.await;
    tell(match &result {
        Ok(_) => PhaseState::Done,
        Err(reason) => PhaseState::Failed {
            reason: reason.clone(),
        },
    });
    result
}

/// The last words of a program, which usually say why it ended.
pub(super) fn log_tail(context: &Context, name: &str) -> String {
    const SHOWN: usize = 5;
    let path = context.layout.log(name);
    let text = std::fs::read(&path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default();
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let tail = lines
        .iter()
        .skip(lines.len().saturating_sub(SHOWN))
        .map(|line| format!("\n  {line}"));
    format!(
        "{name} ended; the end of {}:{}",
        path.display(),
        tail.collect::<String>()
    )
}
