//! Reconciler of ClusterQueues: status, finalizer, and a word about what is asked for and not built yet.

use std::sync::Arc;

use kube::api::Api;
use kueue_api::conditions::{find, queue::ACTIVE};
use kueue_api::v1beta2::ClusterQueue;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::events::Kind::Warning;
use crate::key::Key;
use crate::work_queue::Next;

const REPORTER: &str = "kueue-cluster-queue-controller";

/// Brings one ClusterQueue up to date.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let Some(queue) = context.world.stores.cluster_queues.get(&key) else {
        context.metrics.forget_cluster_queue(&key.name);
        return Ok(Next::OnChange);
    };
    let name = cache::ClusterQueueName::new(key.name.as_str());
    let (status, in_use, unsupported) = {
        let cache = context.world.cache.lock();
        (
            cache.cluster_queue_status(&name, (context.clock)()),
            cache.cluster_queue_in_use(&name),
            cache.unsupported(&name),
        )
    };
    let deleting = queue.metadata.deletion_timestamp.is_some();
    if deleting && !in_use {
        return let_go(&context, &queue).await;
    }
    if !deleting && let Some(written) = context.writer.finalizer(queue.as_ref(), true).await? {
        context
            .world
            .on_cluster_queue(crate::watch::Seen::Object(Box::new(written)));
        return Ok(Next::After(std::time::Duration::ZERO));
    }
    if is_new_to_us(&queue) {
        for missing in unsupported {
            let note = scheduler::messages::unsupported(&missing);
            context.event(queue.as_ref(), REPORTER, Warning, "NotSupportedYet", note);
        }
    }
    if let Some(status) = status.filter(|status| queue.status.as_ref() != Some(status)) {
        let api: Api<ClusterQueue> = Api::all(context.client.0.clone());
        let written = context
            .writer
            .replace_status(queue.as_ref(), api, &status)
            .await?;
        context
            .world
            .on_cluster_queue(crate::watch::Seen::Object(Box::new(written)));
    }
    Ok(Next::OnChange)
}

/// Whether the status does not speak of this generation yet.
fn is_new_to_us(queue: &ClusterQueue) -> bool {
    let told = queue
        .status
        .as_ref()
        .and_then(|status| find(&status.conditions, ACTIVE));
    told.is_none_or(|condition| condition.observed_generation != queue.metadata.generation)
}

async fn let_go(context: &Arc<Context>, queue: &ClusterQueue) -> Result<Next, ReconcileError> {
    context.writer.finalizer(queue, false).await?;
    let key = Key::of(&queue.metadata);
    context
        .world
        .on_cluster_queue(crate::watch::Seen::Gone(key, queue.metadata.uid.clone()));
    Ok(Next::OnChange)
}
