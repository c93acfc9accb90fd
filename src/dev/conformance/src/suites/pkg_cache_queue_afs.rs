//! Penalties of admission fair sharing: charged once, taken back as they were charged.

use std::collections::BTreeMap;

use scheduler::{Ledger, LocalQueueKey, Quantities, WorkloadKey};
use serde_json::Value;

use super::File;
use crate::corpus::{Case, now, read};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[("TestPenaltyBookkeepingIsIdempotentAndExact", bookings)];

fn bookings(case: Case<'_>) -> Verdict {
    let (namespace, name) = case.common["lqKey"]
        .as_str()
        .unwrap()
        .split_once('/')
        .unwrap();
    let door = LocalQueueKey::new(namespace, name);
    let mut ledger = Ledger::default();
    for operation in read::<Vec<Value>>(&case.input["ops"]) {
        let (namespace, name) = operation["wl"].as_str().unwrap().split_once('/').unwrap();
        let workload = WorkloadKey::new(namespace, name);
        if operation["push"].is_null() {
            ledger.refund(&door, &workload);
        } else {
            ledger.charge(&door, &workload, quantities(&operation["push"]), now());
        }
    }
    let account = ledger.account(&door).cloned().unwrap_or_default();
    let wanted: BTreeMap<String, i64> = read(&case.want["wantMilli"]);
    let milli = |name: &String| {
        account
            .pending()
            .get(name.as_str())
            .map_or(0, |amount| amount.scaled_up(3))
    };
    let got: BTreeMap<String, i64> = wanted
        .keys()
        .map(|name| (name.clone(), milli(name)))
        .collect();
    Verdict::all([
        Verdict::equal(
            "has any",
            &account.has_pending(),
            &(case.want["wantHas"] == true),
        ),
        Verdict::equal("pending", &got, &wanted),
    ])
}

pub(super) fn quantities(value: &Value) -> Quantities {
    let all: BTreeMap<String, kueue_api::Quantity> = read(value);
    let one = |(name, text): (String, kueue_api::Quantity)| {
        (name.as_str().into(), text.0.parse().unwrap())
    };
    all.into_iter().map(one).collect()
}
