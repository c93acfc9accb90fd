//! The store on real files.

mod failures;
mod record;
mod state;

use jiff::Timestamp;
use serde_json::json;
use timeline::{Entry, ObjectEntry, Seen, Verb, What};

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).expect("a time")
}

pub(crate) fn entry(seq: u64, name: &str) -> Entry {
    let object = ObjectEntry {
        verb: Verb::Added,
        seen: Seen::Watched,
        kind: "Job".to_owned(),
        namespace: Some("equipe-vision".to_owned()),
        name: name.to_owned(),
        uid: format!("uid-{seq}"),
        version: seq.to_string(),
        object: json!({"spec": {"suspend": true}, "note": "é « » \u{0} 名前"}),
    };
    Entry {
        seq,
        at: at(i64::try_from(seq).expect("small")),
        what: What::Object(object),
    }
}
