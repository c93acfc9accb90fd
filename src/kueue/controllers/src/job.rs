//! Reconciler of jobs, whatever their kind: reads the stores, asks [`decide`] for the next step, carries it out, and
//! asks again until nothing is left to do.

mod apply;
pub mod decide;
mod priority;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;
use crate::stores::Job;
use crate::work_queue::Next;

pub use apply::resource_of;
use decide::{Step, View};

/// Steps after which a reconciliation ends although more could be done: something would be going in circles.
const ROUNDS: usize = 12;

/// Brings one job and its Workload forward.
pub async fn reconcile(
    context: Arc<Context>,
    kind: usize,
    key: Key,
) -> Result<Next, ReconcileError> {
    for _ in 0..ROUNDS {
        let Some(job) = context
            .world
            .stores
            .jobs
            .get(kind)
            .and_then(|jobs| jobs.objects.get(&key))
        else {
            break;
        };
        let own = context.world.stores.workloads_of(job.0.uid());
        let _right = context
            .world
            .locks
            .hold(own.iter().map(|workload| Key::of(&workload.metadata)))
            .await;
        let step = step(&context, &job);
        tracing::trace!(job = %key, step = step.name());
        if step == Step::Rest {
            return Ok(Next::OnChange);
        }
        let rest = step == Step::ClassMissing;
        apply::step(&context, kind, &job, step).await?;
        if rest {
            break;
        }
    }
    Ok(Next::OnChange)
}

fn step(context: &Context, job: &Job) -> Step {
    let job = job.0.as_ref();
    let stores = &context.world.stores;
    let workloads = stores.workloads_of(job.uid());
    let managed = context.is_managed(job);
    if !managed && workloads.is_empty() {
        return Step::Rest;
    }
    let flavors = stores.flavor_specs();
    let priority = priority::of(job, stores);
    let view = View {
        job,
        workloads: &workloads,
        flavors: &flavors,
        managed,
        priority: priority.as_ref(),
        track_pods_ready: context.settings.track_pods_ready,
    };
    decide::next(&view)
}
