//! Compares what is left of a world with what a case wants. Whatever `want` leaves out is expected to be empty, but for events.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use cache::{ClusterQueueName, WorkloadKey};
use kueue_api::v1beta2::Workload;
use scheduler::messages;
use serde_json::{Value, json};

use super::World;
use crate::compare::{differences, lean};
use crate::corpus::{each, read};

impl World {
    /// All Workloads of the API, those of `wanted` expected.
    ///
    /// # Errors
    /// The differences, Workload by Workload.
    pub fn compare_workloads(&self, wanted: &Value) -> Result<(), String> {
        let got = by_name(self.api.values());
        let want = by_name(each::<Workload>(wanted).iter());
        self.explained(&differences(&got, &want))
    }

    /// The admissions of all workloads that hold quota.
    ///
    /// # Errors
    /// The differences.
    pub fn compare_assignments(&self, wanted: &Value) -> Result<(), String> {
        self.compare_some_assignments(wanted, |_| true)
    }

    /// The admissions of those workloads that hold quota and count.
    ///
    /// # Errors
    /// The differences.
    pub fn compare_some_assignments(
        &self,
        wanted: &Value,
        counts: impl Fn(&WorkloadKey) -> bool,
    ) -> Result<(), String> {
        let holding = self
            .api
            .iter()
            .filter(|(key, _)| counts(key) && self.in_the_cache(key));
        let got: serde_json::Map<String, Value> = holding
            .map(|(key, workload)| {
                let status = workload.status.as_ref();
                let admission = status.and_then(|status| status.admission.as_ref());
                (key.to_string(), lean(&json!(admission)))
            })
            .collect();
        let want = wanted.as_object().cloned().unwrap_or_default();
        self.explained(&differences(
            &Value::Object(got),
            &lean(&Value::Object(want)),
        ))
    }

    /// The reference's cache hears of a finished slice only after the cycle.
    fn in_the_cache(&self, key: &WorkloadKey) -> bool {
        self.cache.holds_quota(key) || self.replaced.contains(key)
    }

    /// The events, in order or as a set.
    ///
    /// # Errors
    /// Both lists.
    pub fn compare_events(&self, want: &Value, ordered: bool) -> Result<(), String> {
        let Some(wanted) = want["wantEvents"].as_array() else {
            return Ok(());
        };
        let with_note = want["eventsIgnoreMessage"] != true;
        let line = |key: &str, kind: &str, reason: &str, note: &str| {
            let note = if with_note { note } else { "" };
            format!("{key} {kind} {reason} {note}")
                .trim_end()
                .to_owned()
        };
        let mut got: Vec<String> = self
            .events
            .iter()
            .map(|told| {
                line(
                    &told.workload.to_string(),
                    told.kind,
                    &told.reason,
                    &told.note,
                )
            })
            .collect();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut want: Vec<String> = wanted
            .iter()
            .map(|event| {
                line(
                    &text(&event["key"]),
                    &text(&event["eventType"]),
                    &text(&event["reason"]),
                    &text(&event["message"]),
                )
            })
            .collect();
        if !ordered {
            got.sort();
            want.sort();
        }
        if got == want {
            return Ok(());
        }
        self.explained(&[format!(
            "events\n  decided:  {}\n  expected: {}",
            got.join("\n            "),
            want.join("\n            ")
        )])
    }

    /// Who is left in the heaps, and who was set aside.
    ///
    /// # Errors
    /// Both, by ClusterQueue.
    pub fn compare_queues(&self, want: &Value) -> Result<(), String> {
        let wanted = |value: &Value| -> BTreeMap<String, BTreeSet<String>> {
            let mut all: BTreeMap<String, BTreeSet<String>> = read(value);
            all.retain(|_, keys| !keys.is_empty());
            all
        };
        let (active, parked) = (self.left(false), self.left(true));
        let (want_active, want_parked) = (
            wanted(&want["wantLeft"]),
            wanted(&want["wantInadmissibleLeft"]),
        );
        if (&active, &parked) == (&want_active, &want_parked) {
            return Ok(());
        }
        self.explained(&[format!(
            "queues\n  decided:  left {active:?}, inadmissible {parked:?}\n  expected: left {want_active:?}, inadmissible {want_parked:?}"
        )])
    }

    fn left(&self, aside: bool) -> BTreeMap<String, BTreeSet<String>> {
        let of = |name: &ClusterQueueName| {
            let keys = self.cache.waiting(name, aside);
            let keys: BTreeSet<String> = keys.iter().map(ToString::to_string).collect();
            (name.to_string(), keys)
        };
        self.cache
            .cluster_queues()
            .map(of)
            .filter(|(_, keys)| !keys.is_empty())
            .collect()
    }

    /// What must hold whatever happened.
    ///
    /// # Errors
    /// What does not hold.
    pub fn check(&mut self) -> Result<(), String> {
        let mut violations = self.cache.check();
        violations.retain(|one| !self.known_violations.contains(one));
        if violations.is_empty() {
            Ok(())
        } else {
            Err(format!("violations: {violations:?}"))
        }
    }

    /// The differences, followed by what the cycles say they decided and why.
    fn explained(&self, differences: &[String]) -> Result<(), String> {
        if differences.is_empty() {
            return Ok(());
        }
        let mut text = differences.join("\n");
        for (number, (_, report)) in self.decided.iter().enumerate() {
            for entry in &report.entries {
                let message = messages::pending(entry).unwrap_or_else(|| "admitted".to_owned());
                let _ = write!(
                    text,
                    "\ncycle {}: {} in {}: {message} ({:?})",
                    number + 1,
                    entry.workload,
                    entry.cluster_queue,
                    entry.requeue_reason()
                );
            }
        }
        Err(text)
    }
}

/// Workloads by key, without what does not count.
fn by_name<'a>(workloads: impl Iterator<Item = &'a Workload>) -> Value {
    let all = workloads.map(|workload| (workload.key(), normal(workload)));
    Value::Object(all.collect())
}

fn normal(workload: &Workload) -> Value {
    let mut value = lean(&json!(workload));
    if let Some(metadata) = value["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
        metadata.remove("creationTimestamp");
    }
    if let Some(conditions) = value["status"]["conditions"].as_array_mut() {
        conditions.sort_by_key(|condition| condition["type"].to_string());
    }
    if let Some(checks) = value["status"]["admissionChecks"].as_array_mut() {
        for check in checks.iter_mut().filter_map(Value::as_object_mut) {
            check.remove("lastTransitionTime");
        }
    }
    if value["status"].is_null() {
        value.as_object_mut().map(|map| map.remove("status"));
    }
    value
}
