//! What is remembered of the objects: whatever a change of the controller must leave as it is.

use std::collections::BTreeMap;

use anyhow::bail;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt as _};
use kueue_api::v1beta2::{ClusterQueue, LocalQueue, Workload};
use serde_json::{Value, json};

use super::load::State;

/// Texts of those that wait may differ between versions, and the times of what is not so.
const CONDITIONS: &[&str] = &[
    "QuotaReserved",
    "Admitted",
    "Evicted",
    "Preempted",
    "Finished",
    "Requeued",
];

/// All objects of one moment.
pub(super) struct Record {
    /// By kind and name, what may not change.
    kept: BTreeMap<String, Value>,
    /// Of each Workload, by the name of its owner.
    states: BTreeMap<String, State>,
}

impl Record {
    pub(super) async fn take(client: &Client) -> anyhow::Result<Self> {
        let all = ListParams::default();
        let mut record = Self {
            kept: BTreeMap::new(),
            states: BTreeMap::new(),
        };
        for workload in Api::<Workload>::all(client.clone()).list(&all).await?.items {
            let owner = owner(&workload);
            record.keep("Workload", &owner, of_workload(&workload)?);
            record.states.insert(owner, state(&workload));
        }
        for job in Api::<Job>::all(client.clone()).list(&all).await?.items {
            record.keep("Job", &job.name_any(), of_job(&job));
        }
        for pod in Api::<Pod>::all(client.clone()).list(&all).await?.items {
            record.keep("Pod", &pod.name_any(), of_pod(&pod));
        }
        let queues = Api::<ClusterQueue>::all(client.clone());
        for queue in queues.list(&all).await?.items {
            let status = serde_json::to_value(queue.status.clone().unwrap_or_default())?;
            record.keep("ClusterQueue", &queue.name_any(), counts(&status));
        }
        let queues = Api::<LocalQueue>::all(client.clone());
        for queue in queues.list(&all).await?.items {
            let status = serde_json::to_value(queue.status.clone().unwrap_or_default())?;
            record.keep("LocalQueue", &queue.name_any(), counts(&status));
        }
        Ok(record)
    }

    fn keep(&mut self, kind: &str, name: &str, what: Value) {
        self.kept.insert(format!("{kind} {name}"), what);
    }

    /// Whether the Workloads are in the states that they are meant to be in.
    pub(super) fn expect(&self, wanted: &[(&str, State)]) -> anyhow::Result<()> {
        let is: BTreeMap<&str, State> = self
            .states
            .iter()
            .map(|(name, state)| (name.as_str(), *state))
            .collect();
        let wanted: BTreeMap<&str, State> = wanted.iter().copied().collect();
        if is != wanted {
            bail!("the first controller left {is:?}, expected were {wanted:?}");
        }
        Ok(())
    }

    /// What differs.
    pub(super) fn compare(&self, after: &Self) -> Vec<String> {
        let mut noticed = Vec::new();
        for (what, before) in &self.kept {
            match after.kept.get(what) {
                None => noticed.push(format!("{what} is gone")),
                Some(after) => differences(what, before, after, &mut noticed),
            }
        }
        let new = after
            .kept
            .keys()
            .filter(|what| !self.kept.contains_key(*what));
        noticed.extend(new.map(|what| format!("{what} is new")));
        noticed
    }

    /// Who is not finished at the end, those excepted that never will be.
    pub(super) fn left(&self, never: &[&str]) -> Vec<String> {
        let open = self
            .states
            .iter()
            .filter(|(name, state)| (**state == State::Finished) == never.contains(&name.as_str()));
        open.map(|(name, state)| format!("{name} is {state:?} at the end"))
            .collect()
    }

    /// How many are in each state.
    pub(super) fn sum(&self) -> String {
        let mut counts: BTreeMap<State, usize> = BTreeMap::new();
        for state in self.states.values() {
            *counts.entry(*state).or_default() += 1;
        }
        let counts = counts
            .iter()
            .map(|(state, number)| format!("{number} {state:?}"));
        let counts: Vec<String> = counts.collect();
        format!("{} Workloads: {}", self.states.len(), counts.join(", "))
    }
}

fn differences(what: &str, before: &Value, after: &Value, noticed: &mut Vec<String>) {
    for (field, before) in before.as_object().into_iter().flatten() {
        let after = &after[field];
        if after != before {
            noticed.push(format!("{what}: {field} was {before}, is {after}"));
        }
    }
}

fn owner(workload: &Workload) -> String {
    let owner = workload.owner_references().first();
    // A group's Workload has the group's name.
    match owner {
        Some(owner) if owner.kind == "Job" => owner.name.clone(),
        Some(owner) if workload.owner_references().len() == 1 => owner.name.clone(),
        _ => workload.name_any(),
    }
}

fn has(workload: &Workload, kind: &str) -> bool {
    let mut conditions = workload.conditions().iter();
    conditions.any(|one| one.type_ == kind && one.status == "True")
}

fn state(workload: &Workload) -> State {
    match workload {
        _ if workload.is_finished() => State::Finished,
        _ if workload.is_admitted() => State::Runs,
        _ if workload.has_quota_reservation() => State::Reserved,
        _ if !workload.is_active() => State::Inactive,
        _ if has(workload, "Evicted") => State::Left,
        _ => State::Waits,
    }
}

fn of_workload(workload: &Workload) -> anyhow::Result<Value> {
    let status = serde_json::to_value(workload.status.clone().unwrap_or_default())?;
    let checks = status["admissionChecks"].as_array().into_iter().flatten();
    let checks: Vec<Value> = checks
        .map(|check| json!([check["name"], check["state"]]))
        .collect();
    let mut kept = json!({
        "uid": workload.uid(),
        "generation": workload.metadata.generation,
        "admission": status["admission"],
        "reclaimable": status["reclaimablePods"],
        "requeueState": status["requeueState"],
        "checks": checks,
    });
    for kind in CONDITIONS {
        let mut conditions = status["conditions"].as_array().into_iter().flatten();
        let since = conditions.find(|one| one["type"] == *kind && one["status"] == "True");
        kept[*kind] = since.map_or(
            Value::Null,
            |one| json!({"since": one["lastTransitionTime"], "reason": one["reason"]}),
        );
    }
    Ok(kept)
}

/// A start or a stop is a change of the spec.
fn of_job(job: &Job) -> Value {
    json!({"uid": job.uid(), "generation": job.metadata.generation})
}

fn of_pod(pod: &Pod) -> Value {
    let gates = pod
        .spec
        .as_ref()
        .and_then(|spec| spec.scheduling_gates.as_ref());
    json!({
        "uid": pod.uid(),
        "gates": gates.map_or(0, Vec::len),
        "deleted": pod.metadata.deletion_timestamp.is_some(),
    })
}

/// What a queue reports.
fn counts(status: &Value) -> Value {
    let mut kept = json!({});
    let fields = [
        "pendingWorkloads",
        "reservingWorkloads",
        "admittedWorkloads",
        "flavorsReservation",
        "flavorsUsage",
    ];
    for field in fields {
        kept[field] = status[field].clone();
    }
    kept
}
