//! The scheduling loop: waits for something to do, takes the heads of the queues, lets the scheduler decide, and carries
//! the plan out. Whoever has to leave is told first (`scheduling/leave.rs`); admissions are assumed in the cache at once and written side by side with the next cycle.

mod explain;
mod leave;
mod log;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cache::{Admission, Plan, Report, WorkloadKey, WorkloadPatch};
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use kueue_api::v1beta2::Workload;
use scheduler::messages;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::key::Key;
use crate::write::WriteError;
use explain::Explanations;

const REPORTER: &str = "kueue-admission";
/// Longest time in which news gather after cycles that admitted nothing.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// Whoever waits is tried again after this time although nothing has changed, as the reference does it.
const WITHOUT_NEWS: Duration = Duration::from_millis(100);
/// A workload whose write failed is tried again after this time.
const RETRY: Duration = Duration::from_millis(50);
/// Status writes at once.
const WRITES: usize = 64;

/// What is being written beside the cycles.
struct Writes {
    admissions: FuturesUnordered<BoxFuture<'static, ()>>,
    explanations: Explanations,
}

impl Writes {
    fn has_room(&self) -> bool {
        self.admissions.len() < WRITES
    }

    /// Goes on until something was written; for ever if there is nothing to write.
    async fn next(&mut self) {
        tokio::select! {
            Some(()) = self.admissions.next() => {}
            Some(()) = self.explanations.next() => {}
            else => std::future::pending().await,
        }
    }
}

/// Runs cycles until `stop`; writes begun are finished.
pub async fn run(context: Arc<Context>, stop: CancellationToken) {
    let mut writes = Writes {
        admissions: FuturesUnordered::new(),
        explanations: Explanations::new(stop.clone()),
    };
    let mut pause = FIRST_PAUSE;
    while !stop.is_cancelled() {
        let cycle = if writes.has_room() {
            context.world.cache.lock().begin_cycle((context.clock)())
        } else {
            None
        };
        let Some(cycle) = cycle else {
            let (again, has_room) = (second_pass(&context), writes.has_room());
            tokio::select! {
                () = context.world.wake.notified(), if has_room => {}
                () = again, if has_room => {}
                () = writes.next() => {}
                () = stop.cancelled() => {}
            }
            continue;
        };
        let began = tokio::time::Instant::now();
        let (plan, mut report) = cycle.decide();
        log::decisions(&plan, &report);
        leave(&context, &plan, &mut report, &mut writes).await;
        for (queue, recomputation) in &report.recomputations {
            let result = messages::recomputation(*recomputation);
            let around = context.world.around_queue(queue.as_str());
            context.metrics.recomputed(queue.as_str(), result, &around);
        }
        let skipped = report.skipped_preemptions.iter();
        context
            .metrics
            .skipped(skipped.map(|(queue, n)| (queue.to_string(), *n)).collect());
        let admitted = admit_all(&context, &plan, &writes);
        settle(&context, &report, &writes);
        context.metrics.cycle(admitted, began.elapsed());
        if admitted {
            pause = FIRST_PAUSE;
        } else {
            pause = (pause * 2).min(LONGEST_PAUSE);
            rest(&context, &mut writes, pause, &stop).await;
        }
    }
    while writes.admissions.next().await.is_some() {}
    while writes.explanations.next().await.is_some() {}
}

/// Tells those who have to leave. They may be written by an earlier cycle right now, so both go on side by side.
async fn leave(context: &Arc<Context>, plan: &Plan, report: &mut Report, writes: &mut Writes) {
    let leaving = leave::carry_out(context, plan, report);
    tokio::pin!(leaving);
    loop {
        tokio::select! {
            () = &mut leaving => return,
            () = writes.next() => {}
        }
    }
}

/// After a cycle that admitted nothing: a moment in which news gather, then until there are news. Heads that wait for others to leave would
/// only get the same answer.
async fn rest(context: &Context, writes: &mut Writes, pause: Duration, stop: &CancellationToken) {
    let (moment, longest) = (
        tokio::time::sleep(pause),
        tokio::time::sleep(pause + WITHOUT_NEWS),
    );
    tokio::pin!(moment, longest);
    let mut gathered = false;
    loop {
        tokio::select! {
            () = &mut moment, if !gathered => gathered = true,
            () = context.world.wake.notified(), if gathered => return,
            () = second_pass(context), if gathered => return,
            () = &mut longest => return,
            () = writes.next() => {}
            () = stop.cancelled() => return,
        }
    }
}

/// Ends when the next second pass is due; never if there is none.
async fn second_pass(context: &Context) {
    let due = context.world.cache.lock().next_second_pass();
    let Some(due) = due else {
        return std::future::pending().await;
    };
    let wait = due.duration_since((context.clock)());
    tokio::time::sleep(Duration::try_from(wait).unwrap_or_default()).await;
}

/// Assumes what a plan admits and begins to write it. Whether it admits anything.
fn admit_all(context: &Arc<Context>, plan: &Plan, writes: &Writes) -> bool {
    let mut admitted = false;
    for admission in &plan.admissions {
        let assumed = context.world.cache.lock().assume(admission);
        match assumed {
            Ok(affected) => {
                admitted = true;
                context.world.spread(affected);
                let admission = admit(context.clone(), admission.clone());
                writes.admissions.push(admission.boxed());
            }
            Err(error) => tracing::debug!(workload = %admission.workload, "not admitted: {error}"),
        }
    }
    admitted
}

/// Puts back what was not admitted, and says why.
fn settle(context: &Arc<Context>, report: &Report, writes: &Writes) {
    let settled = context.world.cache.lock().settle(report, (context.clock)());
    context.world.spread(settled.affected);
    for (workload, event) in settled.events {
        if let Some(workload) = context.world.stores.workloads.get(&key(&workload)) {
            let kind = event.kind.into();
            context.event(&*workload, REPORTER, kind, &event.reason, event.note);
        }
    }
    let new: BTreeSet<&WorkloadKey> = settled.patches.iter().map(|patch| &patch.key).collect();
    for entry in &report.entries {
        let is_new = new.contains(&entry.workload);
        writes.explanations.found(context, entry, is_new);
    }
}

fn key(of: &WorkloadKey) -> Key {
    Key::new(of.namespace.as_str(), &of.name)
}

/// What to write is said when the right to write is there: the Workload may have changed since the cycle.
async fn admit(context: Arc<Context>, admission: Admission) {
    let right = context.world.locks.hold([key(&admission.workload)]).await;
    let now = (context.clock)();
    let patch = context.world.cache.lock().admission_patch(&admission, now);
    let written = match &patch {
        Some(patch) => write(&context, patch).await,
        None => Ok(None),
    };
    drop(right);
    match (written, patch) {
        (Ok(Some(before)), Some(patch)) => {
            tell(&context, &before, &patch);
            finish_replaced(&context, &admission).await;
        }
        (Ok(_), _) => give_back(&context, &admission.workload).await,
        (Err(error), _) => {
            tracing::warn!(workload = %admission.workload, "admission is taken back: {error}");
            give_back(&context, &admission.workload).await;
        }
    }
}

/// The slice whose place this one took is over.
async fn finish_replaced(context: &Context, admission: &Admission) {
    let Some(slice) = &admission.replaces else {
        return;
    };
    let _right = context.world.locks.hold([key(&slice.workload.key)]).await;
    let now = (context.clock)();
    let patch = context.world.cache.lock().replacement_patch(admission, now);
    let Some(patch) = patch else { return };
    match write(context, &patch).await {
        Ok(Some(before)) => tell(context, &before, &patch),
        Ok(None) => {}
        Err(error) => tracing::warn!(workload = %patch.key, "cannot be finished: {error}"),
    }
}

/// Writes a status; none if the Workload is not there any more. Gives the Workload as it was before.
async fn write(
    context: &Context,
    patch: &WorkloadPatch,
) -> Result<Option<Arc<Workload>>, WriteError> {
    let workload = context.world.stores.workloads.get(&key(&patch.key));
    let Some(workload) =
        workload.filter(|workload| workload.metadata.uid.as_deref() == Some(&*patch.uid))
    else {
        return Ok(None);
    };
    let written = context.writer.status(&workload, &patch.status).await?;
    context.world.saw_workload(written);
    Ok(Some(workload))
}

fn tell(context: &Context, workload: &Workload, patch: &WorkloadPatch) {
    for event in &patch.events {
        let kind = event.kind.into();
        context.event(workload, REPORTER, kind, &event.reason, event.note.clone());
    }
}

async fn give_back(context: &Context, workload: &WorkloadKey) {
    tokio::time::sleep(RETRY).await;
    context
        .world
        .change(|cache, now| cache.forget(workload, now));
}
