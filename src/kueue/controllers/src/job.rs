//! Reconciler of jobs, whatever their kind: reads the stores, asks [`decide`] for the next step, carries out the [`effects`] of it, and
//! asks again until nothing is left to do.

mod apply;
pub mod decide;
pub mod effects;
pub(crate) mod priority;
mod standing;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::events::Kind::Warning;
use crate::key::Key;
use crate::stores::Job;
use crate::work_queue::Next;

pub use apply::resource_of;
pub(crate) use priority::named as named_priority;
pub use priority::{among as priority_among, named_among as named_priority_among};

use apply::Act;
use decide::{Standing, Step, View};

/// Steps after which a reconciliation ends although more could be done: something would be going in circles.
const ROUNDS: usize = 12;

/// Brings one job and its Workload forward.
pub async fn reconcile(
    context: Arc<Context>,
    kind: usize,
    key: Key,
) -> Result<Next, ReconcileError> {
    for _ in 0..ROUNDS {
        let found = context.world.stores.jobs.get(kind);
        let Some(job) = found.and_then(|jobs| jobs.objects.get(&key)) else {
            break;
        };
        let standing = standing::of(&context, job.0.as_ref()).await?;
        let own = workloads(&context, &job);
        let _right = context
            .world
            .locks
            .hold(own.iter().map(|workload| Key::of(&workload.metadata)))
            .await;
        let Some(job) = complete(&context, job)? else {
            return Ok(Next::OnChange);
        };
        if let Some(next) = round(&context, kind, &job, standing).await? {
            return Ok(next);
        }
    }
    Ok(Next::OnChange)
}

/// The job with what describes its pods. None as long as that is not there: nothing can be decided without it but what becomes of a job that
/// is over.
fn complete(context: &Arc<Context>, job: Arc<Job>) -> Result<Option<Arc<Job>>, ReconcileError> {
    let bare = job.0.as_ref();
    if !bare.lacks_runtime() {
        return Ok(Some(job));
    }
    let of = bare.runtime_ref();
    let runtime = of.as_ref().and_then(|of| context.world.stores.runtime(of));
    let Some(runtime) = runtime else {
        if bare.finished().is_some() {
            return Ok(Some(job));
        }
        let name = of.map(|of| of.name).unwrap_or_default();
        let note = format!("runtime {name:?} not found");
        context.job_event(bare, Warning, "ErrWorkloadCompose", note);
        return Ok(None);
    };
    let mut whole = bare.again(bare.to_value()?)?;
    whole.set_runtime(runtime.object.clone());
    Ok(Some(Arc::new(Job(whole))))
}

/// The Workload that the job names, or those that were made for one of its kind and name.
fn workloads(context: &Context, job: &Job) -> Vec<Arc<kueue_api::v1beta2::Workload>> {
    let (job, stores) = (job.0.as_ref(), &context.world.stores);
    match job.prebuilt_workload(context.settings.jobs.annotated_names) {
        Some(name) => {
            let found = stores.workloads.get(&Key::new(job.namespace(), name));
            found.into_iter().collect()
        }
        None => stores.workloads_of(job.kind(), &Key::of(job.meta())),
    }
}

/// One step; none if another may follow.
async fn round(
    context: &Arc<Context>,
    kind: usize,
    job: &Job,
    standing: Standing,
) -> Result<Option<Next>, ReconcileError> {
    let workloads = workloads(context, job);
    let stores = &context.world.stores;
    let flavors = stores.flavor_specs();
    let priority = priority::of(job.0.as_ref(), stores);
    let view = View {
        job: job.0.as_ref(),
        standing,
        workloads: &workloads,
        flavors: &flavors,
        priority: priority.as_ref(),
        rules: &context.settings.jobs,
        now: (context.clock)(),
    };
    let step = decide::next(&view);
    tracing::trace!(job = %Key::of(view.job.meta()), step = step.name());
    let next = match &step {
        Step::Wait(left) => Next::After(*left),
        _ => Next::OnChange,
    };
    let last = step.is_last();
    let act = Act::new(context, kind, view.job);
    let created = matches!(step, Step::Create);
    let done = act.all(effects::of(&view, step)?).await?;
    if created {
        act.measure(view.now);
    }
    Ok((last || !done).then_some(next))
}
