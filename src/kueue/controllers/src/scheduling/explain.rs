//! Says in Workloads why they wait. A cycle takes milliseconds and the number of what is missing changes with each, so a Workload is written
//! at once and then again only after a pause, with what was found last. The pause grows while there is always something new: a thousand Workloads
//! that wait behind each other would keep the API server, and all who watch, busy with their reasons alone. For the same reason, where many are to be
//! explained, few are written at once, and the slower the API server answers, the rarer: what it can do is for admissions, and whoever is admitted
//! meanwhile needs no reason any more.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cache::{WorkloadKey, WorkloadPatch};
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use parking_lot::Mutex;
use scheduler::Entry;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::{key, tell, write};
use crate::context::Context;

/// Between the first two explanations of one Workload; each pause is twice the one before.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Before one that could not be written is tried again, for the first time.
const RETRY: Duration = Duration::from_millis(200);
/// Written at once.
const AT_ONCE: usize = 2;
/// Up to so many are explained as fast as the API server answers: a classroom never waits for its reasons.
const FEW: usize = 30;
/// Beyond that nobody else gets a place for so many times as long as a write took.
const REST: u32 = 10;
const LONGEST_REST: Duration = Duration::from_secs(1);

/// What is still to be said of the Workloads about which something was said lately.
type Newest = Arc<Mutex<BTreeMap<WorkloadKey, Option<Entry>>>>;

/// See the module.
pub(super) struct Explanations {
    newest: Newest,
    places: Arc<Semaphore>,
    at_work: FuturesUnordered<BoxFuture<'static, ()>>,
    stop: CancellationToken,
}

impl Explanations {
    pub(super) fn new(stop: CancellationToken) -> Self {
        Self {
            newest: Newest::default(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            at_work: FuturesUnordered::new(),
            stop,
        }
    }

    /// Something was found about a Workload: what its status says already, or something to write into it.
    pub(super) fn found(&self, context: &Arc<Context>, entry: &Entry, is_new: bool) {
        let key = &entry.workload;
        let mut newest = self.newest.lock();
        if let Some(waiting) = newest.get_mut(key) {
            *waiting = Some(entry.clone());
        } else if is_new {
            newest.insert(key.clone(), Some(entry.clone()));
            let explaining = explain(
                context.clone(),
                self.newest.clone(),
                self.places.clone(),
                key.clone(),
                self.stop.clone(),
            );
            self.at_work.push(explaining.boxed());
        }
    }

    /// Goes on until one Workload is done with; `None` if there is none.
    pub(super) async fn next(&mut self) -> Option<()> {
        self.at_work.next().await
    }
}

async fn explain(
    context: Arc<Context>,
    newest: Newest,
    places: Arc<Semaphore>,
    about: WorkloadKey,
    stop: CancellationToken,
) {
    let (mut pause, mut retry) = (PAUSE, RETRY);
    loop {
        let place = tokio::select! {
            place = places.acquire() => place,
            () = stop.cancelled() => return,
        };
        // Only now: it is what was found last that counts.
        let Some(entry) = take(&newest, &about) else {
            return;
        };
        let began = tokio::time::Instant::now();
        let said = say(&context, &entry).await;
        let rest = rest(newest.lock().len(), began.elapsed());
        let wait = if said {
            retry = RETRY;
            twice(&mut pause)
        } else {
            // Nobody may look at it again for a long time, so that this is the only chance to say it.
            put_back(&newest, &about, entry);
            twice(&mut retry)
        };
        let waiting = async {
            tokio::time::sleep(rest).await;
            drop(place);
            tokio::time::sleep(wait.saturating_sub(rest)).await;
        };
        tokio::select! {
            () = waiting => {}
            () = stop.cancelled() => return,
        }
    }
}

/// How long the place of a write stays empty that took so long, while so many are to be explained.
fn rest(to_explain: usize, took: Duration) -> Duration {
    if to_explain <= FEW {
        Duration::ZERO
    } else {
        (took * REST).min(LONGEST_REST)
    }
}

/// A pause, and the next one is twice as long.
fn twice(pause: &mut Duration) -> Duration {
    let now = *pause;
    *pause = (now * 2).min(LONGEST_PAUSE);
    now
}

fn put_back(newest: &Newest, about: &WorkloadKey, entry: Entry) {
    if let Some(waiting) = newest.lock().get_mut(about) {
        waiting.get_or_insert(entry);
    }
}

/// What is to be said next; nothing ends the work about that Workload.
fn take(newest: &Newest, about: &WorkloadKey) -> Option<Entry> {
    let mut newest = newest.lock();
    let entry = newest.get_mut(about).and_then(Option::take);
    if entry.is_none() {
        newest.remove(about);
    }
    entry
}

/// False if it has to be tried again: somebody else wrote the Workload at the same time, or the API server did not answer.
async fn say(context: &Context, entry: &Entry) -> bool {
    let _right = context.world.locks.hold([key(&entry.workload)]).await;
    let Some(patch) = patch(context, entry) else {
        return true;
    };
    match write(context, &patch).await {
        Ok(Some(before)) => tell(context, &before, &patch),
        Ok(None) => {}
        Err(error) => {
            tracing::debug!(workload = %patch.key, "cannot say why it is pending: {error}");
            return error.is_refusal();
        }
    }
    true
}

/// Made when the right to write is there: the Workload may have been switched off or sent elsewhere since the cycle.
fn patch(context: &Context, entry: &Entry) -> Option<WorkloadPatch> {
    let now = (context.clock)();
    let cache = context.world.cache.lock();
    let waits = cache.stands_in(&entry.workload) == Some(&entry.cluster_queue);
    waits.then(|| cache.pending_patch(entry, now)).flatten()
}
