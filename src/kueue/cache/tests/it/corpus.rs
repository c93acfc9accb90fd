//! Reads the corpus, and turns its shorthand into values.

use std::path::PathBuf;

use cache::{Cache, ClusterQueueName};
use quantity::Amount;
use scheduler::{FlavorResource, Usage};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One file of cases.
pub(crate) struct Corpus {
    pub(crate) common: Value,
    pub(crate) cases: Vec<Value>,
}

/// The wall clock of the corpus.
pub(crate) fn now() -> jiff::Timestamp {
    "2026-08-22T12:00:00Z".parse().unwrap()
}

/// The cases of one file; `None` where the corpus is not there and need not be.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn load(file: &str) -> Option<Corpus> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../../shared/conformance")
        .join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!in_ci, "{} is missing", path.display());
        eprintln!("skipped: {} is not there", path.display());
        return None;
    };
    let mut read: Value = serde_json::from_str(&text).unwrap();
    let cases = serde_json::from_value(read["cases"].take()).unwrap();
    Some(Corpus {
        common: read["common"].take(),
        cases,
    })
}

/// A value of any type, absent as its default.
pub(crate) fn read<T: DeserializeOwned + Default>(value: &Value) -> T {
    if value.is_null() {
        T::default()
    } else {
        serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"))
    }
}

/// A list or the values of a map, each as one object.
pub(crate) fn each<T: DeserializeOwned>(value: &Value) -> Vec<T> {
    let all: Vec<Value> = match value {
        Value::Array(all) => all.clone(),
        Value::Object(all) => all.values().cloned().collect(),
        _ => Vec::new(),
    };
    all.into_iter()
        .map(|one| {
            serde_json::from_value(one.clone()).unwrap_or_else(|error| panic!("{error}: {one}"))
        })
        .collect()
}

/// `{"flavor/resource": amount}`.
pub(crate) fn usage(value: &Value) -> Usage {
    let entries = value.as_object().into_iter().flatten();
    entries
        .map(|(key, amount)| (flavor_resource(key), self::amount(amount)))
        .collect()
}

pub(crate) fn flavor_resource(key: &str) -> FlavorResource {
    let (flavor, resource) = key.split_once('/').unwrap();
    FlavorResource::new(flavor, resource)
}

pub(crate) fn amount(value: &Value) -> Amount {
    if value == "unlimited" {
        Amount::UNLIMITED
    } else {
        Amount::new(value.as_i64().unwrap())
    }
}

pub(crate) fn name(case: &Value) -> &str {
    case["name"].as_str().unwrap()
}

/// Applies flavors, ClusterQueues and Cohorts found under the usual keys.
pub(crate) fn apply(cache: &mut Cache, flavors: &Value, queues: &Value, cohorts: &Value) {
    for flavor in each(flavors) {
        let _ = cache.apply_resource_flavor(&flavor);
    }
    for queue in each(queues) {
        let _ = cache.apply_cluster_queue(&queue, now());
    }
    for cohort in each(cohorts) {
        let _ = cache.apply_cohort(&cohort);
    }
}

pub(crate) fn queue_name(name: &str) -> ClusterQueueName {
    ClusterQueueName::from(name)
}
