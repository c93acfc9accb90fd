//! Which terminals there are. They are opened and closed by pages, and all ended when their environment goes.

use std::sync::Arc;

use course::LabId;
use exec::PtySize;
use indexmap::IndexMap;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde::Serialize;

use super::session::Session;
use super::{ShellRefusal, Shells};

/// Terminals that may be open at once.
pub const LIMIT: usize = 10;

const FIRST_SIZE: PtySize = PtySize { rows: 24, cols: 80 };

/// All terminals of the trainee.
#[derive(Debug, Clone)]
pub struct Terminals {
    shells: Arc<dyn Shells>,
    open: Arc<Mutex<Open>>,
}

#[derive(Debug, Default)]
struct Open {
    /// By number, in the order of the tabs.
    sessions: IndexMap<u32, Arc<Session>>,
    /// How often all were closed: a shell that was asked for before must not appear after.
    closings: u64,
}

/// A terminal as a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tab {
    pub number: u32,
}

/// A terminal was not opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error("{LIMIT} terminals are open already")]
    TooMany,
    #[error(transparent)]
    Shell(#[from] ShellRefusal),
}

impl OpenError {
    /// The stable name that pages translate.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::TooMany => "too-many",
            Self::Shell(refusal) => refusal.key(),
        }
    }
}

impl Terminals {
    /// No terminals yet.
    #[must_use]
    pub fn new(shells: Arc<dyn Shells>) -> Self {
        Self {
            shells,
            open: Arc::default(),
        }
    }

    /// The open terminals. One whose shell has ended stays until it is closed: its output can still be read.
    #[must_use]
    pub fn tabs(&self) -> Vec<Tab> {
        self.open
            .lock()
            .sessions
            .keys()
            .map(|number| Tab { number: *number })
            .collect()
    }

    /// A terminal by its number.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<Arc<Session>> {
        self.open.lock().sessions.get(&number).map(Arc::clone)
    }

    /// Opens a terminal with a new shell.
    ///
    /// # Errors
    /// When there are too many, or no shell can be started.
    pub async fn open(&self, lab: &LabId, now: Timestamp) -> Result<Tab, OpenError> {
        let closings = self.room()?;
        let command = self.shells.shell(lab).await?;
        let session = Session::start(command, FIRST_SIZE, now)
            .map_err(|error| ShellRefusal::Failed(error.to_string()))?;
        let mut open = self.open.lock();
        // Both may have changed while the shell was prepared.
        if open.closings != closings || open.sessions.len() >= LIMIT {
            let gone = open.closings != closings;
            session.end("closed");
            return Err(if gone {
                ShellRefusal::NoEnvironment.into()
            } else {
                OpenError::TooMany
            });
        }
        let number = (1..)
            .find(|number| !open.sessions.contains_key(number))
            .unwrap_or(u32::MAX);
        open.sessions.insert(number, session);
        Ok(Tab { number })
    }

    /// Refuses one terminal too many; answers how often all were closed so far.
    fn room(&self) -> Result<u64, OpenError> {
        let open = self.open.lock();
        if open.sessions.len() >= LIMIT {
            return Err(OpenError::TooMany);
        }
        Ok(open.closings)
    }

    /// Ends a terminal's shell and forgets it.
    pub fn close(&self, number: u32) -> bool {
        let session = self.open.lock().sessions.shift_remove(&number);
        session.inspect(|session| session.end("closed")).is_some()
    }

    /// Ends all shells, because what they worked on goes.
    pub fn close_all(&self, reason: &str) {
        let mut open = self.open.lock();
        open.closings += 1;
        for (_, session) in open.sessions.drain(..) {
            session.end(reason);
        }
    }
}
