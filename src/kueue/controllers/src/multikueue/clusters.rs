//! Reconciler of `MultiKueueCluster`s: a connection to each, made from its kubeconfig, and the condition that says how it stands. Reference section
//! 4.17, "Clusters".

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::Api;
use kueue_api::Condition;
use kueue_api::conditions::{self, condition, queue};
use kueue_api::v1beta2::{ClusterSource, LocationType, MultiKueueCluster};

use super::kubeconfig::{self, Refused};
use super::links::State;
use super::{Settings, connection};
use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;
use crate::work_queue::Next;

/// How soon a changed Secret or file is noticed.
const AGAIN: Duration = Duration::from_secs(15);

/// The key of a Secret under which the kubeconfig is.
const SECRET_KEY: &str = "kubeconfig";

/// Looks after one cluster.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let Some(settings) = &context.settings.multikueue else {
        return Ok(Next::OnChange);
    };
    let cluster = context.world.stores.clusters.get(&key);
    let Some(cluster) = cluster.filter(|one| one.metadata.deletion_timestamp.is_none()) else {
        if context.links.drop(&key.name) {
            context.world.ask_handed();
        }
        return Ok(Next::OnChange);
    };
    let standing = match source(&context, settings, &cluster).await {
        Ok(text) => connect(&context, &key.name, &text).await,
        Err(refused) => Err(refused),
    };
    if standing.is_err() && context.links.drop(&key.name) {
        context.world.ask_handed();
    }
    write(&context, &cluster, standing).await?;
    Ok(Next::After(AGAIN))
}

/// The text of the kubeconfig.
async fn source(
    context: &Context,
    settings: &Settings,
    cluster: &MultiKueueCluster,
) -> Result<String, Refused> {
    let ClusterSource { kube_config, .. } = &cluster.spec.cluster_source;
    let Some(named) = kube_config else {
        let words = "clusterProfileRef is not supported by this controller yet, use kubeConfig";
        return Err(Refused::Bad(words.to_owned()));
    };
    if named.location_type == Some(LocationType::Path) {
        let path = kubeconfig::path(&named.location, settings.checked_paths)?;
        let read = tokio::fs::read_to_string(&path).await;
        return read.map_err(|error| Refused::Bad(format!("{}: {error}", path.display())));
    }
    let api: Api<Secret> = Api::namespaced(context.client.0.clone(), &settings.namespace);
    let secret = api.get(&named.location).await;
    let secret = secret.map_err(|error| Refused::Bad(error.to_string()))?;
    let data = secret.data.as_ref().and_then(|data| data.get(SECRET_KEY));
    let Some(bytes) = data else {
        let place = format!("{}/{}", settings.namespace, named.location);
        let words = format!("key {SECRET_KEY:?} not found in secret {place:?}");
        return Err(Refused::Bad(words));
    };
    String::from_utf8(bytes.0.clone()).map_err(|error| Refused::Bad(error.to_string()))
}

/// Sees to a connection made from this kubeconfig, and says how it stands.
async fn connect(context: &Arc<Context>, name: &str, text: &str) -> Result<State, Refused> {
    if let Some(state) = context.links.state(name, text) {
        return Ok(state);
    }
    let config = kubeconfig::settings(kubeconfig::read(text)?).await?;
    let client = Client::try_from(config).map_err(|error| Refused::Bad(error.to_string()))?;
    let stop = context.stop.child_token();
    context
        .links
        .put(name, client.clone(), text.to_owned(), stop.clone());
    connection::start(context, name, &client, &stop);
    Ok(State::Connecting)
}

/// The condition `Active`; none while nothing is known yet.
#[must_use]
pub fn active(
    cluster: &MultiKueueCluster,
    standing: &Result<State, Refused>,
    now: jiff::Timestamp,
) -> Option<Condition> {
    let generation = cluster.metadata.generation;
    let say = |status, reason, message: &str| {
        Some(condition(
            queue::ACTIVE,
            status,
            reason,
            message,
            generation,
            now,
        ))
    };
    match standing {
        Ok(State::Connecting) => None,
        Ok(State::Connected) => say(true, "Active", "Connected"),
        Ok(State::Lost {
            why,
            attempts,
            next,
            ..
        }) => {
            let next = next.strftime("%Y-%m-%dT%H:%M:%SZ");
            let message =
                format!("{why}; connection attempts: {attempts}, next connection attempt: {next}");
            say(false, "ClientConnectionFailed", &message)
        }
        Err(refused) => say(false, refused.reason(), &refused.to_string()),
    }
}

async fn write(
    context: &Context,
    cluster: &MultiKueueCluster,
    standing: Result<State, Refused>,
) -> Result<(), ReconcileError> {
    let Some(condition) = active(cluster, &standing, (context.clock)()) else {
        return Ok(());
    };
    let mut status = cluster.status.clone().unwrap_or_default();
    if conditions::set(&mut status.conditions, condition) {
        let api: Api<MultiKueueCluster> = Api::all(context.client.0.clone());
        let written = context.writer.replace_status(cluster, api, &status).await?;
        context.world.saw_cluster(written);
    }
    Ok(())
}
