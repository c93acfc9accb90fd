//! Comparing two flavors, and searching for the largest number of pods.

use cache::Cache;
use kueue_api::v1beta2::ClusterQueue;
use scheduler::{Granular, Mode, Possibility, largest_that};
use serde_json::{Value, json};

use super::setup::workload;
use crate::corpus::{Case, each, now, parse};
use crate::verdict::Verdict;
use crate::world::{key, options};

fn granular(value: &Value) -> Granular {
    let names = [
        "noFit",
        "noPreemptionCandidates",
        "preempt",
        "reclaim",
        "fit",
    ];
    let stated = &value["preemptionMode"];
    let number = names.iter().position(|name| stated == name);
    let number = number.or_else(|| usize::try_from(stated.as_u64().unwrap_or(0)).ok());
    let (mode, possibility) = match number {
        Some(1) => (Mode::Preempt, Some(Possibility::NoCandidates)),
        Some(2) => (Mode::Preempt, Some(Possibility::Preempt)),
        Some(3) => (Mode::Preempt, Some(Possibility::Reclaim)),
        Some(4) => (Mode::Fit, None),
        _ => (Mode::NoFit, None),
    };
    let borrow = usize::try_from(value["borrowingLevel"].as_u64().unwrap_or(0)).unwrap();
    Granular {
        mode,
        possibility,
        borrow,
    }
}

/// Whether one flavor is better than another, by the fungibility of a ClusterQueue.
pub(super) fn is_preferred(case: Case<'_>) -> Verdict {
    let mut cache = Cache::new(options(&case));
    let mut queue = json!({
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "cq"},
        "spec": {},
    });
    if !case.input["config"].is_null() {
        queue["spec"]["flavorFungibility"] = case.input["config"].clone();
    }
    let _ = cache.apply_cluster_queue(&parse::<ClusterQueue>(&queue), now());
    let preference = cache.snapshot().cluster_queues["cq"].fungibility.preference;
    let (a, b) = (granular(&case.input["a"]), granular(&case.input["b"]));
    let wanted = case.want["wantPreferred"] == true;
    Verdict::equal("preferred", &a.preferred_over(b, preference), &wanted)
}

/// The largest number of pods that stays within a limit.
pub(super) fn search(case: Case<'_>) -> Verdict {
    let pod_sets = json!(each::<Value>(&case.input["podSets"]));
    let mut cache = Cache::new(options(&case));
    let object = parse(&workload(&pod_sets, &Value::Null));
    let _ = cache.apply_workload(&object, now());
    let workload = cache.workload(&key(&object)).unwrap();
    let limit = case.input["countLimit"].as_i64().unwrap_or(0);
    let fitting = |counts: &[i64]| Some(counts.iter().sum::<i64>()).filter(|sum| *sum <= limit);
    let found = largest_that(&workload.pod_sets, fitting);
    Verdict::all([
        Verdict::equal("found", &found.is_some(), &(case.want["wantFound"] == true)),
        Verdict::equal(
            "count",
            &found.unwrap_or(0),
            &case.want["wantCount"].as_i64().unwrap_or(0),
        ),
    ])
}
