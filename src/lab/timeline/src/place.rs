//! Where something stands in the history, and what "before" means. Times written in objects have whole seconds and another
//! machine's clock, so they never decide.

use jiff::Timestamp;
use serde::Serialize;

/// A point of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    pub seq: u64,
    /// Order among the facts of one entry.
    pub rank: u32,
    pub at: Timestamp,
    /// The API server's own order, across kinds; none when the change was only found by listing, or did not come from the cluster.
    pub version: Option<u64>,
}

impl Place {
    /// Whether this happened before the other: by the API server's order where both have one (two watches may deliver a few
    /// milliseconds apart in the wrong order), else by the order in which the recorder learned them.
    pub fn before(&self, other: &Self) -> bool {
        match (self.version, other.version) {
            (Some(mine), Some(theirs)) if mine != theirs => mine < theirs,
            _ => (self.seq, self.rank) < (other.seq, other.rank),
        }
    }

    pub(crate) fn listed(&self) -> bool {
        self.version.is_none()
    }
}
