//! Events about objects (`events.k8s.io/v1`). Reconcilers hand them over and go on; one task writes them, joining
//! repetitions of the same text into a series. A lost event is logged and costs nothing else.

use std::collections::BTreeMap;

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
const LONGEST_NAME: usize = 230;

/// How an event is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

type Identity = (String, String, Kind, String, String);

/// Events written lately, by what they say.
#[derive(Default)]
struct Series(BTreeMap<Identity, (Event, Timestamp)>);

impl Series {
    fn next(&mut self, happening: Happening, instance: &str, now: Timestamp) -> Event {
        self.0
            .retain(|_, (_, last)| now.duration_since(*last) < SERIES);
        let Happening {
            regarding,
            kind,
            reason,
            note,
            ..
        } = &happening;
        let about = regarding
            .uid
            .clone()
            .or_else(|| regarding.name.clone())
            .unwrap_or_default();
        let identity = (
            about,
            reason.clone(),
            *kind,
            note.clone(),
            happening.reporter.to_owned(),
        );
        let event = match self.0.get(&identity) {
            Some((known, _)) => {
                let count = known.series.as_ref().map_or(2, |series| series.count + 1);
                Event {
                    series: Some(EventSeries {
                        count,
                        last_observed_time: MicroTime(now),
                    }),
                    ..known.clone()
                }
            }
            None => event(happening, instance, now),
        };
        self.0.insert(identity, (event.clone(), now));
        event
    }
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
