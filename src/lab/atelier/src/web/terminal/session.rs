//! One shell with its history: reads all it prints, types what pages send, and lives until it ends or is ended.
//!
//! It reads no faster than the fastest page draws, so that endless output cannot pile up; with nobody looking it reads
//! at a modest pace and the history forgets the oldest part.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use exec::{ExecError, Pty, PtyOutput, PtySize};
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::history::History;
use super::protocol::Ended;
use super::screen::Screen;
use crate::environments::shell::ShellCommand;

/// Output that may be on its way to the fastest page.
pub const WINDOW: u64 = 256 * 1024;
/// Pages whose input numbers are remembered.
const PAGES: usize = 64;
/// With nobody looking: this many bytes, then a rest.
const UNSEEN_BYTES: u64 = 1024 * 1024;
const UNSEEN_REST: Duration = Duration::from_millis(250);

/// A running (or ended) shell.
#[derive(Debug)]
pub struct Session {
    /// Names this very shell: a new one has another name.
    pub shell: String,
    pub started: Timestamp,
    pty: Pty,
    state: Mutex<State>,
    /// Counts what pages must look at: output, end.
    news: watch::Sender<u64>,
    /// Counts what the reader waits for: drawn output, pages coming and going.
    room: watch::Sender<u64>,
    ended: watch::Sender<Option<Ended>>,
}

#[derive(Debug)]
struct State {
    history: History,
    screen: Screen,
    /// How far each attached page has drawn.
    drawn: BTreeMap<u64, u64>,
    next_view: u64,
    /// The last input number of each page; the oldest page is forgotten first.
    typed: Vec<(String, u64)>,
    reason: Option<String>,
}

/// What one look at the history gives.
#[derive(Debug)]
pub(super) struct Look {
    /// The oldest position that is left.
    pub start: u64,
    pub bytes: Vec<u8>,
}

/// How a page begins.
#[derive(Debug)]
pub(super) struct Beginning {
    pub view: u64,
    pub from: u64,
    pub end: u64,
    pub typed: u64,
    /// To be written when the output has reached `end`, because its beginning was cut.
    pub restore: Option<Vec<u8>>,
}

impl Session {
    /// Starts a shell.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        command: impl Into<ShellCommand>,
        size: PtySize,
        now: Timestamp,
    ) -> Result<Arc<Self>, ExecError> {
        let command = command.into();
        let (pty, output) = Pty::spawn(&command.cmd, size)?;
        let state = State {
            history: History::default(),
            screen: Screen::new(size),
            drawn: BTreeMap::new(),
            next_view: 0,
            typed: Vec::new(),
            reason: None,
        };
        let session = Arc::new(Self {
            shell: uuid::Uuid::new_v4().simple().to_string(),
            started: now,
            pty,
            state: Mutex::new(state),
            news: watch::Sender::new(0),
            room: watch::Sender::new(0),
            ended: watch::Sender::new(None),
        });
        tokio::spawn(Arc::clone(&session).run(output, command));
        Ok(session)
    }

    /// Kills the shell; `reason` is shown to whoever looks.
    pub fn end(&self, reason: &str) {
        self.state
            .lock()
            .reason
            .get_or_insert_with(|| reason.to_owned());
        self.pty.kill();
    }

    /// How the shell ended, once it has.
    #[must_use]
    pub fn ended(&self) -> watch::Receiver<Option<Ended>> {
        self.ended.subscribe()
    }

    /// The shell's process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pty.pid()
    }

    /// Gives the shell another size.
    pub fn resize(&self, size: PtySize) {
        self.state.lock().screen.resize(size);
        if let Err(error) = self.pty.resize(size) {
            tracing::debug!(%error, "a terminal kept its size");
        }
    }

    /// Types input number `id` of a page, unless it was typed before. Waits while the shell takes no input.
    pub async fn input(&self, page: &str, id: u64, bytes: Vec<u8>) {
        if self.state.lock().claim_input(page, id)
            && let Err(error) = self.pty.write(bytes).await
        {
            tracing::debug!(%error, "a terminal took no input");
        }
    }

    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Attaches a page that has `received` bytes of this shell's output, or none.
    pub(super) fn attach(&self, page: &str, received: Option<u64>) -> Beginning {
        let mut state = self.state.lock();
        let kept = received.filter(|at| (state.history.start()..=state.history.end()).contains(at));
        let from = kept.unwrap_or_else(|| state.history.fresh_start());
        let restore = (kept.is_none() && from > 0).then(|| state.screen.restore());
        let view = state.next_view;
        state.next_view += 1;
        state.drawn.insert(view, from);
        let beginning = Beginning {
            view,
            from,
            end: state.history.end(),
            typed: state.last_input(page),
            restore,
        };
        drop(state);
        self.room.send_modify(|count| *count += 1);
        beginning
    }

    pub(super) fn detach(&self, view: u64) {
        self.state.lock().drawn.remove(&view);
        self.room.send_modify(|count| *count += 1);
    }

    pub(super) fn drawn(&self, view: u64, at: u64) {
        let mut state = self.state.lock();
        let end = state.history.end();
        if let Some(drawn) = state.drawn.get_mut(&view) {
            *drawn = at.min(end).max(*drawn);
        }
        drop(state);
        self.room.send_modify(|count| *count += 1);
    }

    pub(super) fn look(&self, from: u64, limit: usize) -> Look {
        let state = self.state.lock();
        let start = state.history.start();
        Look {
            start,
            bytes: state.history.since(from.max(start), limit),
        }
    }

    async fn run(self: Arc<Self>, mut output: PtyOutput, command: ShellCommand) {
        let mut unseen = 0;
        while let Some(bytes) = output.read().await {
            let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            self.take_in(bytes);
            unseen = if self.wait_for_room().await {
                0
            } else {
                unseen + count
            };
            if unseen > UNSEEN_BYTES {
                unseen = 0;
                tokio::time::sleep(UNSEEN_REST).await;
            }
        }
        let code = self.pty.wait().await.ok().and_then(|status| status.code());
        command.end().await;
        let reason = self.state.lock().reason.clone();
        self.ended.send_replace(Some(Ended { code, reason }));
        self.news.send_modify(|count| *count += 1);
    }

    fn take_in(&self, bytes: Vec<u8>) {
        let mut state = self.state.lock();
        state.screen.feed(&bytes);
        state.history.push(bytes);
        drop(state);
        self.news.send_modify(|count| *count += 1);
    }

    /// Waits until the fastest page is near; false when nobody looks.
    async fn wait_for_room(&self) -> bool {
        let mut room = self.room.subscribe();
        loop {
            let (fastest, end) = {
                let state = self.state.lock();
                (state.drawn.values().max().copied(), state.history.end())
            };
            match fastest {
                None => return false,
                Some(drawn) if end - drawn < WINDOW => return true,
                Some(_) if room.changed().await.is_err() => return false,
                Some(_) => {}
            }
        }
    }
}

impl State {
    fn last_input(&self, page: &str) -> u64 {
        self.typed
            .iter()
            .find(|(name, _)| name == page)
            .map_or(0, |(_, id)| *id)
    }

    /// Whether the input is new; then its number is taken.
    fn claim_input(&mut self, page: &str, id: u64) -> bool {
        if id <= self.last_input(page) {
            return false;
        }
        self.typed.retain(|(name, _)| name != page);
        if self.typed.len() >= PAGES {
            self.typed.remove(0);
        }
        self.typed.push((page.to_owned(), id));
        true
    }
}
