//! Reconciler of LocalQueues: their status.

use std::sync::Arc;

use kube::api::Api;
use kueue_api::v1beta2::LocalQueue;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;
use crate::watch::Seen;
use crate::work_queue::Next;

/// Brings one LocalQueue up to date.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let Some(queue) = context.world.stores.local_queues.get(&key) else {
        context
            .metrics
            .forget_local_queue(&key.namespace, &key.name);
        return Ok(Next::OnChange);
    };
    let name = cache::LocalQueueKey::new(key.namespace.as_str(), key.name.as_str());
    let status = context
        .world
        .cache
        .lock()
        .local_queue_status(&name, (context.clock)());
    if let Some(status) = status.filter(|status| queue.status.as_ref() != Some(status)) {
        let api: Api<LocalQueue> = Api::namespaced(context.client.0.clone(), &key.namespace);
        let written = context
            .writer
            .replace_status(queue.as_ref(), api, &status)
            .await?;
        context
            .world
            .on_local_queue(Seen::Object(Box::new(written)));
    }
    Ok(Next::OnChange)
}
