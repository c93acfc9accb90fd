//! One line of the append-only log. The recorder writes it, the store keeps it, everything else is derived from it.

use course::QuestionId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing that the recorder learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// 1, 2, 3… within one environment.
    pub seq: u64,
    /// When the recorder learned it, on a clock of the recorder that never goes back.
    pub at: Timestamp,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum What {
    /// An object appeared, changed or disappeared.
    Object(ObjectEntry),
    /// Changes of these kinds between the two instants may have been missed for ever.
    Gap {
        kinds: Vec<String>,
        from: Timestamp,
        to: Timestamp,
    },
    /// The watch of these kinds is interrupted; what happens will be learned late or never.
    Lost {
        kinds: Vec<String>,
        /// Since when, if not since this entry (the recorder itself was not running).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Timestamp>,
    },
    /// The watch of these kinds runs again.
    Back { kinds: Vec<String> },
    /// The trainee answered.
    Answer { question: QuestionId, value: Value },
    /// Nothing happened, and the recorder was there to see it.
    Tick,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectEntry {
    pub verb: Verb,
    pub seen: Seen,
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    pub name: String,
    pub uid: String,
    /// The API server's resourceVersion; for a deletion found out by listing, the last one known.
    pub version: String,
    /// The pruned object; what was last known of it when it is deleted.
    pub object: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    Added,
    Modified,
    Deleted,
}

/// How a change was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// Reported when it happened.
    Watched,
    /// Found by listing: it happened at some time before.
    Listed,
}
