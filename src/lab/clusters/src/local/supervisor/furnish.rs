//! The second half of a start: everything that needs an API server.
//!
//! None of these needs another, but for the simulator of nodes, which needs its role; so they begin together.

use kube::Client;

use super::start::{Running, answers, keep, log_tail, phase};
use super::{Context, ready};
use crate::host_node::{self, HostNode, Image};
use crate::local::servers;
use crate::pki::{self, Pki};
use crate::provider::Phase;
use crate::{egress, kwok, walls};

const MANAGER: &str = "kube-controller-manager";
const SCHEDULER: &str = "kube-scheduler";

pub(super) async fn furnish(
    context: &Context,
    running: &mut Running,
    admin: &Client,
    pki: &Pki,
    routes: egress::Routes,
) -> Result<(), String> {
    let own = || (context.layout.clone(), context.record.programs.clone());
    let (layout, programs) = own();
    let manager = keep(context, MANAGER, move || {
        servers::controller_manager(&layout, &programs)
    })?;
    let manager_deaths = manager.deaths();
    running.keepers.push(manager);
    let (layout, programs) = own();
    let scheduler = keep(context, SCHEDULER, move || {
        servers::scheduler(&layout, &programs)
    })?;
    let scheduler_deaths = scheduler.deaths();
    running.keepers.push(scheduler);

    let accounts = answers(
        context,
        MANAGER,
        manager_deaths,
        ready::default_service_account(admin),
    );
    let rules = async { walls::apply(admin).await.map_err(|error| error.to_string()) };
    let ((), (), (), host_node) = tokio::try_join!(
        phase(context, Phase::ControllerManager, accounts),
        phase(context, Phase::Rules, rules),
        phase(context, Phase::Nodes, nodes(context, admin)),
        phase(context, Phase::HostNode, host_node(context, pki, routes)),
    )?;
    running.host_node = Some(host_node);
    let (layout, programs) = own();
    running.keepers.push(keep(context, "kwok", move || {
        servers::kwok(&layout, &programs)
    })?);
    tokio::spawn(kwok::keep_alive(
        admin.clone(),
        context.record.profile.clone(),
        context.now,
        running.cancel.clone(),
    ));
    tokio::spawn(kwok::remove_orphans(admin.clone(), running.cancel.clone()));
    // It has no port to ask; that it lives is all there is to see.
    phase(context, Phase::Scheduler, async {
        if *scheduler_deaths.borrow() == 0 {
            Ok(())
        } else {
            Err(log_tail(context, SCHEDULER))
        }
    })
    .await
}

async fn nodes(context: &Context, admin: &Client) -> Result<(), String> {
    let profile = &context.record.profile;
    kwok::create_namespaces(admin, profile)
        .await
        .map_err(|error| error.to_string())?;
    kwok::create_nodes(admin, profile, (context.now)())
        .await
        .map_err(|error| error.to_string())
}

async fn host_node(
    context: &Context,
    pki: &Pki,
    routes: egress::Routes,
) -> Result<HostNode, String> {
    let layout = &context.layout;
    let programs = &context.record.programs;
    let text = |name: &str| pki.text(name).map_err(|error| error.to_string());
    let options = host_node::Options {
        client: ready::client(&layout.kubeconfig(pki::HOST_NODE.file)).await?,
        dir: layout.host_node(),
        api_socket: layout.api_socket(),
        sandbox_relay: programs.sandbox_relay.clone(),
        images: programs
            .manager
            .clone()
            .map(Image::kueue_manager)
            .into_iter()
            .collect(),
        serving_cert: text("kubelet-serving.pem")?,
        serving_key: text("kubelet-serving-key.pem")?,
        client_ca: text("ca.pem")?,
        kubelet_client_cert: text("apiserver-kubelet.pem")?,
        routes,
        clock: context.now,
    };
    host_node::start(options)
        .await
        .map_err(|error| error.to_string())
}
