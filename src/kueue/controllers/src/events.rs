//! Events about objects (`events.k8s.io/v1`). Reconcilers hand them over and go on; one task writes them, joining
//! repetitions of the same text into a series. A lost event is logged and costs nothing else.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::{Event, EventSeries};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::{Api, Patch, PatchParams, PostParams};
use kueue_api::conditions::{MAX_EVENT_NOTE, truncate};
use tokio::sync::mpsc;

const QUEUE: usize = 8192;
/// Repetitions within this time are one series.
const SERIES: SignedDuration = SignedDuration::from_mins(6);
/// Events whose repetitions are recognised; as many as the reference's client remembers.
const MOST: usize = 4096;
const LONGEST_NAME: usize = 230;

/// How an event is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Normal,
    Warning,
}

impl From<cache::EventKind> for Kind {
    fn from(kind: cache::EventKind) -> Self {
        match kind {
            cache::EventKind::Normal => Self::Normal,
            cache::EventKind::Warning => Self::Warning,
        }
    }
}

/// Something that happened to an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Happening {
    /// The object.
    pub regarding: ObjectReference,
    pub kind: Kind,
    pub reason: String,
    /// One or two words for what was being done.
    pub action: &'static str,
    pub note: String,
    /// The part of the controller that says so.
    pub reporter: &'static str,
}

/// Where reconcilers put their events.
#[derive(Clone, Debug)]
pub struct Sink {
    queue: mpsc::Sender<(Happening, Timestamp)>,
    clock: fn() -> Timestamp,
}

impl Sink {
    /// Hands an event over.
    pub fn send(&self, happening: Happening) {
        if self.queue.try_send((happening, (self.clock)())).is_err() {
            tracing::warn!("event dropped: more are waiting than can be written");
        }
    }
}

/// A sink and the task that empties it; the task ends when all sinks are gone.
pub fn channel(
    client: kube::Client,
    instance: String,
    clock: fn() -> Timestamp,
) -> (Sink, impl Future<Output = ()>) {
    let (queue, mut waiting) = mpsc::channel(QUEUE);
    let writer = async move {
        let mut series = Series::default();
        while let Some((happening, now)) = waiting.recv().await {
            if let Err(error) = write(&client, series.next(happening, &instance, now)).await {
                tracing::warn!("cannot write an event: {error}");
            }
        }
    };
    (Sink { queue, clock }, writer)
}

async fn write(client: &kube::Client, event: Event) -> Result<(), kube::Error> {
    let api: Api<Event> = Api::namespaced(
        client.clone(),
        event.metadata.namespace.as_deref().unwrap_or("default"),
    );
    if event.series.is_some() {
        let name = event.metadata.name.clone().unwrap_or_default();
        let patched = api
            .patch(
                &name,
                &PatchParams::default(),
                &Patch::Merge(&serde_json::json!({"series": event.series})),
            )
            .await;
        match patched {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            other => return other.map(|_| ()),
        }
    }
    api.create(
        &PostParams::default(),
        &Event {
            series: None,
            ..event
        },
    )
    .await
    .map(|_| ())
}

/// An event that was written lately: what a repetition of it needs.
#[derive(Debug)]
struct Known {
    name: Option<String>,
    count: i32,
    last: Timestamp,
}

/// Events written lately, by a digest of what they say: a burst of thousands must not be held in memory for minutes.
#[derive(Debug, Default)]
struct Series {
    known: BTreeMap<u64, Known>,
    /// When each was written, the oldest first; one that was repeated stands here several times.
    written: VecDeque<(Timestamp, u64)>,
}

impl Series {
    fn next(&mut self, happening: Happening, instance: &str, now: Timestamp) -> Event {
        self.forget(now);
        let digest = digest(&happening);
        let mut event = event(happening, instance, now);
        let known = self.known.entry(digest).or_insert_with(|| Known {
            name: event.metadata.name.clone(),
            count: 0,
            last: now,
        });
        (known.count, known.last) = (known.count.saturating_add(1), now);
        if known.count > 1 {
            event.metadata.name.clone_from(&known.name);
            event.series = Some(EventSeries {
                count: known.count,
                last_observed_time: MicroTime(now),
            });
        }
        self.written.push_back((now, digest));
        event
    }

    /// What is too old to be continued, and the oldest of too many.
    fn forget(&mut self, now: Timestamp) {
        while let Some((at, digest)) = self.written.front().copied() {
            if now.duration_since(at) < SERIES && self.written.len() < MOST {
                return;
            }
            self.written.pop_front();
            if self
                .known
                .get(&digest)
                .is_some_and(|known| known.last == at)
            {
                self.known.remove(&digest);
            }
        }
    }
}

fn digest(happening: &Happening) -> u64 {
    let Happening {
        regarding,
        kind,
        reason,
        note,
        reporter,
        ..
    } = happening;
    let about = regarding.uid.as_ref().or(regarding.name.as_ref());
    let mut hasher = DefaultHasher::new();
    (about, reason, kind, note, reporter).hash(&mut hasher);
    hasher.finish()
}

fn event(happening: Happening, instance: &str, now: Timestamp) -> Event {
    let Happening {
        regarding,
        kind,
        reason,
        action,
        note,
        reporter,
    } = happening;
    let mut name = regarding.name.clone().unwrap_or_default();
    name.truncate(LONGEST_NAME);
    Event {
        metadata: ObjectMeta {
            name: Some(format!(
                "{}.{:x}",
                name.trim_end_matches(['.', '-']),
                now.as_nanosecond()
            )),
            namespace: Some(
                regarding
                    .namespace
                    .clone()
                    .unwrap_or_else(|| "default".to_owned()),
            ),
            ..ObjectMeta::default()
        },
        event_time: Some(MicroTime(now)),
        regarding: Some(regarding),
        reason: Some(reason),
        action: Some(action.to_owned()),
        note: Some(truncate(&note, MAX_EVENT_NOTE)),
        type_: Some(match kind {
            Kind::Normal => "Normal".to_owned(),
            Kind::Warning => "Warning".to_owned(),
        }),
        reporting_controller: Some(reporter.to_owned()),
        reporting_instance: Some(format!("{reporter}-{instance}")),
        ..Event::default()
    }
}
