//! Reconcilers of `Topology` and `AdmissionCheck` objects: what others name cannot go before they do. While such an object is there it has our
//! finalizer; when it is deleted and nobody names it any more, the finalizer goes.

use std::sync::Arc;

use kueue_api::v1beta2::{AdmissionCheck, Topology};

use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;
use crate::stores::Stores;
use crate::watch::Seen;
use crate::work_queue::Next;
use crate::{multikueue, provisioning};

#[cfg(test)]
mod tests;

/// Looks after one Topology.
pub async fn topology(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let Some(topology) = context.world.stores.topologies.get(&key) else {
        return Ok(Next::OnChange);
    };
    let deleting = topology.metadata.deletion_timestamp.is_some();
    if deleting && topology_is_named(&context.world.stores, &key.name) {
        return Ok(Next::OnChange);
    }
    let written = context.writer.finalizer(&*topology, !deleting).await?;
    if let Some(seen) = news(deleting, key, topology.metadata.uid.clone(), written) {
        context.world.on_topology(seen);
    }
    Ok(Next::OnChange)
}

/// Looks after one `AdmissionCheck`.
pub async fn check(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let Some(check) = context.world.stores.checks.get(&key) else {
        return Ok(Next::OnChange);
    };
    let deleting = check.metadata.deletion_timestamp.is_some();
    if deleting && check_is_named(&context.world.stores, &key.name) {
        return Ok(Next::OnChange);
    }
    let written = context.writer.finalizer(&*check, !deleting).await?;
    if let Some(seen) = news(deleting, key, check.metadata.uid.clone(), written) {
        context.world.on_check(seen);
    } else if !deleting {
        multikueue::check::reconcile(&context, &check).await?;
        provisioning::check::reconcile(&context, &check).await?;
    }
    Ok(Next::OnChange)
}

fn news<K>(deleting: bool, key: Key, uid: Option<String>, written: Option<K>) -> Option<Seen<K>> {
    let written = written?;
    Some(if deleting {
        Seen::Gone(key, uid)
    } else {
        Seen::Object(Box::new(written))
    })
}

fn topology_is_named(stores: &Stores, name: &str) -> bool {
    let flavors = stores.flavors.list();
    flavors
        .iter()
        .any(|flavor| flavor.spec.topology_name.as_deref() == Some(name))
}

fn check_is_named(stores: &Stores, name: &str) -> bool {
    let queues = stores.cluster_queues.list();
    queues.iter().any(|queue| {
        let strategy = queue.spec.admission_checks_strategy.as_ref();
        let rules = strategy
            .into_iter()
            .flat_map(|strategy| &strategy.admission_checks);
        rules.into_iter().any(|rule| rule.name == name)
    })
}

/// Those that are being deleted, and may go now that something else changed.
pub(crate) fn leaving(stores: &Stores) -> (Vec<Key>, Vec<Key>) {
    let topologies = stores.topologies.list();
    let checks = stores.checks.list();
    let topologies = topologies.iter().map(|one: &Arc<Topology>| &one.metadata);
    let checks = checks.iter().map(|one: &Arc<AdmissionCheck>| &one.metadata);
    let leaving = |meta: &&kueue_api::ObjectMeta| meta.deletion_timestamp.is_some();
    (
        topologies.filter(leaving).map(Key::of).collect(),
        checks.filter(leaving).map(Key::of).collect(),
    )
}
