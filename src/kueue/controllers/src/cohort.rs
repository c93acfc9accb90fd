//! Reconciler of Cohorts: their status has nothing to say before fair sharing is built, so only a circle is reported.

use std::sync::Arc;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;
use crate::work_queue::Next;

/// Reports a cohort that is its own ancestor; its members admit nothing until that changes.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let mut seen = vec![key.name.clone()];
    let mut current = context.world.stores.cohorts.get(&key);
    while let Some(cohort) = current {
        let Some(parent) = cohort.spec.parent() else {
            return Ok(Next::OnChange);
        };
        if seen.iter().any(|name| name == parent) {
            return Err(ReconcileError::CohortCycle);
        }
        seen.push(parent.to_owned());
        current = context.world.stores.cohorts.get(&Key::cluster(parent));
    }
    Ok(Next::OnChange)
}
