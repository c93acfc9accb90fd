//! Reconciler of Cohorts: their share where fair sharing is on. A circle is told in an event. Reference sections 4.6 and 4.11.

use std::sync::Arc;

use kube::api::Api;
use kueue_api::v1beta2::{Cohort, CohortStatus};

use crate::context::Context;
use crate::error::ReconcileError;
use crate::events::Kind;
use crate::key::Key;
use crate::watch::Seen;
use crate::work_queue::Next;

#[cfg(test)]
mod tests;

const REPORTER: &str = "cohort-controller";

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
    if let Some(circle) = circle(&key.name, |name| parent(&context, name)) {
        let note = format!(
            "The cohort has a cycle: {}; its ClusterQueues admit nothing until this changes",
            circle.join(" → ")
        );
        context.event(
            cohort.as_ref(),
            REPORTER,
            Kind::Warning,
            "CohortCycle",
            note,
        );
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

fn parent(context: &Context, name: &str) -> Option<String> {
    let cohort = context.world.stores.cohorts.get(&Key::cluster(name))?;
    cohort.spec.parent().map(str::to_owned)
}

/// The way upwards from a cohort until one comes for the second time; `None` if it ends.
fn circle(name: &str, parent: impl Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    let mut way = vec![name.to_owned()];
    let mut current = parent(name);
    while let Some(next) = current {
        let known = way.contains(&next);
        current = parent(&next);
        way.push(next);
        if known {
            return Some(way);
        }
    }
    None
}
