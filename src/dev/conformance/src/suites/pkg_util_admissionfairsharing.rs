//! How much a LocalQueue has used, weighed.

use std::collections::BTreeMap;

use cache::{Cache, LocalQueueKey, Options};
use scheduler::AdmissionFairSharing;
use serde_json::json;

use super::{File, pkg_cache_queue_afs::quantities};
use crate::corpus::{Case, now, parse, read};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[
    ("TestCalculateUsageWithDRA", weighed),
    ("TestResolveLQWeight", weight),
];

fn close(got: f64, want: Option<f64>) -> Verdict {
    let want = want.unwrap_or(0.0);
    let equal = (got - want).abs() < 1e-9;
    Verdict::from(if equal {
        Ok(())
    } else {
        Err(format!("decided:  {got}\n  expected: {want}"))
    })
}

fn weighed(case: Case<'_>) -> Verdict {
    let weights: BTreeMap<String, f64> = read(&case.input["resWeights"]);
    let weights = weights
        .into_iter()
        .map(|(name, weight)| (name.as_str().into(), weight));
    let rules = AdmissionFairSharing {
        weights: weights.collect(),
        ..AdmissionFairSharing::default()
    };
    let (consumed, penalty) = (
        quantities(&case.input["consumed"]),
        quantities(&case.input["penalty"]),
    );
    let got = rules.weighed(
        &consumed,
        &penalty,
        case.input["lqWeight"].as_f64().unwrap_or(0.0),
    );
    close(got, case.want["wantUsage"].as_f64())
}

/// The weight of a LocalQueue, seen by what one unit counts there. A cache has no lookup that could fail.
fn weight(case: Case<'_>) -> Verdict {
    if !case.input["getErr"].is_null() {
        return Verdict::Skipped(crate::verdict::Skip::Internal(
            "an error of the reference's client",
        ));
    }
    let mut cache = Cache::new(Options {
        admission_fair_sharing: Some(AdmissionFairSharing::default()),
        ..Options::default()
    });
    if !case.input["localQueue"].is_null() {
        let _ = cache.apply_local_queue(&parse(&case.input["localQueue"]), now());
    }
    let door = LocalQueueKey::new("ns", "lq");
    let unit: BTreeMap<String, kueue_api::Quantity> = read(&json!({"cpu": "1"}));
    cache.set_past_usage(&door, &unit, now());
    let weight = cache.past_usage(&door).map_or(0.0, f64::recip);
    close(weight, case.want["wantWeight"].as_f64())
}
