//! Reading a log: the lines a query asks for, and then, when it follows, those that come.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::watch;

use super::{Log, LogState};

/// What `kubectl logs` asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::host_node) struct Query {
    pub(in crate::host_node) follow: bool,
    pub(in crate::host_node) timestamps: bool,
    pub(in crate::host_node) tail: Option<usize>,
    pub(in crate::host_node) since: Option<Timestamp>,
    pub(in crate::host_node) limit_bytes: Option<usize>,
}

/// A place in a log. Each call of [`Cursor::next`] answers the text that came since the last one.
#[derive(Debug)]
pub(in crate::host_node) struct Cursor {
    log: Arc<Log>,
    query: Query,
    changes: watch::Receiver<LogState>,
    read: u64,
    left: usize,
    first: bool,
}

impl Cursor {
    pub(in crate::host_node) fn new(log: Arc<Log>, query: Query) -> Self {
        let changes = log.state.subscribe();
        let left = query.limit_bytes.unwrap_or(usize::MAX);
        Self {
            log,
            query,
            changes,
            read: 0,
            left,
            first: true,
        }
    }

    /// The next piece, or nothing at the end. Following, it waits for more until the run is over.
    pub(in crate::host_node) async fn next(&mut self) -> Option<String> {
        loop {
            if self.left == 0 {
                return None;
            }
            let state = *self.changes.borrow_and_update();
            let first = std::mem::take(&mut self.first);
            let text = self.pick(first, state);
            if !text.is_empty() {
                return Some(self.limited(text));
            }
            if !self.query.follow || state.ended || self.changes.changed().await.is_err() {
                return None;
            }
        }
    }

    fn pick(&mut self, first: bool, state: LogState) -> String {
        let text = self.since_last_time(state);
        let lines = text
            .lines()
            .filter_map(Line::parse)
            .filter(|line| self.query.since.is_none_or(|at| line.at >= at));
        let mut lines: Vec<Line<'_>> = lines.collect();
        if let (true, Some(tail)) = (first, self.query.tail) {
            let skip = lines.len().saturating_sub(tail);
            lines.drain(..skip);
        }
        lines
            .iter()
            .map(|line| line.shown(self.query.timestamps))
            .collect()
    }

    /// Everything written since the last call, as far as it was kept.
    fn since_last_time(&mut self, state: LogState) -> String {
        let all = std::mem::replace(&mut self.read, state.written).max(state.dropped);
        let skip = all - state.dropped;
        let mut bytes = Vec::new();
        for path in [self.log.older(), self.log.path.clone()] {
            if let Ok(mut file) = File::open(path) {
                let _ = file.read_to_end(&mut bytes);
            }
        }
        let from = usize::try_from(skip).unwrap_or(usize::MAX);
        let until = usize::try_from(state.written - state.dropped)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        String::from_utf8_lossy(bytes.get(from.min(until)..until).unwrap_or_default()).into_owned()
    }

    fn limited(&mut self, mut text: String) -> String {
        if text.len() > self.left {
            let mut end = self.left;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
            self.left = 0;
        } else {
            self.left -= text.len();
        }
        text
    }
}

/// A line of the file: its time, and what the container printed.
struct Line<'a> {
    at: Timestamp,
    stamp: &'a str,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut parts = line.splitn(4, ' ');
        let (stamp, _stream, _full) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self {
            at: stamp.parse().ok()?,
            stamp,
            text: parts.next().unwrap_or_default(),
        })
    }

    fn shown(&self, timestamps: bool) -> String {
        if timestamps {
            format!("{} {}\n", self.stamp, self.text)
        } else {
            format!("{}\n", self.text)
        }
    }
}
