//! Workloads: in which state, why, and what they ask for.

use super::{BoardWorkload, WorkloadState, number, owned};
use crate::{
    json,
    quantity::{parse, quantity},
    timeline::Timeline,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// Finished workloads that are still shown.
const FINISHED_SHOWN: usize = 20;

pub(super) fn workloads(timeline: &Timeline) -> Vec<BoardWorkload> {
    let mut found: Vec<(u64, BoardWorkload)> = timeline
        .all("Workload")
        .map(|(namespace, name, version)| {
            (
                version.place.seq,
                workload(timeline, namespace, name, &version.object),
            )
        })
        .collect();
    found.sort_by_key(|(seq, workload)| {
        (
            workload.state == WorkloadState::Finished,
            std::cmp::Reverse(*seq),
        )
    });
    let mut finished = 0;
    found.retain(|(_, workload)| {
        finished += usize::from(workload.state == WorkloadState::Finished);
        workload.state != WorkloadState::Finished || finished <= FINISHED_SHOWN
    });
    found.into_iter().map(|(_, workload)| workload).collect()
}

fn workload(
    timeline: &Timeline,
    namespace: Option<&str>,
    name: &str,
    object: &Value,
) -> BoardWorkload {
    let state = state(timeline, object);
    let told = match state {
        WorkloadState::Queued => json::condition(object, "QuotaReserved"),
        WorkloadState::Evicted => json::condition(object, "Evicted"),
        WorkloadState::Finished => json::condition(object, "Finished"),
        WorkloadState::Reserved => json::condition(object, "Admitted"),
        WorkloadState::Admitted | WorkloadState::Running => None,
    };
    let mut flavors: Vec<String> = json::items(object, "status.admission.podSetAssignments")
        .iter()
        .filter_map(|set| set.get("flavors").and_then(Value::as_object))
        .flat_map(|flavors| {
            flavors
                .values()
                .filter_map(Value::as_str)
                .map(str::to_owned)
        })
        .collect();
    flavors.sort();
    flavors.dedup();
    let owner = json::items(object, "metadata.ownerReferences").first();
    BoardWorkload {
        namespace: namespace.unwrap_or_default().to_owned(),
        name: name.to_owned(),
        job: owner.and_then(|owner| owned(json::text(owner, "name"))),
        local_queue: json::text(object, "spec.queueName")
            .unwrap_or_default()
            .to_owned(),
        cluster_queue: owned(json::text(object, "status.admission.clusterQueue")),
        state,
        reason: told.and_then(|condition| owned(json::text(condition, "reason"))),
        message: told.and_then(|condition| owned(json::text(condition, "message"))),
        priority: json::at(object, "spec.priority")
            .and_then(Value::as_i64)
            .unwrap_or(0),
        requests: requests(object),
        flavors,
    }
}

fn state(timeline: &Timeline, object: &Value) -> WorkloadState {
    let is = |kind: &str| json::is_true(object, kind);
    if is("Finished") {
        return WorkloadState::Finished;
    }
    if is("Evicted") {
        return WorkloadState::Evicted;
    }
    if is("Admitted") {
        let job = json::controller(object).and_then(|(_, uid)| timeline.attempt(uid));
        let runs = job.is_some_and(|attempt| {
            let latest = attempt.facts.iter().rev().find(|fact| {
                matches!(
                    fact.name,
                    course::FactName::Running | course::FactName::Admitted
                )
            });
            latest.is_some_and(|fact| fact.name == course::FactName::Running)
        });
        return if runs {
            WorkloadState::Running
        } else {
            WorkloadState::Admitted
        };
    }
    if is("QuotaReserved") {
        WorkloadState::Reserved
    } else {
        WorkloadState::Queued
    }
}

/// What the pod sets ask for together. Amounts in the unit of the first request of that resource are not needed: plain numbers.
fn requests(workload: &Value) -> BTreeMap<String, String> {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    let mut only: BTreeMap<String, (String, u32)> = BTreeMap::new();
    for set in json::items(workload, "spec.podSets") {
        let count = set.get("count").and_then(Value::as_f64).unwrap_or(1.0);
        for container in json::items(set, "template.spec.containers") {
            let Some(wanted) = json::at(container, "resources.requests").and_then(Value::as_object)
            else {
                continue;
            };
            for (resource, value) in wanted {
                *sums.entry(resource.clone()).or_default() +=
                    count * quantity(value).unwrap_or(0.0);
                let entry = only
                    .entry(resource.clone())
                    .or_insert_with(|| (number(Some(value)), 0));
                entry.1 += if count > 1.0 { 2 } else { 1 };
            }
        }
    }
    sums.into_iter()
        .map(|(resource, sum)| {
            let written = only
                .get(&resource)
                .filter(|(text, times)| *times == 1 && parse(text).is_some());
            let text = written.map_or_else(|| plain(sum), |(text, _)| text.clone());
            (resource, text)
        })
        .collect()
}

/// A sum in the shortest unit that is exact enough to read.
fn plain(sum: f64) -> String {
    for (unit, size) in [("Gi", 1_073_741_824.0), ("Mi", 1_048_576.0)] {
        if sum >= size && (sum / size).fract() == 0.0 {
            return format!("{}{unit}", sum / size);
        }
    }
    if sum.fract() == 0.0 {
        format!("{sum}")
    } else {
        format!("{}m", (sum * 1000.0).round())
    }
}
