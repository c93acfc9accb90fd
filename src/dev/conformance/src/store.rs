//! The API of a reconcile case in memory: objects as JSON by kind, namespace and name, the writes that a controller makes, and the events it sends.
//! It behaves as the test client of the reference does where the corpus shows that (README, "Job integrations" and `pkg-controller-core`).

use std::collections::BTreeMap;

use k8s_openapi::{Metadata, Resource};
use kueue_api::ObjectMeta;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::compare;
use crate::corpus::{each, now, parse};
use crate::verdict::Verdict;

/// An object's kind, namespace (empty for cluster-wide ones) and name.
pub type Place = (String, String, String);

/// What is not compared of a Workload after a reconcile: paths, `*` stands for each entry of a list.
pub const WORKLOAD_NOISE: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata.resourceVersion",
    "metadata.creationTimestamp",
    "status.conditions.*.lastTransitionTime",
    "status.admissionChecks.*.lastTransitionTime",
];

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Store {
    objects: BTreeMap<Place, Value>,
    events: Vec<Value>,
}

impl Store {
    /// A store with these objects. Null ones are left out, lists and maps of objects are opened.
    #[must_use]
    pub fn of<'a>(objects: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut store = Self::default();
        objects.into_iter().for_each(|object| store.add(object));
        store
    }

    /// Puts an object in, or each of a list or a map of objects.
    pub fn add(&mut self, object: &Value) {
        if object["kind"].is_string() && object["metadata"].is_object() {
            self.objects.insert(place(object), object.clone());
        } else if object.is_array() || object.is_object() {
            let objects: Vec<Value> = each(object);
            objects.iter().for_each(|object| self.add(object));
        }
    }

    /// An object as it is.
    #[must_use]
    pub fn value(&self, kind: &str, namespace: &str, name: &str) -> Option<&Value> {
        self.objects.get(&at(kind, namespace, name))
    }

    /// An object.
    #[must_use]
    pub fn get<K: Resource + DeserializeOwned>(&self, namespace: &str, name: &str) -> Option<K> {
        self.value(K::KIND, namespace, name).map(parse)
    }

    /// The objects of a kind as they are, by namespace and name.
    #[must_use]
    pub fn values(&self, kind: &str) -> Vec<Value> {
        let of_kind = self.objects.iter().filter(|(place, _)| place.0 == kind);
        of_kind.map(|(_, object)| object.clone()).collect()
    }

    /// The objects of a kind, by namespace and name.
    #[must_use]
    pub fn list<K: Resource + DeserializeOwned>(&self) -> Vec<K> {
        self.values(K::KIND).iter().map(parse).collect()
    }

    /// Creates an object. False if there is one of its name.
    pub fn create<K: Resource + Metadata<Ty = ObjectMeta> + Serialize>(
        &mut self,
        object: &K,
    ) -> bool {
        let mut value = serde_json::to_value(object).unwrap();
        value["apiVersion"] = json!(K::API_VERSION);
        value["kind"] = json!(K::KIND);
        let place = place(&value);
        if self.objects.contains_key(&place) {
            return false;
        }
        self.objects.insert(place, value);
        true
    }

    /// Applies a merge patch to an object; one that is being deleted goes with its last finalizer. False if it is not there.
    pub fn patch(&mut self, kind: &str, namespace: &str, name: &str, patch: &Value) -> bool {
        let place = at(kind, namespace, name);
        let Some(object) = self.objects.get_mut(&place) else {
            return false;
        };
        jobs::merge::apply(object, patch);
        let meta = &object["metadata"];
        if meta["deletionTimestamp"].is_string() && compare::is_empty(&meta["finalizers"]) {
            self.objects.remove(&place);
        }
        true
    }

    /// Writes a status as server-side apply does in the test client of the reference: fields that the new status leaves out stay.
    pub fn apply_status<S: Serialize>(
        &mut self,
        kind: &str,
        namespace: &str,
        name: &str,
        status: &S,
    ) -> bool {
        let status = compare::lean(&serde_json::to_value(status).unwrap());
        let Some(object) = self.objects.get_mut(&at(kind, namespace, name)) else {
            return false;
        };
        if !object["status"].is_object() {
            object["status"] = json!({});
        }
        for (field, value) in status.as_object().into_iter().flatten() {
            object["status"][field] = value.clone();
        }
        true
    }

    /// Writes a status whole.
    pub fn replace_status<S: Serialize>(
        &mut self,
        kind: &str,
        namespace: &str,
        name: &str,
        status: &S,
    ) -> bool {
        let Some(object) = self.objects.get_mut(&at(kind, namespace, name)) else {
            return false;
        };
        object["status"] = serde_json::to_value(status).unwrap();
        true
    }

    /// Forgets a field of all objects of a kind.
    pub fn forget(&mut self, kind: &str, path: &str) {
        let path: Vec<_> = path.split('.').collect();
        let all = self.objects.iter_mut();
        let of_kind = all.filter(|(place, _)| place.0 == kind);
        of_kind.for_each(|(_, object)| drop_path(object, &path));
    }

    /// Deletes an object; one with finalizers is only marked.
    pub fn delete(&mut self, kind: &str, namespace: &str, name: &str) -> bool {
        let place = at(kind, namespace, name);
        let Some(object) = self.objects.get_mut(&place) else {
            return false;
        };
        if compare::is_empty(&object["metadata"]["finalizers"]) {
            self.objects.remove(&place);
        } else if object["metadata"]["deletionTimestamp"].is_null() {
            object["metadata"]["deletionTimestamp"] = json!(now().to_string());
        }
        true
    }

    /// Notes an event about an object; `kind` is Normal or Warning.
    pub fn event(&mut self, namespace: &str, name: &str, kind: &str, reason: &str, message: &str) {
        let key = format!("{namespace}/{name}");
        self.events
            .push(json!({"key": key, "eventType": kind, "reason": reason, "message": message}));
    }

    /// Remembers what a reconciler tells about an object.
    pub fn tell(&mut self, namespace: &str, name: &str, warning: bool, reason: &str, note: &str) {
        let kind = if warning { "Warning" } else { "Normal" };
        self.event(namespace, name, kind, reason, note);
    }

    /// Compares the events as a set.
    #[must_use]
    pub fn same_events(&self, want: &Value) -> Verdict {
        let sorted = |events: &[Value]| {
            let mut lean: Vec<_> = events.iter().map(compare::lean).collect();
            lean.sort_by_key(Value::to_string);
            Value::Array(lean)
        };
        let want: Vec<Value> = want.as_array().cloned().unwrap_or_default();
        named(
            "events",
            Verdict::same(&sorted(&self.events), &sorted(&want)),
        )
    }

    /// Compares the objects of a kind with a list, without the noise; those whose names end in a hash have none to compare.
    #[must_use]
    pub fn same(&self, kind: &str, want: &Value, noise: &[&str]) -> Verdict {
        let want: Vec<Value> = want.as_array().cloned().unwrap_or_default();
        let got = normal(&self.values(kind), noise);
        named(kind, Verdict::same(&got, &normal(&want, noise)))
    }

    /// Compares the Workloads. Owners count only for those that somebody else made, and nobody can foresee the names of new ones.
    #[must_use]
    pub fn same_workloads(&self, want: &Value, before: &Value, with_owners: bool) -> Verdict {
        let known: Vec<Value> = each(before);
        let known: Vec<_> = known.iter().map(|one| &one["metadata"]["name"]).collect();
        let unnamed = |all: &[Value]| -> Vec<Value> {
            let strip = |one: &Value| {
                let mut one = one.clone();
                if !known.contains(&&one["metadata"]["name"]) {
                    one["metadata"]["name"] = Value::Null;
                }
                one
            };
            all.iter().map(strip).collect()
        };
        let want: Vec<Value> = want.as_array().cloned().unwrap_or_default();
        let mut noise = WORKLOAD_NOISE.to_vec();
        if !with_owners {
            noise.push("metadata.ownerReferences");
        }
        let got = normal(&unnamed(&self.values("Workload")), &noise);
        named(
            "workloads",
            Verdict::same(&got, &normal(&unnamed(&want), &noise)),
        )
    }
}

/// Objects in the order of their names, their conditions in that of their types, both without the noise.
#[must_use]
pub fn normal(objects: &[Value], noise: &[&str]) -> Value {
    let mut objects: Vec<Value> = objects.iter().map(compare::lean).collect();
    for object in &mut objects {
        for path in noise {
            drop_path(object, &path.split('.').collect::<Vec<_>>());
        }
        if let Some(Value::Array(conditions)) = object.pointer_mut("/status/conditions") {
            conditions.sort_by_key(|condition| condition["type"].to_string());
        }
    }
    objects.sort_by_key(|object| {
        let meta = &object["metadata"];
        (meta["namespace"].to_string(), meta["name"].to_string())
    });
    Value::Array(objects)
}

/// Drops what a path leads to.
pub fn drop_path(value: &mut Value, path: &[&str]) {
    match path {
        [] => {}
        ["*", rest @ ..] => {
            let entries = value.as_array_mut().into_iter().flatten();
            entries.for_each(|entry| drop_path(entry, rest));
        }
        [last] => {
            if let Some(fields) = value.as_object_mut() {
                fields.remove(*last);
            }
        }
        [first, rest @ ..] => {
            if let Some(inner) = value.get_mut(*first) {
                drop_path(inner, rest);
            }
        }
    }
}

/// A verdict that says what of the outcome it is about.
#[must_use]
pub fn named(what: &str, verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Failed(text) => Verdict::Failed(format!("{what}: {text}")),
        other => other,
    }
}

fn at(kind: &str, namespace: &str, name: &str) -> Place {
    (kind.to_owned(), namespace.to_owned(), name.to_owned())
}

fn place(object: &Value) -> Place {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let meta = &object["metadata"];
    (
        text(&object["kind"]),
        text(&meta["namespace"]),
        text(&meta["name"]),
    )
}
