//! Reconciler of ResourceFlavors: one that a ClusterQueue names cannot go.

use std::sync::Arc;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;
use crate::watch::Seen;
use crate::work_queue::Next;

/// Keeps the finalizer while the flavor is there, and lets it go when nobody names it.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let Some(flavor) = context.world.stores.flavors.get(&key) else {
        return Ok(Next::OnChange);
    };
    let deleting = flavor.metadata.deletion_timestamp.is_some();
    let named = context
        .world
        .cache
        .lock()
        .resource_flavor_in_use(&cache::FlavorName::new(key.name.as_str()));
    if deleting && named {
        return Ok(Next::OnChange);
    }
    if let Some(written) = context.writer.finalizer(flavor.as_ref(), !deleting).await? {
        let seen = if deleting {
            Seen::Gone(key, flavor.metadata.uid.clone())
        } else {
            Seen::Object(Box::new(written))
        };
        context.world.on_flavor(seen);
    }
    Ok(Next::OnChange)
}
