//! What the recorder last knew of every object: to drop what is no change, and to find out by listing what was missed.

use std::collections::{BTreeMap, BTreeSet};
use timeline::{Entry, ObjectEntry, Seen, Verb, What, prune};

type Name = (Option<String>, String);

#[derive(Debug)]
struct Last {
    uid: String,
    version: String,
    object: serde_json::Value,
}

impl Last {
    fn of(uid: &str, version: &str, object: &serde_json::Value) -> Self {
        Self {
            uid: uid.to_owned(),
            version: version.to_owned(),
            object: object.clone(),
        }
    }
}

/// An object as the API server gave it, already pruned.
#[derive(Debug, Clone)]
pub(super) struct Heard {
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) version: String,
    pub(super) object: serde_json::Value,
}

impl Heard {
    /// Takes what is needed out of an object; none when it has no name or uid.
    pub(super) fn from_object(kind: &str, object: &kube::core::DynamicObject) -> Option<Self> {
        let metadata = &object.metadata;
        Some(Self {
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone()?,
            uid: metadata.uid.clone()?,
            version: metadata.resource_version.clone().unwrap_or_default(),
            object: prune(kind, serde_json::to_value(object).ok()?),
        })
    }

    fn entry(self, kind: &str, verb: Verb, seen: Seen) -> ObjectEntry {
        let Self {
            namespace,
            name,
            uid,
            version,
            object,
        } = self;
        ObjectEntry {
            verb,
            seen,
            kind: kind.to_owned(),
            namespace,
            name,
            uid,
            version,
            object,
        }
    }
}

/// The last known state of everything that exists, by kind.
#[derive(Debug, Default)]
pub(super) struct Known {
    kinds: BTreeMap<String, BTreeMap<Name, Last>>,
}

impl Known {
    pub(super) fn from_entries(entries: &[Entry]) -> Self {
        let mut known = Self::default();
        for entry in entries {
            if let What::Object(object) = &entry.what {
                known.remember(object);
            }
        }
        known
    }

    fn remember(&mut self, entry: &ObjectEntry) {
        let objects = self.kinds.entry(entry.kind.clone()).or_default();
        let name = (entry.namespace.clone(), entry.name.clone());
        if entry.verb == Verb::Deleted {
            objects.remove(&name);
        } else {
            objects.insert(name, Last::of(&entry.uid, &entry.version, &entry.object));
        }
    }

    /// The uid of an object that is known to exist.
    pub(super) fn uid(&self, kind: &str, name: &str) -> Option<&str> {
        let objects = self.kinds.get(kind)?;
        objects
            .get(&(None, name.to_owned()))
            .map(|last| last.uid.as_str())
    }

    /// The newest version known of a kind: a watch can go on from there.
    pub(super) fn newest(&self, kind: &str) -> Option<u64> {
        self.kinds
            .get(kind)?
            .values()
            .filter_map(|last| last.version.parse().ok())
            .max()
    }

    /// A watch event: the entry it makes, unless it tells nothing new.
    pub(super) fn watched(&mut self, kind: &str, verb: Verb, heard: Heard) -> Option<ObjectEntry> {
        let objects = self.kinds.entry(kind.to_owned()).or_default();
        let name = (heard.namespace.clone(), heard.name.clone());
        let last = objects.get_mut(&name);
        if verb == Verb::Deleted {
            last.filter(|last| last.uid == heard.uid)?;
            objects.remove(&name);
            return Some(heard.entry(kind, Verb::Deleted, Seen::Watched));
        }
        let verb = match last {
            Some(last) if last.uid == heard.uid => {
                if !newer(&heard.version, &last.version) {
                    return None;
                }
                last.version.clone_from(&heard.version);
                if last.object == heard.object {
                    return None;
                }
                last.object = heard.object.clone();
                Verb::Modified
            }
            _ => {
                objects.insert(name, Last::of(&heard.uid, &heard.version, &heard.object));
                Verb::Added
            }
        };
        Some(heard.entry(kind, verb, Seen::Watched))
    }

    /// A complete list: the entries for everything that differs from what was known.
    pub(super) fn listed(&mut self, kind: &str, present: Vec<Heard>) -> Vec<ObjectEntry> {
        let mut entries = Vec::new();
        let objects = self.kinds.entry(kind.to_owned()).or_default();
        let names: BTreeSet<Name> = present
            .iter()
            .map(|heard| (heard.namespace.clone(), heard.name.clone()))
            .collect();
        let gone: Vec<Name> = objects
            .keys()
            .filter(|name| !names.contains(*name))
            .cloned()
            .collect();
        for name in gone {
            entries.extend(
                objects
                    .remove(&name)
                    .map(|last| deletion(kind, &name, last)),
            );
        }
        for heard in present {
            let name = (heard.namespace.clone(), heard.name.clone());
            let same = objects
                .get(&name)
                .map(|last| (last.uid == heard.uid, last.version == heard.version));
            if same == Some((true, true)) {
                continue;
            }
            if same.is_some_and(|(uid, _)| !uid) {
                entries.extend(
                    objects
                        .remove(&name)
                        .map(|last| deletion(kind, &name, last)),
                );
            }
            let verb = if same.is_some_and(|(uid, _)| uid) {
                Verb::Modified
            } else {
                Verb::Added
            };
            objects.insert(name, Last::of(&heard.uid, &heard.version, &heard.object));
            entries.push(heard.entry(kind, verb, Seen::Listed));
        }
        entries
    }
}

fn deletion(kind: &str, (namespace, name): &Name, last: Last) -> ObjectEntry {
    ObjectEntry {
        verb: Verb::Deleted,
        seen: Seen::Listed,
        kind: kind.to_owned(),
        namespace: namespace.clone(),
        name: name.clone(),
        uid: last.uid,
        version: last.version,
        object: last.object,
    }
}

/// Versions grow with every write. Where they are not numbers, another one is a newer one.
fn newer(version: &str, last: &str) -> bool {
    match (version.parse::<u64>(), last.parse::<u64>()) {
        (Ok(version), Ok(last)) => version > last,
        _ => version != last,
    }
}
