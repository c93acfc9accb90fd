//! The scheduling loop: waits for something to do, takes the heads of the queues, lets the scheduler decide, and carries
//! the plan out. Admissions are assumed in the cache at once and written side by side with the next cycle.

use std::sync::Arc;
use std::time::Duration;

use cache::{Cycle, EventKind, Report, WorkloadPatch};
use futures::stream::{FuturesUnordered, StreamExt};
use futures::future::BoxFuture;
use futures::FutureExt;
use kueue_api::v1beta2::Workload;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::events::Kind;
use crate::key::Key;
use crate::write::WriteError;

const REPORTER: &str = "kueue-admission";
/// Longest pause after cycles that admitted nothing.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// A workload whose write failed is tried again after this time.
const RETRY: Duration = Duration::from_millis(50);
/// Status writes at once.
const WRITES: usize = 64;

type Write = BoxFuture<'static, ()>;

/// Runs cycles until `stop`; writes begun are finished.
pub async fn run(context: Arc<Context>, stop: CancellationToken) {
    let mut writes: FuturesUnordered<Write> = FuturesUnordered::new();
    let mut pause = FIRST_PAUSE;
    while !stop.is_cancelled() {
        let cycle = if writes.len() < WRITES { context.world.cache.lock().begin_cycle((context.clock)()) } else { None };
        let Some(cycle) = cycle else {
            tokio::select! {
                () = context.world.wake.notified(), if writes.len() < WRITES => {}
                Some(()) = writes.next() => {}
                () = stop.cancelled() => {}
            }
            continue;
        };
        let admitted = turn(&context, cycle, &writes);
        pause = if admitted { FIRST_PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
        if !admitted {
            let rest = tokio::time::sleep(pause);
            tokio::pin!(rest);
            loop {
                tokio::select! {
                    () = &mut rest => break,
                    Some(()) = writes.next() => {}
                }
            }
        }
    }
    while writes.next().await.is_some() {}
}

/// One cycle; whether it admitted anything.
fn turn(context: &Arc<Context>, cycle: Cycle, writes: &FuturesUnordered<Write>) -> bool {
    let began = tokio::time::Instant::now();
    let (plan, report) = cycle.run();
    let mut admitted = false;
    for admission in &plan.admissions {
        let now = (context.clock)();
        let assumed = {
            let mut cache = context.world.cache.lock();
            cache.assume(admission).map(|affected| (affected, cache.admission_patch(admission, now)))
        };
        match assumed {
            Ok((affected, Some(patch))) => {
                admitted = true;
                context.world.spread(affected);
                writes.push(admit(context.clone(), patch).boxed());
            }
            Ok((affected, None)) => {
                context.world.spread(affected);
                let forgotten = context.world.cache.lock().forget(&admission.workload, now);
                context.world.spread(forgotten);
            }
            Err(error) => tracing::warn!(workload = %admission.workload, "not admitted: {error}"),
        }
    }
    settle(context, &report, writes);
    context.metrics.cycle(admitted, began.elapsed());
    admitted
}

/// Puts back what was not admitted, and says why.
fn settle(context: &Arc<Context>, report: &Report, writes: &FuturesUnordered<Write>) {
    let settled = context.world.cache.lock().settle(report, (context.clock)());
    context.world.spread(settled.affected);
    for patch in settled.patches {
        writes.push(explain(context.clone(), patch).boxed());
    }
}

fn current(context: &Context, patch: &WorkloadPatch) -> Option<Arc<Workload>> {
    let key = Key::new(patch.key.namespace.as_str(), &patch.key.name);
    let workload = context.world.stores.workloads.get(&key)?;
    (workload.metadata.uid.as_deref() == Some(&*patch.uid)).then_some(workload)
}

async fn admit(context: Arc<Context>, patch: WorkloadPatch) {
    match write(&context, &patch).await {
        Ok(Some(before)) => {
            tell(&context, &before, &patch);
            context.metrics.admitted(&before, &patch.status, (context.clock)());
        }
        Ok(None) => give_back(&context, &patch).await,
        Err(error) => {
            tracing::warn!(workload = %patch.key, "admission is taken back: {error}");
            give_back(&context, &patch).await;
        }
    }
}

async fn explain(context: Arc<Context>, patch: WorkloadPatch) {
    match write(&context, &patch).await {
        Ok(Some(before)) => tell(&context, &before, &patch),
        Ok(None) => {}
        Err(error) => tracing::debug!(workload = %patch.key, "cannot say why it is pending: {error}"),
    }
}

/// Writes a status; none if the Workload is not there any more. Gives the Workload as it was before.
async fn write(context: &Context, patch: &WorkloadPatch) -> Result<Option<Arc<Workload>>, WriteError> {
    let Some(workload) = current(context, patch) else { return Ok(None) };
    let written = context.writer.status(&workload, &patch.status).await?;
    context.world.saw_workload(written);
    Ok(Some(workload))
}

fn tell(context: &Context, workload: &Workload, patch: &WorkloadPatch) {
    for event in &patch.events {
        let kind = match event.kind {
            EventKind::Normal => Kind::Normal,
            EventKind::Warning => Kind::Warning,
        };
        context.event(workload, REPORTER, kind, &event.reason, event.note.clone());
    }
}

async fn give_back(context: &Context, patch: &WorkloadPatch) {
    tokio::time::sleep(RETRY).await;
    context.world.change(|cache, now| cache.forget(&patch.key, now));
}
