//! Reconciler of LocalQueues: their status, and a sample of what they use where admission goes by past usage. Reference sections 4.7 and 4.11.

use std::sync::Arc;
use std::time::Duration;

use cache::{Cache, LocalQueueKey};
use jiff::Timestamp;
use kube::api::Api;
use kueue_api::conditions::{is_true, queue::ACTIVE};
use kueue_api::v1beta2::{LocalQueue, LocalQueueStatus};

use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;
use crate::watch::Seen;
use crate::work_queue::Next;

/// What a LocalQueue is to say, and after how long it is looked at again although nothing changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub status: LocalQueueStatus,
    pub again: Option<Duration>,
}

/// What follows for a LocalQueue from the world as it is; nothing if it is not there. Usage is measured when it is time, and what is said
/// about it changes only then.
pub fn outcome(cache: &mut Cache, queue: &LocalQueue, now: Timestamp) -> Option<Outcome> {
    let namespace = queue.metadata.namespace.as_deref().unwrap_or_default();
    let key = LocalQueueKey::new(namespace, queue.name());
    let mut status = cache.local_queue_status(&key, now)?;
    let before = queue.status.as_ref();
    let mut again = None;
    if is_true(&status.conditions, ACTIVE) {
        let sample = cache.sample_usage(&key, now);
        again = sample.map(|sample| sample.again);
        if sample.is_some_and(|sample| sample.taken) {
            status.fair_sharing = cache.written_usage(&key);
            return Some(Outcome { status, again });
        }
    }
    status.fair_sharing = before.and_then(|before| before.fair_sharing.clone());
    Some(Outcome { status, again })
}

/// Brings one LocalQueue up to date.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let Some(queue) = context.world.stores.local_queues.get(&key) else {
        context
            .metrics
            .forget_local_queue(&key.namespace, &key.name);
        return Ok(Next::OnChange);
    };
    let now = (context.clock)();
    let outcome = outcome(&mut context.world.cache.lock(), &queue, now);
    let Some(Outcome { status, again }) = outcome else {
        return Ok(Next::OnChange);
    };
    if queue.status.as_ref() != Some(&status) {
        let api: Api<LocalQueue> = Api::namespaced(context.client.0.clone(), &key.namespace);
        let written = context
            .writer
            .replace_status(queue.as_ref(), api, &status)
            .await?;
        context
            .world
            .on_local_queue(Seen::Object(Box::new(written)));
    }
    Ok(again.map_or(Next::OnChange, Next::After))
}
