//! Reconciler of Workloads: stop policies, deactivation, orphans, retention, and what keeps one from being queued.

pub mod decide;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use kueue_api::conditions::reasons;
use kueue_api::v1beta2::{ClusterQueue, LocalQueue, Workload};
use serde_json::json;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::events::Kind::{Normal, Warning};
use crate::job::resource_of;
use crate::key::Key;
use crate::stores::{Stores, job_owner};
use crate::work_queue::Next;

use decide::{Owner, QueueView, Step, View};

const REPORTER: &str = "kueue-workload-controller";
const ROUNDS: usize = 8;

/// Brings one Workload forward.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let _right = context.world.locks.hold([key.clone()]).await;
    for _ in 0..ROUNDS {
        let Some(workload) = context.world.stores.workloads.get(&key) else {
            break;
        };
        let step = step(&context, &workload);
        tracing::trace!(workload = %key, step = step.name());
        if let Step::Rest(alarm) = step {
            return Ok(alarm.map_or(Next::OnChange, Next::After));
        }
        apply(&context, &workload, step).await?;
    }
    Ok(Next::OnChange)
}

fn step(context: &Context, workload: &Workload) -> Step {
    let stores = &context.world.stores;
    let local = stores
        .local_queues
        .get(&Key::new(workload.namespace(), workload.spec.queue_name()));
    let admission = workload.status.as_ref().and_then(|s| s.admission.as_ref());
    let name = match (admission, local.as_ref()) {
        (Some(admission), _) => admission.cluster_queue.as_str(),
        (None, Some(local)) => local.spec.cluster_queue(),
        (None, None) => "",
    };
    let cluster = stores.cluster_queues.get(&Key::cluster(name));
    let class = workload
        .spec
        .priority_class_ref
        .as_ref()
        .filter(|class| class.is_workload_class());
    let view = View {
        workload,
        owner: owner(context, workload),
        local_queue: local.as_deref().map(local_view),
        cluster_queue_name: name,
        cluster_queue: cluster.as_deref().map(cluster_view),
        obstacle: context
            .world
            .cache
            .lock()
            .pending_reason(&cache::WorkloadKey::new(
                workload.namespace(),
                workload.name(),
            )),
        class_value: class
            .and_then(|class| stores.classes.get(&Key::cluster(&class.name)))
            .map(|class| class.value),
        keep_finished: context.settings.keep_finished,
        now: (context.clock)(),
    };
    decide::next(&view)
}

fn owner(context: &Context, workload: &Workload) -> Owner {
    let known = |stores: &Stores| {
        let owner = job_owner(workload)?;
        let (_, jobs) = stores.jobs_of(owner)?;
        let job = jobs
            .objects
            .get(&Key::new(workload.namespace(), &owner.name));
        Some(if job.is_some_and(|job| job.0.uid() == owner.uid) {
            Owner::Present
        } else {
            Owner::Gone
        })
    };
    known(&context.world.stores).unwrap_or(Owner::None)
}

fn local_view(queue: &LocalQueue) -> QueueView {
    QueueView {
        stop: queue.spec.stop_policy(),
        deleting: queue.metadata.deletion_timestamp.is_some(),
    }
}

fn cluster_view(queue: &ClusterQueue) -> QueueView {
    QueueView {
        stop: queue.spec.stop_policy(),
        deleting: queue.metadata.deletion_timestamp.is_some(),
    }
}

async fn apply(
    context: &Arc<Context>,
    workload: &Workload,
    step: Step,
) -> Result<(), ReconcileError> {
    let (writer, world) = (&context.writer, &context.world);
    let key = Key::of(&workload.metadata);
    let uid = workload.metadata.uid.as_deref();
    match step {
        Step::Rest(_) => {}
        Step::DropFinalizer => {
            writer.release(workload).await?;
            if workload.metadata.deletion_timestamp.is_some() {
                world.lost_workload(&key, uid);
            }
        }
        Step::Delete => bereaved(context, workload).await?,
        Step::DeleteExpired => {
            context.event(
                workload,
                REPORTER,
                Normal,
                "Deleted",
                "Deleted finished workload due to elapsed retention".to_owned(),
            );
            delete(context, workload).await?;
        }
        Step::Orphaned(status) => {
            if !context.settings.finish_orphans {
                return Ok(());
            }
            world.saw_workload(writer.status(workload, &status).await?);
            context.metrics.finished(workload, (context.clock)());
        }
        Step::SetPriority(value) => world.saw_workload(
            writer
                .workload(workload, json!({"spec": {"priority": value}}))
                .await?,
        ),
        Step::Deactivate => world.saw_workload(
            writer
                .workload(workload, json!({"spec": {"active": false}}))
                .await?,
        ),
        Step::TimeIsUp { seconds, status } => {
            world.saw_workload(writer.status(workload, &status).await?);
            let note = format!("The maximum execution time ({seconds}s) exceeded");
            context.event(
                workload,
                REPORTER,
                Warning,
                reasons::MAXIMUM_EXECUTION_TIME_EXCEEDED,
                note,
            );
        }
        Step::Evict { eviction, status } => {
            world.saw_workload(writer.status(workload, &status).await?);
            context.event(
                workload,
                REPORTER,
                Normal,
                &eviction.event(),
                eviction.message.clone(),
            );
            context.metrics.evicted(
                workload,
                (eviction.reason, &eviction.cause),
                (context.clock)(),
            );
        }
        Step::Write(status) => world.saw_workload(writer.status(workload, &status).await?),
    }
    Ok(())
}

/// Deletes a Workload whose owner is gone, once the API server has confirmed that: a watch may be behind.
async fn bereaved(context: &Arc<Context>, workload: &Workload) -> Result<(), ReconcileError> {
    if let Some(owner) = job_owner(workload)
        && let Some((kind, jobs)) = context.world.stores.jobs_of(owner)
    {
        let key = Key::new(workload.namespace(), &owner.name);
        if let Some(job) = context
            .writer
            .find_job(&resource_of(jobs.kind), &key)
            .await?
            && job.metadata.uid.as_deref() == Some(&owner.uid)
        {
            context.world.saw_job(kind, job);
            return Ok(());
        }
    }
    delete(context, workload).await
}

/// Deletes a Workload and lets it go at once, so that its quota is free without waiting for the garbage collector.
async fn delete(context: &Arc<Context>, workload: &Workload) -> Result<(), ReconcileError> {
    context.writer.delete(workload).await?;
    let metadata = kueue_api::ObjectMeta {
        resource_version: None,
        ..workload.metadata.clone()
    };
    context
        .writer
        .release(&Workload {
            metadata,
            ..workload.clone()
        })
        .await?;
    context.world.lost_workload(
        &Key::of(&workload.metadata),
        workload.metadata.uid.as_deref(),
    );
    Ok(())
}
