//! `atelier serve`: puts the platform together and serves it until told to stop.

#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use store::Store;

use crate::judge::database;
use crate::options::Options;
use crate::web::assets::Assets;
use crate::web::desk::{Desk, EnvironmentIs, EnvironmentView};
use crate::web::desk_live;
use crate::web::library::Library;
use crate::web::position::Positions;
use crate::web::routes::router;
use crate::web::secret::Secret;
use crate::web::state::{App, Parts, PublicAddress};
use crate::web::terminal::registry::Terminals;

/// How long open connections may take to end after the signal to stop.
const GRACE: Duration = Duration::from_secs(3);

/// Arguments of `atelier serve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Address to listen on; loopback only, because there are no accounts yet
    #[arg(long, default_value_t = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080))]
    listen: SocketAddr,
    /// Where browsers reach it when a proxy stands in front: http(s)://HOST[:PORT][/PATH]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Write the address that is served into this file once it answers
    #[arg(long, value_name = "FILE")]
    address_file: Option<PathBuf>,
}

/// Carries out `atelier serve`.
///
/// # Errors
/// When the address cannot be used, or a folder cannot be read.
pub async fn run(options: &Options, args: Args) -> anyhow::Result<ExitCode> {
    let Args {
        listen,
        public_url,
        address_file,
    } = args;
    if !listen.ip().is_loopback() {
        bail!(
            "{listen} can be reached from other machines, and there are no accounts and no passwords yet: anyone \
             could use the terminals. Listen on 127.0.0.1, and let a proxy with its own sign-in stand in front if needed"
        );
    }
    let address = match public_url {
        Some(url) => PublicAddress::parse(&url)?,
        None => PublicAddress::default(),
    };
    let stop = CancellationToken::new();
    let listener = TcpListener::bind(listen).await.with_context(|| {
        format!("listen on {listen}: another program may use this port; choose one with --listen 127.0.0.1:PORT")
    })?;
    let served = listener
        .local_addr()
        .context("ask for the address that is listened on")?;
    let app = build(options, address, stop.clone()).await?;
    announce(served, address_file.as_deref())?;
    serve(listener, app, stop).await?;
    Ok(ExitCode::SUCCESS)
}

async fn build(
    options: &Options,
    address: PublicAddress,
    stop: CancellationToken,
) -> anyhow::Result<App> {
    let library = Library::load(&options.labs_dir())?;
    for (lab, findings) in &library.broken {
        tracing::warn!(
            lab,
            "this lab is set aside until it is corrected:\n{findings}"
        );
    }
    let assets = Assets::load(&options.static_dir()).unwrap_or_else(|error| {
        tracing::warn!("{error}");
        Assets::default()
    });
    let secret = Secret::load(&options.data_dir())?;
    let store = Store::open(&database(options)).await?;
    let ids = library.labs().iter().map(|lab| lab.rules.id.clone());
    let positions = Positions::load(store.clone(), ids).await?;
    let desk: Arc<dyn Desk> = desk_live::open(options, &library, store, stop.clone()).await;
    let terminals = Terminals::new(desk.shells());
    tokio::spawn(end_with_environment(terminals.clone(), desk.environment()));
    Ok(App::new(Parts {
        secret,
        positions,
        terminals,
        address,
        assets,
        library,
        desk,
        stop,
    }))
}

/// Terminals end with their environment, also when `atelier env` ended it beside this server.
async fn end_with_environment(
    terminals: Terminals,
    mut environment: watch::Receiver<EnvironmentView>,
) {
    loop {
        match environment.borrow_and_update().is {
            EnvironmentIs::Absent | EnvironmentIs::Deleting => {
                terminals.close_all("environment-reset");
            }
            EnvironmentIs::Stopping | EnvironmentIs::Stopped => {
                terminals.close_all("environment-stopped");
            }
            EnvironmentIs::Starting | EnvironmentIs::Running | EnvironmentIs::Broken { .. } => {}
        }
        if environment.changed().await.is_err() {
            return;
        }
    }
}

#[expect(
    clippy::print_stdout,
    reason = "the address is what the person at the terminal waits for"
)]
fn announce(served: SocketAddr, file: Option<&std::path::Path>) -> anyhow::Result<()> {
    println!("Atelier Kueue: http://{served}");
    if let Some(file) = file {
        std::fs::write(file, format!("http://{served}\n"))
            .with_context(|| format!("write {}", file.display()))?;
    }
    Ok(())
}

async fn serve(listener: TcpListener, app: App, stop: CancellationToken) -> anyhow::Result<()> {
    let signalled = stop.clone();
    let terminals = app.terminals().clone();
    tokio::spawn(async move {
        if wait_for_signal().await.is_ok() {
            terminals.close_all("shutdown");
            signalled.cancel();
        }
    });
    let graceful =
        axum::serve(listener, router(app)).with_graceful_shutdown(stop.clone().cancelled_owned());
    let patience = async {
        stop.cancelled().await;
        // Terminals of sleeping laptops would otherwise keep the program from ending.
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        ended = graceful => ended.context("serve"),
        () = patience => Ok(()),
    }
}

async fn wait_for_signal() -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
