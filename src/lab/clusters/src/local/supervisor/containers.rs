//! The order of a start where the servers are containers: they are made or started, then furnished like any other
//! environment. What plays simulated nodes, and the socket for sandboxes, run here beside the platform.

use kube::Client;

use super::keeper::Keeper;
use super::start::{LONGEST_START, Running, certificates, keep, phase, use_port};
use super::{Context, ready, relay};
use crate::kind::{self, Cluster, Settings};
use crate::local::servers;
use crate::pki::Pki;
use crate::provider::Phase;
use crate::{kwok, walls};

pub(super) async fn start(
    context: &Context,
    running: &mut Running,
    settings: &Settings,
) -> Result<(), String> {
    let layout = &context.layout;
    let profile = &context.record.profile;
    phase(context, Phase::Directory, async {
        kwok::write_configuration(&layout.run())
            .map_err(|error| error.to_string())
            .map(drop)
    })
    .await?;
    let api = layout.api_socket();
    relay::serve(&api, context.port.subscribe(), running.cancel.clone())
        .map_err(|error| format!("listen on {}: {error}", api.display()))?;
    let pki = certificates(context).await?;
    let cluster = Cluster::of(settings, layout);
    running.cluster = Some(cluster.clone());
    phase(
        context,
        Phase::Containers,
        cluster.up(layout, profile, &running.cancel),
    )
    .await?;
    let (admin, port) = phase(
        context,
        Phase::ApiServer,
        api_server(context, &cluster, &pki),
    )
    .await?;
    Box::pin(furnish(context, running, &admin)).await?;
    look_after(context, running, cluster, port);
    phase(context, Phase::Ready, async { Ok(()) }).await
}

async fn api_server(
    context: &Context,
    cluster: &Cluster,
    pki: &Pki,
) -> Result<(Client, u16), String> {
    let port = cluster.port().await?;
    let admin = use_port(context, pki, port).await?;
    tokio::time::timeout(LONGEST_START, ready::api_server(&admin))
        .await
        .map_err(|_| {
            format!(
                "the API server in the containers does not answer after {} s",
                LONGEST_START.as_secs()
            )
        })?;
    Ok((admin, port))
}

async fn furnish(context: &Context, running: &mut Running, admin: &Client) -> Result<(), String> {
    let profile = context.record.profile.simulated();
    let accounts = async {
        ready::default_service_account(admin).await;
        Ok(())
    };
    let rules = async { walls::apply(admin).await.map_err(|error| error.to_string()) };
    let nodes = async {
        kwok::create_namespaces(admin, &profile)
            .await
            .map_err(|error| error.to_string())?;
        kwok::create_nodes(admin, &profile, (context.now)())
            .await
            .map_err(|error| error.to_string())
    };
    let real = async {
        phase(
            context,
            Phase::HostNode,
            kind::furnish(admin, &context.record.profile),
        )
        .await?;
        phase(context, Phase::Nodes, nodes).await
    };
    tokio::try_join!(
        phase(context, Phase::ControllerManager, accounts),
        phase(context, Phase::Rules, rules),
        real,
    )?;
    running.keepers.push(kwok(context)?);
    tokio::spawn(kwok::keep_alive(
        admin.clone(),
        profile,
        context.now,
        running.cancel.clone(),
    ));
    tokio::spawn(kwok::remove_orphans(admin.clone(), running.cancel.clone()));
    tokio::spawn(kind::provide_volumes(
        admin.clone(),
        context.layout.volumes(),
        running.cancel.clone(),
    ));
    Ok(())
}

fn kwok(context: &Context) -> Result<Keeper, String> {
    let (layout, programs) = (context.layout.clone(), context.record.programs.clone());
    keep(context, "kwok", move || servers::kwok(&layout, &programs))
}

/// A cluster that lost its place starts anew, which finds out where it is; one that lost a container says so by failing.
fn look_after(context: &Context, running: &Running, cluster: Cluster, port: u16) {
    let lost = context.lost.clone();
    let workers = context.record.profile.clone();
    let cancel = running.cancel.clone();
    tokio::spawn(cancel.run_until_cancelled_owned(async move {
        let workers = kind::worker_count(&workers);
        cluster
            .look_after(workers, port, |why| {
                tracing::warn!(why, "the environment must start anew");
                lost.cancel();
            })
            .await;
    }));
}
