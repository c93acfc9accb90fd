//! Tells workloads to leave, as a plan says: for others that need their quota, for a better flavor, because their nodes failed. Written before
//! the cycle is settled, because whoever waits for them has to know whether they could be told.

use std::sync::Arc;

use cache::{Cache, Plan, Report, WorkloadKey, WorkloadPatch};
use futures::stream::{self, StreamExt};
use scheduler::{Eviction, PlannedPreemption, messages};

use super::{key, tell, write};
use crate::context::Context;
use crate::events::Kind;

/// As many as the reference tells at once.
const AT_ONCE: usize = 8;

/// Tells all of them, and notes in the report who could not be told.
pub(super) async fn carry_out(context: &Arc<Context>, plan: &Plan, report: &mut Report) {
    let told = plan.preemptions.iter().cloned();
    let told = stream::iter(told.map(|preemption| preempt(context.clone(), preemption)));
    let preempted: Vec<bool> = told.buffered(AT_ONCE).collect().await;
    let told = plan.preemptions.iter().zip(&preempted);
    for (preemption, _) in told.filter(|(_, told)| !**told) {
        report.preemption_failed(&preemption.preemptor.key);
    }
    let told = plan.evictions.iter().cloned();
    let told = stream::iter(told.map(|eviction| evict(context.clone(), eviction)));
    let evicted: Vec<bool> = told.buffered(AT_ONCE).collect().await;
    let told = plan.evictions.iter().zip(&evicted);
    for (eviction, _) in told.filter(|(_, told)| !**told) {
        report.eviction_failed(&eviction.evicted().workload.key);
    }
}

async fn preempt(context: Arc<Context>, preemption: PlannedPreemption) -> bool {
    let target = &preemption.target.workload.key;
    let patch = |cache: &Cache| cache.preemption_patch(&preemption, (context.clock)());
    let (told, new) = leave(&context, target, patch).await;
    let stores = &context.world.stores;
    let preemptor = stores.workloads.get(&key(&preemption.preemptor.key));
    if let Some(preemptor) = preemptor.filter(|_| new) {
        let event = Cache::preemptor_event(&preemption);
        let (reporter, kind) = (super::REPORTER, Kind::Normal);
        context.event(&*preemptor, reporter, kind, &event.reason, event.note);
    }
    if new {
        let (queue, reason) = (preemption.cluster_queue.as_str(), preemption.reason);
        let around = context.world.around_queue(queue);
        context
            .metrics
            .preempted(queue, messages::preemption_reason(reason), &around);
    }
    told
}

async fn evict(context: Arc<Context>, eviction: Eviction) -> bool {
    let evicted = &eviction.evicted().workload.key;
    let patch = |cache: &Cache| cache.eviction_patch(&eviction, (context.clock)());
    leave(&context, evicted, patch).await.0
}

/// Whether it leaves, and whether it was told so just now.
async fn leave(
    context: &Arc<Context>,
    who: &WorkloadKey,
    patch: impl FnOnce(&Cache) -> Option<WorkloadPatch>,
) -> (bool, bool) {
    let _right = context.world.locks.hold([key(who)]).await;
    let Some(patch) = patch(&context.world.cache.lock()) else {
        return (true, false);
    };
    match write(context, &patch).await {
        Ok(before) => {
            if let Some(before) = &before {
                tell(context, before, &patch);
            }
            (true, before.is_some())
        }
        Err(error) => {
            tracing::warn!(workload = %who, "cannot be told to leave, will be tried again: {error}");
            (false, false)
        }
    }
}
