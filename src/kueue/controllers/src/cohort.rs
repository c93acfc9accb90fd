//! Reconciler of Cohorts: their share where fair sharing is on. A circle is reported. Reference sections 4.6 and 4.11.

use std::sync::Arc;

use kube::api::Api;
use kueue_api::v1beta2::{Cohort, CohortStatus};

use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;
use crate::watch::Seen;
use crate::work_queue::Next;

/// Brings one Cohort up to date, unless it is its own ancestor; then its members admit nothing until that changes.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let Some(cohort) = context.world.stores.cohorts.get(&key) else {
        let name = cache::CohortName::new(key.name.as_str());
        // Others may still belong to it, though nobody made it.
        if !context.world.cache.lock().knows_cohort(&name) {
            context.metrics.forget_cohort(&key.name);
        }
        return Ok(Next::OnChange);
    };
    if is_circle(&context, &key) {
        return Err(ReconcileError::CohortCycle);
    }
    let name = cache::CohortName::new(key.name.as_str());
    let fair_sharing = context.world.cache.lock().cohort_share(&name);
    let status = CohortStatus { fair_sharing };
    let before = cohort.status.as_ref();
    let same = before.map_or(status.fair_sharing.is_none(), |before| *before == status);
    if same {
        return Ok(Next::OnChange);
    }
    let api: Api<Cohort> = Api::all(context.client.0.clone());
    let written = context.writer.replace_status(cohort.as_ref(), api, &status);
    context
        .world
        .on_cohort(Seen::Object(Box::new(written.await?)));
    Ok(Next::OnChange)
}

fn is_circle(context: &Context, key: &Key) -> bool {
    let cohorts = &context.world.stores.cohorts;
    let mut seen = vec![key.name.clone()];
    let mut current = cohorts.get(key);
    while let Some(parent) = current.as_ref().and_then(|cohort| cohort.spec.parent()) {
        if seen.iter().any(|name| name == parent) {
            return true;
        }
        seen.push(parent.to_owned());
        current = cohorts.get(&Key::cluster(parent));
    }
    false
}
