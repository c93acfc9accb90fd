//! The one who numbers entries: takes reports from all watches, answers and ticks, writes them to the store in batches, and only
//! then lets anybody see them.

use super::{
    Health, SteadyClock,
    connection::Connection,
    known::{Heard, Known},
    watch::Watcher,
};
use course::{KINDS, QuestionId};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Namespace;
use parking_lot::RwLock;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};
use store::Store;
use timeline::{Entry, ObjectEntry, Timeline, Verb, What};
use tokio::sync::{mpsc, oneshot, watch as latest};
use tokio_util::sync::CancellationToken;

/// What is told to the keeper.
#[derive(Debug)]
pub(super) enum Message {
    Listed {
        kind: &'static str,
        present: Vec<Heard>,
    },
    Watched {
        kind: &'static str,
        verb: Verb,
        heard: Box<Heard>,
    },
    Lost {
        kind: &'static str,
        reason: String,
    },
    Back {
        kind: &'static str,
    },
    /// A bookmark: nothing was missed up to now.
    Sure {
        kind: &'static str,
    },
    Answer {
        question: QuestionId,
        value: serde_json::Value,
        reply: oneshot::Sender<u64>,
    },
    Tick,
}

/// Reports that are written in one transaction at most.
const BATCH: usize = 256;
const FIRST_RETRY: Duration = Duration::from_millis(200);
const LONGEST_RETRY: Duration = Duration::from_secs(5);

pub(super) struct Keeper {
    pub(super) store: Store,
    pub(super) environment: String,
    pub(super) timeline: Arc<RwLock<Timeline>>,
    pub(super) clock: SteadyClock,
    pub(super) known: Known,
    pub(super) seq: u64,
    pub(super) changed: latest::Sender<u64>,
    pub(super) health: latest::Sender<Health>,
}

/// What changes as reports come in, beside the record itself.
struct Desk {
    keeper: Keeper,
    gates: BTreeMap<&'static str, latest::Sender<bool>>,
    batch: Vec<Entry>,
    replies: Vec<(u64, oneshot::Sender<u64>)>,
    /// Kinds that have been listed or taken up in this run.
    seen: BTreeSet<&'static str>,
    lost: BTreeMap<&'static str, String>,
    /// Up to when nothing was missed, by kind.
    good: BTreeMap<&'static str, Timestamp>,
    /// When the record ended before this run; none for a new one.
    ended: Option<Timestamp>,
}

impl Keeper {
    pub(super) fn start(
        self,
        messages: mpsc::Receiver<Message>,
        sender: mpsc::Sender<Message>,
        connection: Connection,
        cancel: CancellationToken,
    ) {
        tokio::spawn(async move {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = self.run(messages, sender, connection) => {}
            }
        });
    }

    async fn run(
        self,
        messages: mpsc::Receiver<Message>,
        sender: mpsc::Sender<Message>,
        connection: Connection,
    ) {
        let ended = self.timeline.read().last_at();
        let same = ended.is_some() && self.same_cluster(&connection).await;
        let mut desk = Desk {
            keeper: self,
            gates: BTreeMap::new(),
            batch: Vec::new(),
            replies: Vec::new(),
            seen: BTreeSet::new(),
            lost: BTreeMap::new(),
            good: BTreeMap::new(),
            ended,
        };
        desk.open_gates();
        let watchers: tokio::task::JoinSet<()> = KINDS
            .iter()
            .filter_map(|kind| {
                let served = desk.gates.get(kind.kind)?.subscribe();
                let resume = if same {
                    desk.keeper.known.newest(kind.kind)
                } else {
                    None
                };
                desk.resume(kind.kind, resume.is_some());
                let (connection, messages) = (connection.clone(), sender.clone());
                Some(
                    Watcher {
                        kind,
                        connection,
                        messages,
                        served,
                        resume,
                    }
                    .run(),
                )
            })
            .collect();
        // Only the watchers and the recorder's own handles keep the channel open.
        drop(sender);
        desk.work(messages).await;
        drop(watchers);
    }

    /// Whether the record is about the cluster that answers now. Versions of another cluster mean nothing here.
    async fn same_cluster(&self, connection: &Connection) -> bool {
        let Some(known) = self.known.uid("Namespace", "kube-system") else {
            return false;
        };
        let api: kube::Api<Namespace> = kube::Api::all(connection.client());
        let found = api
            .get("kube-system")
            .await
            .ok()
            .and_then(|namespace| namespace.metadata.uid);
        found.as_deref() == Some(known)
    }
}

impl Desk {
    /// Built-in kinds are always served; the others when their definition says so.
    fn open_gates(&mut self) {
        for kind in KINDS {
            let served = !kind.group.ends_with(".x-k8s.io");
            self.gates.insert(kind.kind, latest::channel(served).0);
        }
        let timeline = self.keeper.timeline.read();
        for (_, _, version) in timeline.all("CustomResourceDefinition") {
            self.gate(&version.object, false);
        }
    }

    /// A record that goes on where it ended was late, not blind: nothing is missing from it.
    fn resume(&mut self, kind: &'static str, possible: bool) {
        if let (true, Some(since)) = (possible, self.ended) {
            self.push(What::Lost {
                kinds: vec![kind.to_owned()],
                since: Some(since),
            });
            self.lost
                .insert(kind, "the recorder was not running".to_owned());
            self.good.insert(kind, since);
            self.seen.insert(kind);
        }
    }

    async fn work(&mut self, mut messages: mpsc::Receiver<Message>) {
        self.write().await;
        while let Some(message) = messages.recv().await {
            self.take(message);
            while self.batch.len() < BATCH {
                match messages.try_recv() {
                    Ok(message) => self.take(message),
                    Err(_) => break,
                }
            }
            self.write().await;
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Listed { kind, present } => self.listed(kind, present),
            Message::Watched { kind, verb, heard } => {
                self.back(kind);
                if let Some(entry) = self.keeper.known.watched(kind, verb, *heard) {
                    self.object(entry);
                }
            }
            Message::Lost { kind, reason } => {
                if self.lost.insert(kind, reason).is_none() && self.seen.contains(kind) {
                    self.push(What::Lost {
                        kinds: vec![kind.to_owned()],
                        since: None,
                    });
                }
            }
            Message::Back { kind } | Message::Sure { kind } => self.back(kind),
            Message::Answer {
                question,
                value,
                reply,
            } => {
                self.push(What::Answer { question, value });
                self.replies.push((self.keeper.seq, reply));
            }
            Message::Tick => self.push(What::Tick),
        }
        self.report();
    }

    /// A complete list: the first of a new record is its beginning; any other closes a gap.
    fn listed(&mut self, kind: &'static str, present: Vec<Heard>) {
        let blind_since = if self.seen.contains(kind) {
            self.good.get(kind).copied()
        } else {
            self.ended
        };
        let entries = self.keeper.known.listed(kind, present);
        if let Some(from) = blind_since {
            let to = self.keeper.clock.now();
            self.push(What::Gap {
                kinds: vec![kind.to_owned()],
                from: from.min(to),
                to,
            });
        }
        self.seen.insert(kind);
        self.back(kind);
        for entry in entries {
            self.object(entry);
        }
    }

    fn back(&mut self, kind: &'static str) {
        self.seen.insert(kind);
        self.good.insert(kind, self.keeper.clock.now());
        if self.lost.remove(kind).is_some() {
            self.push(What::Back {
                kinds: vec![kind.to_owned()],
            });
        }
    }

    fn object(&mut self, entry: ObjectEntry) {
        if entry.kind == "CustomResourceDefinition" {
            self.gate(&entry.object, entry.verb == Verb::Deleted);
        }
        self.push(What::Object(entry));
    }

    /// Opens or closes the watch of the kind that a definition defines.
    fn gate(&self, definition: &serde_json::Value, deleted: bool) {
        let name = definition
            .pointer("/metadata/name")
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default();
        let Some(kind) = KINDS
            .iter()
            .find(|kind| name == format!("{}.{}", kind.plural, kind.group))
        else {
            return;
        };
        let list = |pointer: &str| {
            definition
                .pointer(pointer)
                .and_then(serde_json::Value::as_array)
        };
        let established = list("/status/conditions").is_some_and(|all| {
            all.iter()
                .any(|one| one["type"] == "Established" && one["status"] == "True")
        });
        let version = list("/spec/versions").is_some_and(|all| {
            all.iter()
                .any(|one| one["name"] == kind.version && one["served"] == true)
        });
        if let Some(gate) = self.gates.get(kind.kind) {
            gate.send_if_modified(|served| {
                std::mem::replace(served, established && version && !deleted) != *served
            });
        }
    }

    fn push(&mut self, what: What) {
        self.keeper.seq += 1;
        self.batch.push(Entry {
            seq: self.keeper.seq,
            at: self.keeper.clock.now(),
            what,
        });
    }

    /// Writes the batch, however long that takes, then shows it.
    async fn write(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let mut wait = FIRST_RETRY;
        while let Err(error) = self
            .keeper
            .store
            .append(&self.keeper.environment, &self.batch)
            .await
        {
            tracing::error!(environment = %self.keeper.environment, %error, "cannot record");
            self.keeper.health.send_replace(Health::NotWriting {
                reason: error.to_string(),
            });
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_RETRY);
        }
        {
            let mut timeline = self.keeper.timeline.write();
            for entry in self.batch.drain(..) {
                timeline.push(&entry);
            }
        }
        self.keeper.changed.send_replace(self.keeper.seq);
        for (seq, reply) in self.replies.drain(..) {
            // Whoever asked may have gone; the answer is written all the same.
            let _ = reply.send(seq);
        }
        self.report();
    }

    fn report(&self) {
        let health = match self.lost.values().next() {
            Some(reason) => Health::Disconnected {
                reason: reason.clone(),
            },
            None if self.seen.contains("Job") && self.seen.contains("CustomResourceDefinition") => {
                Health::Recording
            }
            None => Health::Starting,
        };
        self.keeper
            .health
            .send_if_modified(|shown| std::mem::replace(shown, health.clone()) != health);
    }
}
