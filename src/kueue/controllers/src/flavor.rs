//! Reconciler of ResourceFlavors: one that a ClusterQueue names cannot go.

use std::sync::Arc;

use kueue_api::names::RESOURCE_IN_USE_FINALIZER;
use kueue_api::v1beta2::ResourceFlavor;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;
use crate::watch::Seen;
use crate::work_queue::Next;

/// Whether a flavor is to carry our finalizer; nothing if that stays as it is.
#[must_use]
pub fn finalizer(flavor: &ResourceFlavor, named: bool) -> Option<bool> {
    let deleting = flavor.metadata.deletion_timestamp.is_some();
    let mut all = flavor.metadata.finalizers.iter().flatten();
    let carries = all.any(|name| name == RESOURCE_IN_USE_FINALIZER);
    match (deleting, named) {
        (true, true) => None,
        _ => (carries == deleting).then_some(!deleting),
    }
}

/// Keeps the finalizer while the flavor is there, and lets it go when nobody names it.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let Some(flavor) = context.world.stores.flavors.get(&key) else {
        return Ok(Next::OnChange);
    };
    let name = cache::FlavorName::new(key.name.as_str());
    let named = context.world.cache.lock().resource_flavor_in_use(&name);
    let Some(present) = finalizer(&flavor, named) else {
        return Ok(Next::OnChange);
    };
    if let Some(written) = context.writer.finalizer(flavor.as_ref(), present).await? {
        let seen = if present {
            Seen::Object(Box::new(written))
        } else {
            Seen::Gone(key, flavor.metadata.uid.clone())
        };
        context.world.on_flavor(seen);
    }
    Ok(Next::OnChange)
}
