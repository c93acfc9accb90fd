//! One kind's list and watch, for ever: resumes where it was, lists anew when the server no longer knows that point, waits for
//! its definition where it has one. It reports; `keeper` writes down.

use super::{connection::Connection, keeper::Message, known::Heard};
use course::Kind;
use futures::StreamExt;
use kube::{
    Api,
    api::{ApiResource, DynamicObject, ListParams, WatchEvent, WatchParams},
    core::GroupVersionKind,
};
use std::time::Duration;
use timeline::Verb;
use tokio::sync::{mpsc, watch as latest};

/// How long the server keeps one watch open.
const WATCH_SECONDS: u32 = 240;
/// Where there is nothing to tell, the server usually sends a bookmark a minute. After this long without one the watch
/// is asked for anew from where it was: a server that lives answers at once, a connection that hangs does not.
const SILENCE: Duration = Duration::from_secs(75);
/// Without an answer for this long, the server counts as lost.
const ANSWER: Duration = Duration::from_secs(15);
/// An error about the starting point comes within this time.
const FIRST_WORD: Duration = Duration::from_millis(500);
const PAGE: u32 = 500;
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

pub(super) struct Watcher {
    pub(super) kind: &'static Kind,
    pub(super) connection: Connection,
    pub(super) messages: mpsc::Sender<Message>,
    /// Whether the API server serves the kind; always true for built-in ones.
    pub(super) served: latest::Receiver<bool>,
    /// Where the record ended, when it can be continued.
    pub(super) resume: Option<u64>,
}

/// Why a watch ended.
enum End {
    /// Its time was over, or the connection broke; the point where it was still holds.
    Again { lost: Option<String> },
    /// That point is no longer known to the server: what happened since can only be found by listing.
    Expired,
    /// The kind is not served any more.
    Gone,
    /// Nobody listens.
    Closed,
}

/// The keeper has gone.
struct Closed;

impl Watcher {
    pub(super) async fn run(mut self) {
        let _ = self.go().await;
    }

    async fn go(&mut self) -> Result<(), Closed> {
        let mut point = self.resume.take().map(|version| version.to_string());
        let mut resumed = point.is_some();
        loop {
            self.served
                .wait_for(|served| *served)
                .await
                .map_err(|_| Closed)?;
            // A record that is continued was interrupted: say when the watch runs again.
            let resumed = std::mem::take(&mut resumed);
            let from = match point.take() {
                Some(version) => version,
                None => match self.list().await? {
                    Some(version) => version,
                    None => {
                        self.gone().await?;
                        continue;
                    }
                },
            };
            point = self.follow(from, resumed).await?;
            let defined = *self.served.borrow();
            if point.is_none() && !defined {
                self.gone().await?;
            }
        }
    }

    /// Watches from a point for as long as it holds. None: list anew.
    async fn follow(
        &mut self,
        mut version: String,
        mut lost: bool,
    ) -> Result<Option<String>, Closed> {
        let mut wait = FIRST_WAIT;
        loop {
            let begun = tokio::time::Instant::now();
            match self.watch(&mut version, &mut lost, &mut wait).await {
                End::Closed => return Err(Closed),
                End::Expired => return Ok(None),
                End::Gone => {
                    self.pause(&mut wait).await?;
                    return Ok(None);
                }
                // A server that ends every watch at once is not asked again at once.
                End::Again { lost: None } if begun.elapsed() < LONGEST_WAIT => {
                    self.pause(&mut wait).await?;
                }
                End::Again { lost: None } => {}
                End::Again { lost: Some(reason) } => {
                    if !lost {
                        self.send(Message::Lost {
                            kind: self.kind.kind,
                            reason,
                        })
                        .await?;
                        lost = true;
                    }
                    self.pause(&mut wait).await?;
                }
            }
        }
    }

    async fn watch(&self, version: &mut String, lost: &mut bool, wait: &mut Duration) -> End {
        let params = WatchParams::default().timeout(WATCH_SECONDS);
        let api = self.api();
        let stream = match tokio::time::timeout(ANSWER, api.watch(&params, version)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return ended(error),
            Err(_) => return silent(),
        };
        let mut stream = stream.boxed();
        loop {
            // A stream may still begin with "expired", at once; only when it does not is the watch back.
            let patience = if *lost { FIRST_WORD } else { SILENCE };
            let event = match tokio::time::timeout(patience, stream.next()).await {
                Err(_) if *lost => {
                    *lost = false;
                    if self
                        .send(Message::Back {
                            kind: self.kind.kind,
                        })
                        .await
                        .is_err()
                    {
                        return End::Closed;
                    }
                    continue;
                }
                Err(_) => return End::Again { lost: None },
                Ok(None) => return End::Again { lost: None },
                Ok(Some(Err(error))) => return ended(error),
                Ok(Some(Ok(event))) => event,
            };
            if let WatchEvent::Error(status) = &event {
                return if expired(status.code, &status.reason, &status.message) {
                    End::Expired
                } else {
                    End::Again {
                        lost: Some(status.message.clone()),
                    }
                };
            }
            *wait = FIRST_WAIT;
            if std::mem::take(lost)
                && self
                    .send(Message::Back {
                        kind: self.kind.kind,
                    })
                    .await
                    .is_err()
            {
                return End::Closed;
            }
            if self.event(event, version).await.is_err() {
                return End::Closed;
            }
        }
    }

    async fn event(
        &self,
        event: WatchEvent<DynamicObject>,
        version: &mut String,
    ) -> Result<(), Closed> {
        let (verb, object) = match event {
            WatchEvent::Added(object) => (Verb::Added, object),
            WatchEvent::Modified(object) => (Verb::Modified, object),
            WatchEvent::Deleted(object) => (Verb::Deleted, object),
            WatchEvent::Bookmark(bookmark) => {
                *version = bookmark.metadata.resource_version;
                return self
                    .send(Message::Sure {
                        kind: self.kind.kind,
                    })
                    .await;
            }
            WatchEvent::Error(_) => return Ok(()),
        };
        let Some(heard) = Heard::from_object(self.kind.kind, &object) else {
            return Ok(());
        };
        if !heard.version.is_empty() {
            version.clone_from(&heard.version);
        }
        self.send(Message::Watched {
            kind: self.kind.kind,
            verb,
            heard: Box::new(heard),
        })
        .await
    }

    /// Lists everything, page by page, again from the start when a page expires. None: not served any more.
    async fn list(&mut self) -> Result<Option<String>, Closed> {
        let mut wait = FIRST_WAIT;
        let mut lost = false;
        loop {
            match self.pages().await {
                Ok((present, version)) => {
                    self.send(Message::Listed {
                        kind: self.kind.kind,
                        present,
                    })
                    .await?;
                    return Ok(Some(version));
                }
                Err(kube::Error::Api(status))
                    if status.is_not_found() && !*self.served.borrow() =>
                {
                    return Ok(None);
                }
                Err(kube::Error::Api(status))
                    if expired(status.code, &status.reason, &status.message) => {}
                Err(error) => {
                    if !lost {
                        self.send(Message::Lost {
                            kind: self.kind.kind,
                            reason: error.to_string(),
                        })
                        .await?;
                        lost = true;
                    }
                }
            }
            self.pause(&mut wait).await?;
        }
    }

    async fn pages(&self) -> Result<(Vec<Heard>, String), kube::Error> {
        let api = self.api();
        let mut params = ListParams::default().limit(PAGE);
        let mut present = Vec::new();
        loop {
            let page = api.list(&params).await?;
            present.extend(
                page.items
                    .iter()
                    .filter_map(|object| Heard::from_object(self.kind.kind, object)),
            );
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok((present, page.metadata.resource_version.unwrap_or_default())),
            }
        }
    }

    /// The definition was removed: with it, every object went.
    async fn gone(&mut self) -> Result<(), Closed> {
        self.send(Message::Listed {
            kind: self.kind.kind,
            present: Vec::new(),
        })
        .await?;
        self.served
            .wait_for(|served| !*served)
            .await
            .map_err(|_| Closed)?;
        Ok(())
    }

    async fn pause(&self, wait: &mut Duration) -> Result<(), Closed> {
        tokio::select! {
            () = tokio::time::sleep(*wait) => {}
            () = self.messages.closed() => return Err(Closed),
        }
        *wait = (*wait * 2).min(LONGEST_WAIT);
        self.connection.refresh().await;
        Ok(())
    }

    async fn send(&self, message: Message) -> Result<(), Closed> {
        self.messages.send(message).await.map_err(|_| Closed)
    }

    fn api(&self) -> Api<DynamicObject> {
        let Kind {
            kind,
            group,
            version,
            plural,
            ..
        } = *self.kind;
        let resource =
            ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural);
        Api::all_with(self.connection.client(), &resource)
    }
}

fn silent() -> End {
    End::Again {
        lost: Some("no sign of life from the API server".to_owned()),
    }
}

fn ended(error: kube::Error) -> End {
    match error {
        kube::Error::Api(status) if expired(status.code, &status.reason, &status.message) => {
            End::Expired
        }
        kube::Error::Api(status) if status.is_not_found() => End::Gone,
        error => End::Again {
            lost: Some(error.to_string()),
        },
    }
}

/// The version is too old, or from another cluster's future.
fn expired(code: u16, reason: &str, message: &str) -> bool {
    code == 410
        || reason == "Expired"
        || reason == "Gone"
        || message.contains("Too large resource version")
}
