//! Starts every part of the manager, and stops them in order.

use std::sync::Arc;

use anyhow::Context as _;
use controllers::metrics::{Build, WorldGauges};
use controllers::run::Controllers;
use kueue_api::config::Configuration;
use telemetry::health::{self, Readiness};
use telemetry::metrics::Registry;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::options::Options;
use crate::{client, settings};

const BUILD: Build = Build { version: concat!("v", env!("CARGO_PKG_VERSION")), commit: "unknown", date: "unknown" };

/// Runs until SIGTERM or SIGINT, or until a part fails.
pub(crate) async fn run(options: Options, configuration: Configuration) -> anyhow::Result<()> {
    for warning in &configuration.warnings {
        tracing::warn!("{warning}");
    }
    let stop = CancellationToken::new();
    listen_for_signals(stop.clone())?;
    let client = client::connect(options.kubeconfig.as_deref()).await?;
    let instance = format!("{}_{}", options.pod_name.as_deref().unwrap_or("kueue-manager"), uuid::Uuid::new_v4());
    let readiness = Readiness::default();
    let mut registry = Registry::default();
    let controllers = Controllers::new(client.clone(), settings::controllers(&configuration, &instance)?, &mut registry);
    let context = controllers.context();
    let gauges = WorldGauges { context: context.clone(), build: BUILD, resources: configuration.metrics.enable_cluster_queue_resources };
    telemetry::metrics::register_gauges(&mut registry, Arc::new(gauges));
    let mut servers = JoinSet::new();
    serve_probes(&configuration, &readiness, &stop, &mut servers)?;
    let outcome = controllers.run(&readiness, stop.clone()).await;
    stop.cancel();
    while let Some(server) = servers.join_next().await {
        server.context("a server panicked")??;
    }
    outcome.context("leader election")
}

fn listen_for_signals(stop: CancellationToken) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
        stop.cancel();
    });
    Ok(())
}

fn serve_probes(configuration: &Configuration, readiness: &Readiness, stop: &CancellationToken, servers: &mut JoinSet<anyhow::Result<()>>) -> anyhow::Result<()> {
    let health = &configuration.health;
    let Some(address) = telemetry::address::parse_bind(&health.bind_address).context("health.healthProbeBindAddress")? else { return Ok(()) };
    let router = health::router(&health.liveness_endpoint, &health.readiness_endpoint, readiness);
    let stop = stop.clone();
    servers.spawn(async move { health::serve(address, router, stop).await.with_context(|| format!("cannot serve probes on {address}")) });
    Ok(())
}
