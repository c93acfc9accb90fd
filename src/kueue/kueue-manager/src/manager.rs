//! Starts every part of the manager, and stops them in order.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use controllers::certificate;
use controllers::connect::{LimitLayer, connect};
use controllers::dump;
use controllers::front_proxy::FrontProxy;
use controllers::metrics::{Build, WorldGauges};
use controllers::run::Controllers;
use controllers::scrape;
use controllers::surroundings::{Surroundings, when_complete};
use controllers::visibility::{self, Waiting};
use kueue_api::config::Configuration;
use kueue_api::features::gate;
use kueue_api::names::VISIBILITY_SERVICE;
use telemetry::address::parse_bind;
use telemetry::health::{self, Check, Readiness};
use telemetry::metrics::Registry;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use webhooks::tls::{self, Identity};

use crate::options::Options;
use crate::{clock, settings};

const BUILD: Build = Build {
    version: concat!("v", env!("CARGO_PKG_VERSION")),
    commit: "unknown",
    date: "unknown",
};

/// How long what has begun may go on after the signal; as long as the reference's.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs until SIGTERM or SIGINT, or until a part fails.
pub(crate) async fn run(options: Options, configuration: Configuration) -> anyhow::Result<()> {
    for warning in &configuration.warnings {
        tracing::warn!("{warning}");
    }
    let stop = CancellationToken::new();
    listen_for_signals(stop.clone())?;
    tracing::info!(version = BUILD.version, "starting");
    let connection = configuration.client_connection;
    let limit = LimitLayer::new(connection.qps, connection.burst);
    let client = connect(options.kubeconfig.as_deref(), limit).await?;
    let instance = format!(
        "{}_{}",
        options.pod_name.as_deref().unwrap_or("kueue-manager"),
        uuid::Uuid::new_v4()
    );
    let readiness = Readiness::default();
    let mut registry = Registry::default();
    let controllers = Controllers::new(
        client.clone(),
        settings::controllers(&configuration, &instance)?,
        &mut registry,
    );
    let context = controllers.context();
    dump_on_signal(context.clone())?;
    let gauges = WorldGauges {
        context: context.clone(),
        build: BUILD,
    };
    telemetry::metrics::register_gauges(&mut registry, Arc::new(gauges));

    let mut servers = Servers::new(&configuration, stop.clone());
    servers.probes(&readiness)?;
    servers.webhooks(&context, &readiness).await?;
    let scraped = telemetry::metrics::router(Arc::new(registry));
    servers.open_metrics(options.harness.metrics_port, scraped.clone());
    servers
        .metrics(scrape::guard(scraped, client.clone()))
        .await?;
    servers.visibility(&context, client.clone()).await?;
    servers.certificate(client);

    let everything = async {
        let outcome = controllers.run(&readiness, stop.clone()).await;
        stop.cancel();
        servers.join().await?;
        outcome.context("leader election")
    };
    in_time(everything, &stop, PATIENCE).await
}

/// What has begun may end after `stop`, but not take for ever: the API server may be gone in the middle of an answer.
pub(crate) async fn in_time(
    everything: impl Future<Output = anyhow::Result<()>>,
    stop: &CancellationToken,
    patience: Duration,
) -> anyhow::Result<()> {
    let overdue = async {
        stop.cancelled().await;
        tokio::time::sleep(patience).await;
    };
    tokio::select! {
        outcome = everything => outcome,
        () = overdue => anyhow::bail!("not stopped within {} s, giving up what has begun", patience.as_secs()),
    }
}

fn listen_for_signals(stop: CancellationToken) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        stop.cancel();
        tracing::info!("stopping");
    });
    Ok(())
}

/// Writes what the controller believes into the log whenever somebody sends SIGUSR2.
fn dump_on_signal(context: Arc<controllers::context::Context>) -> anyhow::Result<()> {
    let mut asked = signal(SignalKind::user_defined2()).context("cannot listen for SIGUSR2")?;
    tokio::spawn(async move {
        while asked.recv().await.is_some() {
            dump::write(&context);
        }
    });
    Ok(())
}

/// Everything that listens, and the certificate it shows.
struct Servers<'a> {
    configuration: &'a Configuration,
    certificate: Arc<Identity>,
    stop: CancellationToken,
    running: JoinSet<anyhow::Result<()>>,
}

impl<'a> Servers<'a> {
    fn new(configuration: &'a Configuration, stop: CancellationToken) -> Self {
        let certificate = if configuration.internal_cert_management.enable {
            Identity::empty()
        } else {
            Identity::folder(Path::new(&configuration.webhook.cert_dir))
        };
        Self {
            configuration,
            certificate: Arc::new(certificate.agreeing(settings::tls(&configuration.tls))),
            stop,
            running: JoinSet::new(),
        }
    }

    fn probes(&mut self, readiness: &Readiness) -> anyhow::Result<()> {
        let health = &self.configuration.health;
        let Some(address) =
            parse_bind(&health.bind_address).context("health.healthProbeBindAddress")?
        else {
            return Ok(());
        };
        let router = health::router(
            &health.liveness_endpoint,
            &health.readiness_endpoint,
            readiness,
        );
        let stop = self.stop.clone();
        self.running.spawn(async move {
            health::serve(address, router, stop)
                .await
                .with_context(|| format!("cannot serve probes on {address}"))
        });
        Ok(())
    }

    async fn webhooks(
        &mut self,
        context: &Arc<controllers::context::Context>,
        readiness: &Readiness,
    ) -> anyhow::Result<()> {
        let webhook = &self.configuration.webhook;
        let address =
            parse_bind(&format!("{}:{}", webhook.host, webhook.port)).context("webhook.host")?;
        let Some(address) = address else {
            return Ok(());
        };
        let state = webhooks::Context {
            features: self.configuration.features.clone(),
            managed_jobs_namespace_selector: self
                .configuration
                .managed_jobs_namespace_selector
                .clone(),
            manage_jobs_without_queue_name: self.configuration.manage_jobs_without_queue_name,
            integrations: settings::integrations(self.configuration),
            cluster: Arc::new(Surroundings(context.clone())),
        };
        // The watches themselves may need conversions, so these do not wait for them.
        let router = when_complete(webhooks::router(Arc::new(state)), context.clone())
            .merge(webhooks::conversions());
        self.serve("webhooks", address, router).await?;
        let (certificate, check, stop) = (
            self.certificate.clone(),
            readiness.check("webhook certificate"),
            self.stop.clone(),
        );
        self.running.spawn(async move {
            tokio::select! {
                () = until_shown(&certificate, &check) => {}
                () = stop.cancelled() => {}
            }
            Ok(())
        });
        Ok(())
    }

    /// For a harness on the same machine, which neither speaks TLS nor says who it is.
    fn open_metrics(&mut self, port: Option<u16>, router: axum::Router) {
        let Some(port) = port else {
            return;
        };
        let address = SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, port));
        let stop = self.stop.clone();
        self.running.spawn(async move {
            health::serve(address, router, stop)
                .await
                .with_context(|| format!("cannot serve metrics on {address}"))
        });
    }

    async fn metrics(&mut self, router: axum::Router) -> anyhow::Result<()> {
        match parse_bind(&self.configuration.metrics.bind_address).context("metrics.bindAddress")? {
            Some(address) => self.serve("metrics", address, router).await,
            None => Ok(()),
        }
    }

    /// The visibility API, whose people come through the API server's front proxy.
    async fn visibility(
        &mut self,
        context: &Arc<controllers::context::Context>,
        client: kube::Client,
    ) -> anyhow::Result<()> {
        if !self.configuration.features.on(gate::VISIBILITY_ON_DEMAND) {
            return Ok(());
        }
        let address = self.configuration.visibility.address();
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot serve the visibility API on {address}"))?;
        let proxy = Arc::new(FrontProxy::default());
        let router = webhooks::visibility::router(Arc::new(Waiting(context.clone())));
        let router = visibility::guard(router, client.clone(), proxy.clone());
        let (certificate, clients, stop) = (
            self.certificate.clone(),
            proxy.authorities.clone(),
            self.stop.clone(),
        );
        self.running.spawn(async move {
            tls::serve_known(listener, certificate, clients, router, stop)
                .await
                .context("serving the visibility API")
        });
        let stop = self.stop.clone();
        self.running.spawn(async move {
            proxy.follow(client, stop).await;
            Ok(())
        });
        Ok(())
    }

    /// Listens at once, so that a port in use is an error at start.
    async fn serve(
        &mut self,
        what: &'static str,
        address: SocketAddr,
        router: axum::Router,
    ) -> anyhow::Result<()> {
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot serve {what} on {address}"))?;
        let (certificate, stop) = (self.certificate.clone(), self.stop.clone());
        self.running.spawn(async move {
            tls::serve(listener, certificate, router, stop)
                .await
                .with_context(|| format!("serving {what}"))
        });
        Ok(())
    }

    /// Makes and renews the certificate, unless somebody else puts it into the folder.
    fn certificate(&mut self, client: kube::Client) {
        let management = &self.configuration.internal_cert_management;
        if !management.enable {
            return;
        }
        let options = certificate::Options {
            namespace: self.configuration.namespace.clone(),
            secret: management.webhook_secret_name.clone(),
            services: vec![
                management.webhook_service_name.clone(),
                VISIBILITY_SERVICE.to_owned(),
            ],
            clock: clock::now,
        };
        let (identity, stop) = (self.certificate.clone(), self.stop.clone());
        self.running.spawn(async move {
            certificate::keep(client, options, identity, stop).await;
            Ok(())
        });
    }

    async fn join(mut self) -> anyhow::Result<()> {
        while let Some(server) = self.running.join_next().await {
            server.context("a server panicked")??;
        }
        Ok(())
    }
}

/// Raises the check once there is a certificate; a mounted folder says nothing when it changes, so it is looked at.
async fn until_shown(certificate: &Identity, check: &Check) {
    while !certificate.refresh().await {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    check.set(true);
}
