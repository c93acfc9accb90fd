//! One page's view of a shell: greeting, replay, output as fast as the page draws, input, heartbeat.
//!
//! It speaks in frames over channels and knows nothing of web sockets, so that tests can be the page.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use exec::PtySize;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::protocol::{FromPage, Hello, ToPage, Welcome};
use super::session::{Session, WINDOW};

/// A page that says nothing for this long is gone: it sends a ping every few seconds.
pub const SILENCE: Duration = Duration::from_secs(20);
/// Output in one frame.
const CHUNK: usize = 32 * 1024;
/// Inputs that may wait for a shell that takes none. A page keeps fewer than this on their way.
const INPUTS: usize = 128;

/// The two ends of a page's connection.
#[derive(Debug)]
pub struct Link {
    pub from_page: mpsc::Receiver<FromPage>,
    pub to_page: mpsc::Sender<ToPage>,
}

/// Serves a page that has greeted, until it goes, falls silent, or the shell ends.
pub async fn serve(session: Arc<Session>, hello: Hello, link: Link) {
    let known = hello.shell.as_deref() == Some(session.shell.as_str());
    let size = PtySize {
        rows: hello.rows,
        cols: hello.cols,
    };
    let beginning = session.attach(&hello.page, known.then_some(hello.received));
    session.resize(size);
    let welcome = Welcome {
        shell: session.shell.clone(),
        from: beginning.from,
        end: beginning.end,
        typed: beginning.typed,
        started: session.started.as_second(),
    };
    let view = beginning.view;
    let drawn = watch::Sender::new(beginning.from);
    let Link { from_page, to_page } = link;
    let writer = Writer {
        session: Arc::clone(&session),
        sent: beginning.from,
        drawn: drawn.subscribe(),
        to_page: to_page.clone(),
        restore: beginning.restore.map(|bytes| (beginning.end, bytes)),
    };
    let reader = Reader {
        session: Arc::clone(&session),
        view,
        page: hello.page,
        drawn,
        to_page: to_page.clone(),
    };
    if to_page.send(ToPage::Welcome(welcome)).await.is_ok() {
        tokio::select! {
            () = writer.run() => {}
            () = reader.run(from_page) => {}
        }
    }
    session.detach(view);
}

struct Reader {
    session: Arc<Session>,
    view: u64,
    page: String,
    drawn: watch::Sender<u64>,
    to_page: mpsc::Sender<ToPage>,
}

impl Reader {
    async fn run(self, mut from_page: mpsc::Receiver<FromPage>) {
        let inputs = self.typist();
        // A timeout, because a laptop that sleeps closes nothing.
        while let Ok(Some(frame)) = timeout(SILENCE, from_page.recv()).await {
            let goes_on = match frame {
                FromPage::Input { id, bytes } => inputs.try_send((id, bytes)).is_ok(),
                FromPage::Drawn(at) => {
                    self.session.drawn(self.view, at);
                    self.drawn.send_replace(at);
                    true
                }
                FromPage::Resize { cols, rows } => {
                    self.session.resize(PtySize { rows, cols });
                    true
                }
                FromPage::Ping(number) => self.to_page.send(ToPage::Pong(number)).await.is_ok(),
                FromPage::Hello(_) => false,
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Types in a task of its own: a shell that takes no input must not hide that the page is alive.
    fn typist(&self) -> mpsc::Sender<(u64, Vec<u8>)> {
        let (inputs, mut queue) = mpsc::channel::<(u64, Vec<u8>)>(INPUTS);
        let (session, page, to_page) = (
            Arc::clone(&self.session),
            self.page.clone(),
            self.to_page.clone(),
        );
        tokio::spawn(async move {
            while let Some((id, bytes)) = queue.recv().await {
                session.input(&page, id, bytes).await;
                // The page may be gone; what it sent is typed all the same, because it will not send it again.
                let _gone = to_page.send(ToPage::Typed(id)).await;
            }
        });
        inputs
    }
}

struct Writer {
    session: Arc<Session>,
    sent: u64,
    drawn: watch::Receiver<u64>,
    to_page: mpsc::Sender<ToPage>,
    restore: Option<(u64, Vec<u8>)>,
}

impl Writer {
    async fn run(mut self) {
        let mut news = self.session.news();
        let mut ended = self.session.ended();
        loop {
            if self.send_what_is_there().await.is_none() {
                return;
            }
            let last = ended.borrow_and_update().clone();
            if let Some(last) = last
                && self.all_sent()
            {
                let _gone = self.to_page.send(ToPage::Ended(last)).await;
                // Stay until the page goes: its heartbeat must go on being answered.
                return std::future::pending().await;
            }
            let changed = tokio::select! {
                changed = news.changed() => changed,
                changed = self.drawn.changed() => changed,
                changed = ended.changed() => changed,
            };
            if changed.is_err() {
                return;
            }
        }
    }

    fn all_sent(&self) -> bool {
        self.session.look(self.sent, 1).bytes.is_empty()
    }

    /// Sends until nothing is left or the page has enough to draw; `None` when the page is gone.
    async fn send_what_is_there(&mut self) -> Option<()> {
        loop {
            self.send_restore().await?;
            if self.sent.saturating_sub(*self.drawn.borrow_and_update()) >= WINDOW {
                return Some(());
            }
            let look = self.session.look(self.sent, CHUNK);
            if look.start > self.sent {
                self.to_page
                    .send(ToPage::Gap {
                        from: self.sent,
                        to: look.start,
                    })
                    .await
                    .ok()?;
                self.sent = look.start;
            }
            if look.bytes.is_empty() {
                return Some(());
            }
            let at = self.sent;
            self.sent += u64::try_from(look.bytes.len()).unwrap_or(u64::MAX);
            self.to_page
                .send(ToPage::Output {
                    at,
                    bytes: look.bytes,
                })
                .await
                .ok()?;
        }
    }

    async fn send_restore(&mut self) -> Option<()> {
        if let Some((_, bytes)) = self.restore.take_if(|(at, _)| self.sent >= *at) {
            self.to_page.send(ToPage::Restore(bytes)).await.ok()?;
        }
        Some(())
    }
}
