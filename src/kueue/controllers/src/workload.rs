//! Reconciler of Workloads: checks, stop policies, pods that are not ready, deactivation, orphans, retention, and what keeps one from being
//! queued. `decide.rs` decides, this gathers what that rests on and carries it out.

pub mod decide;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use jiff::Timestamp;
use kueue_api::v1beta2::Workload;
use serde_json::json;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::events::Kind::Normal;
use crate::job::resource_of;
use crate::key::Key;
use crate::stores::{Stores, job_owner};
use crate::work_queue::Next;
use crate::world::World;

use decide::{Change, Owner, Rules, Step, View};

const REPORTER: &str = "kueue-workload-controller";
const ROUNDS: usize = 8;

/// Brings one Workload forward.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let _right = context.world.locks.hold([key.clone()]).await;
    for _ in 0..ROUNDS {
        let Some(workload) = context.world.stores.workloads.get(&key) else {
            break;
        };
        let rules = &context.settings.workload_rules;
        let step = step(&context.world, rules, &workload, (context.clock)());
        tracing::trace!(workload = %key, step = step.name());
        if let Step::Rest(alarm) = step {
            return Ok(alarm.map_or(Next::OnChange, Next::After));
        }
        apply(&context, &workload, step).await?;
    }
    Ok(Next::OnChange)
}

/// What a Workload needs next, as the world is now.
#[must_use]
pub fn step(world: &World, rules: &Rules, workload: &Workload, now: Timestamp) -> Step {
    let stores = &world.stores;
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
    let class = workload.spec.priority_class_ref.as_ref();
    let class = class.filter(|class| class.is_workload_class());
    let key = cache::WorkloadKey::new(workload.namespace(), workload.name());
    let view = View {
        workload,
        owner: owner(stores, workload),
        local_queue: local.as_deref(),
        cluster_queue_name: name,
        cluster_queue: cluster.as_deref(),
        obstacles: world.cache.lock().obstacles_of(&key),
        class_value: class
            .and_then(|class| stores.classes.get(&Key::cluster(&class.name)))
            .map(|class| class.value),
        rules,
        now,
    };
    decide::next(&view)
}

fn owner(stores: &Stores, workload: &Workload) -> Owner {
    let known = || {
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
    known().unwrap_or(Owner::None)
}

async fn apply(
    context: &Arc<Context>,
    workload: &Workload,
    step: Step,
) -> Result<(), ReconcileError> {
    let (writer, world) = (&context.writer, &context.world);
    match step {
        Step::Rest(_) => {}
        Step::DropFinalizer => let_go(context, workload).await?,
        Step::Delete => bereaved(context, workload).await?,
        Step::DeleteExpired => {
            delete(context, workload).await?;
            let note = "Deleted finished workload due to elapsed retention";
            context.event(workload, REPORTER, Normal, "Deleted", note.to_owned());
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
        Step::Write(change) => {
            let written = writer.status(workload, &change.status).await?;
            tell(context, workload, *change);
            world.saw_workload(written);
        }
    }
    Ok(())
}

/// Says what a written status means.
fn tell(context: &Context, before: &Workload, change: Change) {
    for event in change.events {
        let kind = event.kind.into();
        context.event(before, REPORTER, kind, &event.reason, event.note);
    }
}

async fn let_go(context: &Arc<Context>, workload: &Workload) -> Result<(), ReconcileError> {
    let released = context.writer.release(workload).await?;
    if workload.metadata.deletion_timestamp.is_some() {
        let (key, uid) = (
            Key::of(&workload.metadata),
            workload.metadata.uid.as_deref(),
        );
        context.world.lost_workload(&key, uid);
    } else if let Some(released) = released {
        context.world.saw_workload(released);
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
