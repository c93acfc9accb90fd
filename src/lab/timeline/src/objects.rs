//! The life of every object that was ever seen: its versions, and a new life when it was deleted and created again.

use crate::{
    entry::{ObjectEntry, Seen, Verb},
    json,
    place::Place,
};
use course::ObjectSet;
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) kind: String,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
}

/// One state of an object.
#[derive(Clone, Debug)]
pub struct Version {
    pub place: Place,
    pub object: Arc<Value>,
    /// `spec` differs from the version before.
    pub spec_changed: bool,
}

/// An object between its creation and its deletion.
#[derive(Clone, Debug)]
pub struct Life {
    pub uid: String,
    pub versions: Vec<Version>,
    pub deleted: Option<Place>,
}

impl Life {
    pub fn last(&self) -> Option<&Version> {
        self.versions.last()
    }

    /// The state at that point of the log; none before its creation or after its deletion.
    pub(crate) fn as_of(&self, seq: u64) -> Option<&Version> {
        if self.deleted.is_some_and(|place| place.seq <= seq) {
            return None;
        }
        self.versions
            .iter()
            .rev()
            .find(|version| version.place.seq <= seq)
    }
}

/// All lives by name, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Objects {
    lives: BTreeMap<Key, Vec<Life>>,
}

/// What an entry did to an object.
pub(crate) struct Step {
    pub(crate) before: Option<Arc<Value>>,
    pub(crate) after: Arc<Value>,
    pub(crate) place: Place,
}

impl Objects {
    /// Adds one entry. None when it is about a state already known.
    pub(crate) fn push(
        &mut self,
        entry: &ObjectEntry,
        seq: u64,
        at: jiff::Timestamp,
    ) -> Option<Step> {
        let key = Key {
            kind: entry.kind.clone(),
            namespace: entry.namespace.clone(),
            name: entry.name.clone(),
        };
        let version = match entry.seen {
            Seen::Watched => entry.version.parse().ok(),
            Seen::Listed => None,
        };
        let place = Place {
            seq,
            rank: 0,
            at,
            version,
        };
        let lives = self.lives.entry(key).or_default();
        let known = lives.iter().position(|life| life.uid == entry.uid);
        let after = Arc::new(entry.object.clone());
        if entry.verb == Verb::Deleted {
            let life = lives.get_mut(known?)?;
            if life.deleted.is_some() {
                return None;
            }
            life.deleted = Some(place);
            return Some(Step {
                before: life.last().map(|last| Arc::clone(&last.object)),
                after,
                place,
            });
        }
        if let Some(life) = known.and_then(|index| lives.get_mut(index)) {
            let before = life.last().map(|last| Arc::clone(&last.object));
            let spec_changed = before
                .as_ref()
                .is_some_and(|before| before.get("spec") != after.get("spec"));
            life.versions.push(Version {
                place,
                object: Arc::clone(&after),
                spec_changed,
            });
            return Some(Step {
                before,
                after,
                place,
            });
        }
        if let Some(previous) = lives.last_mut()
            && previous.deleted.is_none()
        {
            previous.deleted = Some(place);
        }
        let first = Version {
            place,
            object: Arc::clone(&after),
            spec_changed: false,
        };
        lives.push(Life {
            uid: entry.uid.clone(),
            versions: vec![first],
            deleted: None,
        });
        Some(Step {
            before: None,
            after,
            place,
        })
    }

    pub(crate) fn of_kind<'a>(
        &'a self,
        kind: &'a str,
    ) -> impl Iterator<Item = (&'a Key, &'a [Life])> {
        self.lives
            .range(
                Key {
                    kind: kind.to_owned(),
                    namespace: None,
                    name: String::new(),
                }..,
            )
            .take_while(move |(key, _)| key.kind == kind)
            .map(|(key, lives)| (key, lives.as_slice()))
    }

    /// The lives of the objects that a lab speaks of.
    pub(crate) fn matching<'a>(&'a self, set: &'a ObjectSet) -> Vec<(&'a Key, &'a [Life])> {
        let mut kinds: Vec<&str> = set.0.iter().map(|object| object.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
            .into_iter()
            .flat_map(|kind| self.of_kind(kind))
            .filter(|(key, _)| set.contains(&key.kind, key.namespace.as_deref(), &key.name))
            .collect()
    }

    /// What exists now under that name.
    pub(crate) fn live(
        &self,
        kind: &str,
        namespace: Option<&str>,
        name: &str,
    ) -> Option<&Arc<Value>> {
        let key = Key {
            kind: kind.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        };
        let life = self.lives.get(&key)?.last()?;
        if life.deleted.is_some() {
            None
        } else {
            life.last().map(|version| &version.object)
        }
    }

    /// Everything of a kind that exists now.
    pub(crate) fn all_live<'a>(
        &'a self,
        kind: &'a str,
    ) -> impl Iterator<Item = (&'a Key, &'a Version)> {
        self.of_kind(kind)
            .filter_map(|(key, lives)| {
                lives
                    .last()
                    .filter(|life| life.deleted.is_none())
                    .map(|life| (key, life))
            })
            .filter_map(|(key, life)| life.last().map(|version| (key, version)))
    }
}

/// Whether the value at a path differs between two versions.
pub(crate) fn differs(before: &Value, after: &Value, path: &str) -> bool {
    json::at(before, path) != json::at(after, path)
}
